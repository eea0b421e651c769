#include "lib/mail-private.h"

#include <string.h>

#include "lib/address.h"

#define ID_MAX    998           /* RFC 5322, 2.1.1: the longest line */
#define VAIN_MOST (1024 * 1024) /* bytes looked through for an end that never came */
#define FEW       16            /* entries that are compared one by one */

void
mail_entries_start(MailEntries *list, MailReading *reading)
{
    list->reading = reading;
    list->entries = NULL;
    list->seen = NULL;
    list->vain = 0;
    list->unread = FALSE;
}

static gboolean
list_has(MailEntries *list, const char *entry)
{
    char **entries = (char **)list->entries->pdata;

    if (list->seen == NULL && list->entries->len < FEW) {
        for (guint i = 0; i < list->entries->len; i++)
            if (strcmp(entries[i], entry) == 0)
                return TRUE;
        return FALSE;
    }
    if (list->seen == NULL) {
        list->seen = g_hash_table_new(g_str_hash, g_str_equal);
        for (guint i = 0; i < list->entries->len; i++)
            g_hash_table_add(list->seen, entries[i]);
    }
    return g_hash_table_contains(list->seen, entry);
}

void
mail_entries_add(MailEntries *list, char *entry)
{
    if (list->entries == NULL)
        list->entries = g_ptr_array_new();
    const gboolean full = list->entries->len >= EXTRACT_LIST_LIMIT;
    if (full)
        mail_mark_capped(list->reading, "too many addresses or ids");
    if (full || list_has(list, entry)) {
        g_free(entry);
        return;
    }
    if (list->seen != NULL)
        g_hash_table_add(list->seen, entry);
    g_ptr_array_add(list->entries, entry);
}

void
mail_entries_end(MailEntries *list, char ***strv_out)
{
    if (list->seen != NULL)
        g_hash_table_unref(list->seen);
    g_strfreev(*strv_out);
    if (list->entries == NULL) {
        *strv_out = g_new0(char *, 1);
        return;
    }
    g_ptr_array_add(list->entries, NULL);
    *strv_out = (char **)g_ptr_array_free(list->entries, FALSE);
}

/* The end of a quoted string or comment that begins at p, NULL when it never ends. A header of
 * nothing but beginnings must not take the square of its length. */
static const char *
end_of(MailEntries *list, const char *p)
{
    const char *start = p;
    gboolean comment = *p == '(';
    guint depth = 1;

    if (list->vain > VAIN_MOST)
        return NULL;
    for (p++; *p != 0; p++) {
        if (*p == '\\' && p[1] != 0)
            p++;
        else if (comment && *p == '(')
            depth++;
        else if (*p == (comment ? ')' : '"') && --depth == 0)
            return p;
    }
    list->vain += (gsize)(p - start);
    if (list->vain > VAIN_MOST)
        mail_mark_capped(list->reading, "a header too long to be read");
    return NULL;
}

/* Spaces may stand around the @ and the dots (RFC 5322, 4.4), quoted ones mean something. */
static char *
close_up(const char *bare)
{
    GString *closed = g_string_new(NULL);
    gboolean quoted = FALSE;

    for (const char *p = bare; *p != 0; p++) {
        quoted = quoted != (*p == '"');
        if (!quoted && (*p == '@' || *p == '.')) {
            while (closed->len > 0 && g_ascii_isspace(closed->str[closed->len - 1]))
                g_string_truncate(closed, closed->len - 1);
            g_string_append_c(closed, *p);
            while (g_ascii_isspace(p[1]))
                p++;
        } else {
            g_string_append_c(closed, *p);
        }
    }
    return g_string_free(closed, FALSE);
}

static void
add_address(MailEntries *list, const char *written, gsize length, gboolean *odd)
{
    while (length > 0 && g_ascii_isspace(*written)) {
        written++;
        length--;
    }
    while (length > 0 && g_ascii_isspace(written[length - 1]))
        length--;
    if (length == 0)
        return;
    g_autofree char *bare = g_strndup(written, length);
    char *normal = address_normalise(bare, NULL);
    if (normal == NULL) {
        g_autofree char *closed = close_up(bare);
        normal = address_normalise(closed, NULL);
    }
    if (normal != NULL)
        mail_entries_add(list, normal);
    else
        *odd = TRUE;
    list->unread |= normal == NULL && strchr(bare, '@') != NULL;
}

/* The address between < and >; p stands on the <. Returns where it ended. */
static const char *
read_angle(MailEntries *list, const char *p, gboolean *odd)
{
    const char *end = p + 1;

    while (*end != 0 && *end != '>') {
        const char *quote_end = *end == '"' ? end_of(list, end) : NULL;
        end = quote_end != NULL ? quote_end + 1 : end + 1;
    }
    *odd = *odd || *end == 0;
    add_address(list, p + 1, (gsize)(end - p - 1), odd);
    return *end != 0 ? end : end - 1;
}

