#include <string.h>

#include "lib/address.h"

#define LOCAL_MAX 128 /* a longer run of letters before an @ is no mailbox */

typedef struct {
    GPtrArray *addresses;
    GHashTable *seen;
    guint limit;
    gboolean spelled; /* the text was rewritten, and a sentence may look like an address */
} Scan;

/* A sentence has no host name of two labels with letters at its end; "at noon" has none. */
static gboolean
is_plausible(const char *domain)
{
    const char *dot = strrchr(domain, '.');

    if (dot == NULL || dot == domain)
        return FALSE;
    if (g_ascii_strncasecmp(dot + 1, "xn--", 4) == 0)
        return TRUE;
    const char *end = dot + 1;
    while (g_ascii_isalpha(*end) || (*end & 0x80) != 0)
        end++;
    return *end == '\0' && end - dot > 2;
}

static void
add(Scan *scan, const char *local, const char *domain)
{
    if (scan->addresses->len >= scan->limit || (scan->spelled && !is_plausible(domain)))
        return;

    g_autofree char *written = g_strconcat(local, "@", domain, NULL);
    g_autofree char *normal = address_normalise(written, NULL);
    if (normal == NULL || g_hash_table_contains(scan->seen, normal))
        return;
    g_hash_table_add(scan->seen, normal);
    g_ptr_array_add(scan->addresses, g_steal_pointer(&normal));
}

static gboolean
is_latin(const char *letter)
{
    GUnicodeScript script = g_unichar_get_script(g_utf8_get_char(letter));

    return script == G_UNICODE_SCRIPT_LATIN || script == G_UNICODE_SCRIPT_INHERITED;
}

/* The readings of what stands before an @: a sentence, a bullet, "mail=" or letters of a
 * script without spaces may touch the address, and only the reader knows where it begins. */
static void
add_locals(Scan *scan, const char *local, const char *domain)
{
    const char *end = local + strlen(local);
    const char *plain = end;
    const char *ascii = end;

    while (plain > local && (address_is_atom(plain[-1]) || plain[-1] == '.') &&
           !strchr("!#$%&'*/=?^`{|}~", plain[-1]))
        plain--;
    while (ascii > plain && (ascii[-1] & 0x80) == 0)
        ascii--;
    if (ascii > plain && is_latin(g_utf8_prev_char(ascii)))
        ascii = plain; /* its words have spaces between */
    while (*local == '.')
        local++;
    add(scan, local, domain);
    if (plain > local)
        add(scan, plain, domain);
    ascii += strspn(ascii, ".-_+");
    if (ascii > local && ascii != plain)
        add(scan, ascii, domain);
}

static gboolean
is_local(char c)
{
    return address_is_atom(c) || c == '.';
}

static gboolean
is_domain(char c)
{
    return g_ascii_isalnum(c) || (c & 0x80) != 0 || (c != 0 && strchr(".-_", c) != NULL);
}

/* Whom the letters from start to at, and from behind at to end, name. */
static void
add_between(Scan *scan, const char *start, const char *at, const char *end)
{
    while (start < at && ((guchar)*start & 0xc0) == 0x80)
        start++; /* never begins inside a character */
    while (end > at + 1 && strchr(".-_", end[-1]))
        end--;
    if (start == at || end == at + 1)
        return;

    g_autofree char *local = g_strndup(start, at - start);
    g_autofree char *domain = g_strndup(at + 1, end - at - 1);
    add_locals(scan, local, domain);
    char *foreign = domain;
    while (*foreign != 0 && (*foreign & 0x80) == 0)
        foreign++;
    if (*foreign != 0 && foreign > domain) {
        *foreign = 0;
        add_locals(scan, local, domain);
    }
}

/* Where the next line begins if this one ends at p, behind its quotation marks; else NULL. A
 * soft break may have blanks behind it, which not every decoder takes (RFC 2045, 6.7). */
static const char *
next_line(const char *p)
{
    if (*p == '=')
        p += 1 + strspn(p + 1, " \t");
    p += *p == '\r';
    return *p == '\n' ? p + 1 + strspn(p + 1, "> \t") : NULL;
}

/* A domain that is none yet where the line ends. */
static gboolean
may_go_on(const char *domain, const char *end)
{
    g_autofree char *written = g_strndup(domain, end - domain);

    return end == domain || end[-1] == '.' || !is_plausible(written);
}

