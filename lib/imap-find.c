#include <string.h>

#include "lib/error.h"
#include "lib/imap-private.h"

/* UIDs in one command; more than anybody finds who looks for an id. */
enum { AT_ONCE = 100, FOUND_MOST = 1000, FIELDS_MAX = 64 * 1024 };

typedef struct {
    const char *field, *value;
    gint64 since;
    GArray *found;
} Wanted;

/* The header */

/* The end of the field that begins at start: behind the line feed that nothing continues. */
static const char *
end_of_field(const char *start, const char *end)
{
    const char *at = start;

    while (at < end) {
        const char *feed = memchr(at, '\n', (gsize)(end - at));
        if (feed == NULL)
            return end;
        at = feed + 1;
        if (at == end || (*at != ' ' && *at != '\t'))
            return at;
    }
    return end;
}

/* Without the white space around it and with no folds in it. */
static char *
plain_value(const char *start, const char *end)
{
    GString *plain = g_string_new_len(start, end - start);

    g_string_replace(plain, "\r", "", 0);
    g_string_replace(plain, "\n", "", 0);
    return g_strstrip(g_string_free(plain, FALSE));
}

gboolean
imap_head_has(const char *head, gsize length, const char *field, const char *value)
{
    const char *end = head + length;
    gsize name = strlen(field);

    for (const char *at = head; at < end;) {
        const char *next = end_of_field(at, end);
        if ((gsize)(next - at) > name && at[name] == ':' &&
            g_ascii_strncasecmp(at, field, name) == 0) {
            g_autofree char *found = plain_value(at + name + 1, next);
            if (g_str_equal(found, value))
                return TRUE;
        }
        at = next;
    }
    return FALSE;
}

/* UIDs */

static char *
join_uids(const GArray *uids, guint from)
{
    GString *joined = g_string_new(NULL);

    for (guint i = from; i < MIN(from + AT_ONCE, uids->len); i++)
        g_string_append_printf(joined, "%s%u", i > from ? "," : "",
                               g_array_index(uids, guint32, i));
    return g_string_free(joined, FALSE);
}

static gboolean
take_uids(Imap *imap, ImapAnswer kind, guint32 number, ImapCursor rest, GError **error)
{
    guint64 uid;

    (void)number;
    if (kind != ANSWER_SEARCH)
        return TRUE;
    while (imap_cursor_skip(&rest, " ") && imap_cursor_number(&rest, G_MAXUINT32, &uid)) {
        guint32 found = (guint32)uid;
        if (imap->found->len < FOUND_MOST)
            g_array_append_val(imap->found, found);
    }
    return rest.at == rest.end || imap_command_fail(imap, error);
}

static void
take_match(Imap *imap, guint32 number, const ImapMessage *message)
{
    Wanted *wanted = imap->wanted;

    (void)number;
    if (message->head != NULL && message->uid != 0 && !message->deleted &&
        (message->arrived == 0 || message->arrived >= wanted->since) &&
        imap_head_has(message->head, message->head_length, wanted->field, wanted->value))
        g_array_append_val(wanted->found, message->uid);
}

static gboolean
look_at(Imap *imap, const GArray *uids, Wanted *wanted, GError **error)
{
    imap->wanted = wanted;
    for (guint i = 0; i < uids->len; i += AT_ONCE) {
        g_autofree char *set = join_uids(uids, i);
        if (!imap_command_send(
                imap, error,
                "UID FETCH %s (UID FLAGS INTERNALDATE BODY.PEEK[HEADER.FIELDS (%s)])", set,
                wanted->field) ||
            !imap_command_fetched(imap, FIELDS_MAX, take_match, error))
            return FALSE;
    }
    return TRUE;
}

static gint
newest_first(gconstpointer a, gconstpointer b)
{
    guint32 first = *(const guint32 *)a, second = *(const guint32 *)b;

    return (second > first) - (second < first);
}

GArray *
imap_find(Imap *imap, const char *field, const char *value, gint64 since, GError **error)
{
    g_autoptr(GArray) uids = g_array_new(FALSE, FALSE, sizeof(guint32));
    g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(guint32));
    g_autofree char *quoted = imap_quote(value);
    Wanted wanted = {field, value, since, found};

    if (quoted != NULL && *value != '\0') {
        imap->found = uids;
        gboolean searched =
            imap_command_send(imap, error, "UID SEARCH HEADER %s %s", field, quoted) &&
            imap_command_finish(imap, 0, take_uids, error);
        imap->found = NULL;
        if (!searched || !look_at(imap, uids, &wanted, error))
            return NULL;
    }
    g_array_sort(found, newest_first);
    return g_steal_pointer(&found);
}

static void
take_flags(Imap *imap, guint32 number, const ImapMessage *message)
{
    (void)number;
    if (message->uid != 0 && !message->deleted)
        g_array_append_val(imap->found, message->uid);
}

GArray *
imap_present(Imap *imap, const GArray *uids, GError **error)
{
    g_autoptr(GArray) present = g_array_new(FALSE, FALSE, sizeof(guint32));

    imap->found = present;
    for (guint i = 0; i < uids->len; i += AT_ONCE) {
        g_autofree char *set = join_uids(uids, i);
        if (!imap_command_send(imap, error, "UID FETCH %s (UID FLAGS)", set) ||
            !imap_command_fetched(imap, 0, take_flags, error)) {
            imap->found = NULL;
            return NULL;
        }
    }
    imap->found = NULL;
    return g_steal_pointer(&present);
}