/* What stands outside < and >: the address itself when there are none. After them nothing may
 * follow, but some readers find an address there, too. */
static void
add_rest(MailEntries *list, const GString *plain, gboolean named, gboolean *odd)
{
    if (!named || memchr(plain->str, '@', plain->len) != NULL)
        add_address(list, plain->str, plain->len, odd);
}

gboolean
mail_entries_addresses(MailEntries *list, const char *value)
{
    g_autoptr(GString) plain = g_string_new(NULL);
    gboolean odd = FALSE;
    gboolean named = FALSE; /* what is outside < and > is a name */

    for (const char *p = value; *p != 0; p++) {
        const char *end = *p == '"' || *p == '(' ? end_of(list, p) : NULL;
        if (end != NULL) {
            if (*p == '"')
                g_string_append_len(plain, p, end + 1 - p);
            p = end;
        } else if (*p == '<') {
            p = read_angle(list, p, &odd);
            named = TRUE;
            g_string_truncate(plain, 0);
        } else if (*p == ',' || *p == ';') {
            add_rest(list, plain, named, &odd);
            named = FALSE;
            g_string_truncate(plain, 0);
        } else if (*p == ':') {
            g_string_truncate(plain, 0); /* the name of a group */
        } else {
            g_string_append_c(plain, *p);
        }
    }
    add_rest(list, plain, named, &odd);
    return !odd;
}

static gboolean
is_id(const char *start, gsize length)
{
    gboolean quoted = FALSE, spaces = FALSE; /* <"n 2"@example.org> */

    if (length < 3 || length > ID_MAX || !g_utf8_validate(start, (gssize)length, NULL))
        return FALSE;
    for (gsize i = 1; i + 1 < length; i++) {
        guchar c = (guchar)start[i];
        if (c == '"')
            quoted = !quoted;
        if (c == ' ' && quoted)
            spaces = TRUE;
        else if (c <= ' ' || c == '<' || c == 0x7f)
            return FALSE;
    }
    return !spaces || !quoted;
}

void
mail_entries_ids(MailEntries *list, const char *value)
{
    g_assert(value != NULL);
    for (const char *p = value; *p != 0; p++) {
        const char *end = *p == '"' || *p == '(' ? end_of(list, p) : NULL;
        if (end != NULL) {
            p = end;
            continue;
        }
        end = *p == '<' ? memchr(p, '>', strnlen(p, ID_MAX)) : NULL;
        if (end == NULL)
            continue;
        gsize length = (gsize)(end + 1 - p);
        if (!is_id(p, length))
            continue;
        mail_entries_add(list, g_strndup(p, length));
        p = end;
    }
}

static gboolean
read_encoded(MailEntries *list, const char *text)
{
    g_autofree char *decoded = g_uri_unescape_string(text, NULL);

    return decoded != NULL && mail_entries_addresses(list, decoded);
}

/* Whom the link that begins at p is written to, if it is one to write to: many, perhaps, and
 * some in the fields after the question mark (RFC 6068). FALSE when one cannot be read. */
static gboolean
add_link(MailEntries *list, const char *p)
{
    static const char *const names[] = {"to=", "cc=", "bcc="};
    g_autofree char *link = g_strstrip(g_strndup(p, strcspn(p, ">")));

    if (g_ascii_strncasecmp(link, "mailto:", 7) != 0)
        return TRUE;
    char *query = link + strcspn(link, "?");
    g_auto(GStrv) fields = g_strsplit_set(query, "?&;", -1); /* "&amp;", too */
    *query = 0;
    gboolean clean = read_encoded(list, link + 7);
    for (guint i = 0; fields[i] != NULL; i++)
        for (gsize n = 0; n < G_N_ELEMENTS(names); n++)
            if (g_ascii_strncasecmp(fields[i], names[n], strlen(names[n])) == 0)
                clean = read_encoded(list, fields[i] + strlen(names[n])) && clean;
    return clean;
}

gboolean
mail_entries_list_post(MailEntries *list, const char *value)
{
    const char *open = strchr(value, '<');
    gboolean clean = open != NULL || add_link(list, value);

    for (; open != NULL; open = strchr(open + 1, '<'))
        clean = add_link(list, open + 1) && clean;
    return clean;
}

void
mail_entries_list_id(MailEntries *list, const char *value)
{
    const char *open = strrchr(value, '<');
    g_autofree char *id = g_strdup(open != NULL ? open + 1 : value);

    id[strcspn(id, ">")] = 0;
    g_strstrip(id);
    char *dot = strchr(id, '.');
    if (dot != NULL && strchr(id, '@') == NULL && strchr(dot + 1, '.') != NULL)
        *dot = '@';
    char *normal = address_normalise(id, NULL);
    if (normal != NULL)
        mail_entries_add(list, normal);
}