/* An address whose domain goes on in the next line; what it would be there is no sentence. */
static void
look_on(Scan *scan, const char *start, const char *at, const char *end)
{
    const char *rest = may_go_on(at + 1, end) ? next_line(end) : NULL;
    const char *stop = rest;
    gboolean spelled = scan->spelled;

    while (stop != NULL && stop - rest <= ADDRESS_DOMAIN_MAX && is_domain(*stop))
        stop++;
    if (stop == rest)
        return;
    g_autofree char *joined =
        g_strdup_printf("%.*s%.*s", (int)(end - start), start, (int)(stop - rest), rest);
    scan->spelled = TRUE;
    add_between(scan, joined, joined + (at - start), joined + strlen(joined));
    scan->spelled = spelled;
}

/* at points to an @ in text. */
static void
look_at(Scan *scan, const char *text, const char *at)
{
    const char *start = at;
    const char *end = at + 1;

    if (at > text && at[-1] == '"') /* "nora"@example.org */
        for (start = at - 1; start > text && at - start < LOCAL_MAX && start[-1] != '"';)
            start--;
    if (start < at)
        start -= start > text;
    else
        while (start > text && at - start < LOCAL_MAX && is_local(start[-1]))
            start--;
    while (end - at <= ADDRESS_DOMAIN_MAX * 4 && is_domain(*end))
        end++;
    add_between(scan, start, at, end);
    look_on(scan, start, at, end);
}

static void
look_through(Scan *scan, const char *text)
{
    const char *at = strchr(text, '@');

    for (; at != NULL && scan->addresses->len < scan->limit; at = strchr(at + 1, '@'))
        look_at(scan, text, at);
}

/* The text with %40 and the like decoded, as in mailto:nora%40example.org. */
static char *
decode_percent(const char *text)
{
    g_autoptr(GString) decoded = g_string_sized_new(strlen(text));

    for (const char *p = text; *p != 0; p++) {
        int high = *p == '%' ? g_ascii_xdigit_value(p[1]) : -1;
        int low = high >= 0 ? g_ascii_xdigit_value(p[2]) : -1;
        char byte = low >= 0 ? (char)(high * 16 + low) : *p;
        g_string_append_c(decoded, byte != 0 ? byte : ' ');
        p += low >= 0 ? 2 : 0;
    }
    return g_utf8_make_valid(decoded->str, (gssize)decoded->len);
}

/* A bracket, quote, dash or space of any kind as the plain one; 0 for other letters. */
static char
plain_sign(gunichar c)
{
    switch (g_unichar_type(c)) {
    case G_UNICODE_SPACE_SEPARATOR:
        return ' ';
    case G_UNICODE_OPEN_PUNCTUATION:
        return '(';
    case G_UNICODE_CLOSE_PUNCTUATION:
        return ')';
    case G_UNICODE_INITIAL_PUNCTUATION:
    case G_UNICODE_FINAL_PUNCTUATION:
        return '"';
    case G_UNICODE_DASH_PUNCTUATION:
        return '-';
    default:
        return 0;
    }
}

/* The text without characters that nobody sees, and with plain spaces and brackets; NULL when
 * it has neither. */
static char *
drop_invisible(const char *text)
{
    g_autoptr(GString) seen = NULL;
    const char *copied = text;

    for (const char *p = text; *p != 0; p = g_utf8_next_char(p)) {
        gunichar c = (*p & 0x80) != 0 ? g_utf8_get_char(p) : 0;
        char plain = c != 0 ? plain_sign(c) : 0;

        if (plain == 0 && (c == 0 || g_unichar_type(c) != G_UNICODE_FORMAT))
            continue;
        if (seen == NULL)
            seen = g_string_sized_new(strlen(text));
        g_string_append_len(seen, copied, p - copied);
        if (plain != 0)
            g_string_append_c(seen, plain);
        copied = g_utf8_next_char(p);
    }
    if (seen == NULL)
        return NULL;
    g_string_append(seen, copied);
    return g_string_free(g_steal_pointer(&seen), FALSE);
}

void
address_scan(const char *text, GPtrArray *addresses, guint limit)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    Scan scan = {.addresses = addresses, .seen = seen, .limit = limit};

    for (guint i = 0; i < addresses->len; i++)
        g_hash_table_add(seen, g_ptr_array_index(addresses, i));
    look_through(&scan, text);
    if (strchr(text, '%') != NULL) {
        g_autofree char *decoded = decode_percent(text);
        g_autofree char *twice = decode_percent(decoded); /* a link within a link */
        look_through(&scan, decoded);
        look_through(&scan, twice);
    }
    g_autofree char *visible = drop_invisible(text);
    if (visible != NULL)
        look_through(&scan, visible);
    g_autofree char *respelled = address_respell(visible != NULL ? visible : text);
    scan.spelled = TRUE;
    if (respelled != NULL)
        look_through(&scan, respelled);
}
