#include "lib/mail-private.h"

#include <string.h>

#define COMMAND_MAX 60 /* bytes of a command's name (RFC 1896, 4) */
#define FEEDS_MAX   2  /* lines left empty in a row */

/* The end of the command that begins at p, a "<"; NULL when it is none. */
static const char *
skip_command(const char *p)
{
    const char *end = p + 1 + (p[1] == '/');

    while (g_ascii_isalnum(*end) || *end == '-')
        end++;
    return *end == '>' && end - p <= COMMAND_MAX + 2 ? end + 1 : NULL;
}

/* Commands that stand for a letter or a line (RFC 1341, 7.1.3). */
static const char *
read_command(const char *p)
{
    static const struct {
        const char *command;
        const char *text;
    } rows[] = {
        {"<lt>", "<"}, {"<nl>", "\n"}, {"<np>", "\n"}, {"</paragraph>", "\n"}, {"<br>", "\n"}};

    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++)
        if (g_ascii_strncasecmp(p, rows[i].command, strlen(rows[i].command)) == 0)
            return rows[i].text;
    return "";
}

char *
mail_render_enriched(const char *text)
{
    g_autoptr(GString) out = g_string_sized_new(strlen(text));

    for (const char *p = text; *p != 0;) {
        gsize feeds = strspn(p, "\n");
        const char *end = *p == '<' ? skip_command(p) : NULL;
        if (feeds > 0) { /* one is a space (RFC 1896, 5) */
            g_string_append_len(out, "\n\n", (gssize)MIN(feeds - 1, FEEDS_MAX));
            if (feeds == 1)
                g_string_append_c(out, ' ');
            p += feeds;
        } else if (end != NULL) {
            g_string_append(out, read_command(p));
            p = end;
        } else {
            g_string_append_c(out, *p);
            p += p[0] == '<' && p[1] == '<' ? 2 : 1;
        }
    }
    return g_string_free(g_steal_pointer(&out), FALSE);
}

typedef struct {
    GString *out;
    guint skip; /* letters to come that repeat, for old readers, what \u said */
} Rtf;

static void
put(Rtf *rtf, gunichar c)
{
    if (rtf->skip > 0)
        rtf->skip--;
    else
        g_string_append_unichar(rtf->out, c);
}

/* Reads the control word at p, behind the backslash: "par", "u8364". Returns where the text
 * goes on. */
static const char *
read_word(Rtf *rtf, const char *p)
{
    static const char *const lines[] = {"par", "line", "row", "sect", "page", NULL};
    const char *end = p;

    while (g_ascii_isalpha(*end))
        end++;
    g_autofree char *word = g_strndup(p, (gsize)(end - p));
    gboolean number = g_ascii_isdigit(*end) || (*end == '-' && g_ascii_isdigit(end[1]));
    gint64 value = number ? g_ascii_strtoll(end, (char **)&end, 10) : 0;
    if (g_strv_contains(lines, word))
        g_string_append_c(rtf->out, '\n');
    else if (strcmp(word, "tab") == 0 || strcmp(word, "cell") == 0)
        g_string_append_c(rtf->out, ' ');
    else if (strcmp(word, "u") == 0 && number) {
        gunichar c = (gunichar)(value < 0 ? value + 65536 : value);
        rtf->skip = 0;
        put(rtf, c != 0 && value < 0x110000 && g_unichar_validate(c) ? c : 0xfffd);
        rtf->skip = 1;
    }
    return end + (*end == ' ');
}

/* Reads what follows a backslash. */
static const char *
read_control(Rtf *rtf, const char *p)
{
    if (g_ascii_isalpha(*p))
        return read_word(rtf, p);
    if (*p == '\'' && g_ascii_isxdigit(p[1]) && g_ascii_isxdigit(p[2])) {
        char byte = (char)(g_ascii_xdigit_value(p[1]) * 16 + g_ascii_xdigit_value(p[2]));
        g_autofree char *decoded = mail_decode(&byte, 1, "WINDOWS-1252");
        put(rtf, g_utf8_get_char(decoded));
        return p + 3;
    }
    if (*p == 0)
        return p;
    if (*p == '\n')
        g_string_append_c(rtf->out, '\n');
    else if (*p == '~' || *p == '_')
        put(rtf, *p == '~' ? ' ' : '-');
    else if (strchr("\\{}", *p) != NULL)
        put(rtf, (guchar)*p);
    return g_utf8_next_char(p);
}

char *
mail_render_rtf(const char *text)
{
    g_autoptr(GString) out = g_string_sized_new(strlen(text));
    Rtf rtf = {.out = out};

    for (const char *p = text; *p != 0;) {
        if (*p == '\\') {
            p = read_control(&rtf, p + 1);
            continue;
        }
        if (strchr("{}\n", *p) == NULL)
            put(&rtf, g_utf8_get_char(p));
        else if (*p != '\n')
            rtf.skip = 0;
        p = g_utf8_next_char(p);
    }
    return g_string_free(g_steal_pointer(&out), FALSE);
}
