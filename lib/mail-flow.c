#include "lib/mail-private.h"

#include <string.h>

/* The line without its quote signs and the space that stuffs it (RFC 3676, 4.4 and 4.5). */
static const char *
skip_signs(const char *line, guint *level_out)
{
    guint level = 0;

    for (; line[level] == '>'; level++)
        ;
    *level_out = level;
    return line + level + (line[level] == ' ');
}

/* "-- " above a signature is no line that goes on (RFC 3676, 4.3). */
static gboolean
goes_on(const char *content, const char *end)
{
    return end > content && end[-1] == ' ' &&
           !(end - content == 3 && memcmp(content, "-- ", 3) == 0);
}

char *
mail_join_lines(const char *text, gboolean delsp)
{
    g_autoptr(GString) joined = NULL;
    guint open = 0; /* quote level of the line that goes on, and one more; 0 when none does */

    if (strstr(text, " \n") == NULL)
        return NULL;
    joined = g_string_sized_new(strlen(text));
    for (const char *line = text; *line != 0;) {
        const char *end = line + strcspn(line, "\n");
        guint level = 0;
        const char *content = skip_signs(line, &level);
        content = MIN(content, end);
        if (open == level + 1) {
            g_string_append_len(joined, content, end - content);
        } else {
            if (open > 0)
                g_string_append_c(joined, '\n');
            g_string_append_len(joined, line, end - line);
        }
        open = goes_on(content, end) && *end != 0 ? level + 1 : 0;
        if (open > 0 && delsp)
            g_string_truncate(joined, joined->len - 1);
        else if (open == 0 && *end != 0)
            g_string_append_c(joined, '\n');
        line = end + (*end != 0);
    }
    return g_string_free(g_steal_pointer(&joined), FALSE);
}

/* How many bytes of a sign at p some reader breaks a line at, as it does at a line feed. */
static gsize
break_length(const char *p)
{
    static const char *const breaks[] = {"\v", "\f", "\xc2\x85", "\xe2\x80\xa8",
                                         "\xe2\x80\xa9"};

    for (gsize i = 0; i < G_N_ELEMENTS(breaks); i++)
        if (g_str_has_prefix(p, breaks[i]))
            return strlen(breaks[i]);
    return 0;
}

char *
mail_break_lines(const char *text)
{
    if (strpbrk(text, "\v\f") == NULL && strstr(text, "\xc2\x85") == NULL &&
        strstr(text, "\xe2\x80\xa8") == NULL && strstr(text, "\xe2\x80\xa9") == NULL)
        return NULL;
    g_autoptr(GString) broken = g_string_sized_new(strlen(text));
    for (const char *p = text; *p != 0;) {
        gsize length = break_length(p);
        g_string_append_c(broken, length > 0 ? '\n' : *p);
        p += MAX(length, 1);
    }
    return g_string_free(g_steal_pointer(&broken), FALSE);
}
