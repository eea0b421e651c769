#include <string.h>

#include "lib/error.h"
#include "lib/imap-private.h"

char *
imap_quote(const char *text)
{
    GString *quoted = g_string_new("\"");

    for (const char *at = text; *at != '\0'; at++) {
        if (!g_ascii_isprint(*at)) {
            g_string_free(quoted, TRUE);
            return NULL;
        }
        if (*at == '"' || *at == '\\')
            g_string_append_c(quoted, '\\');
        g_string_append_c(quoted, *at);
    }
    g_string_append_c(quoted, '"');
    return g_string_free(quoted, FALSE);
}

/* Its encoding has left nothing in it that cannot be quoted. */
char *
imap_quote_folder(const char *folder)
{
    g_autofree char *wire = imap_name_encode(folder);

    return imap_quote(wire);
}

gboolean
imap_create(Imap *imap, const char *folder, GError **error)
{
    g_autofree char *name = imap_quote_folder(folder);

    return imap_command_send(imap, error, "CREATE %s", name) &&
           imap_command_finish(imap, 0, NULL, error) &&
           imap_command_send(imap, error, "SUBSCRIBE %s", name) &&
           imap_command_finish(imap, 0, NULL, error);
}

/* "E5 OK [APPENDUID 38505 3955] done" (RFC 4315, section 3). */
static void
read_place(Imap *imap, guint32 *uid_validity_out, guint32 *uid_out)
{
    ImapCursor cursor = {imap->answer->str, imap->answer->str + imap->answer->len};
    guint64 validity, uid;
    char *start = strstr(cursor.at, " OK [");

    *uid_validity_out = *uid_out = 0;
    if (start == NULL)
        return;
    cursor.at = start;
    if (imap_cursor_skip(&cursor, " OK [APPENDUID ") &&
        imap_cursor_number(&cursor, G_MAXUINT32, &validity) &&
        imap_cursor_skip(&cursor, " ") && imap_cursor_number(&cursor, G_MAXUINT32, &uid) &&
        imap_cursor_skip(&cursor, "]")) {
        *uid_validity_out = (guint32)validity;
        *uid_out = (guint32)uid;
    }
}

gboolean
imap_append(Imap *imap, const char *folder, const char *bytes, gsize length,
            guint32 *uid_validity_out, guint32 *uid_out, GError **error)
{
    g_autofree char *name = imap_quote_folder(folder);

    if (!imap_command_send(imap, error, "APPEND %s (\\Draft \\Seen) {%" G_GSIZE_FORMAT "}",
                           name, length) ||
        !imap_command_continue(imap, bytes, length, error) ||
        !imap_command_finish(imap, 0, NULL, error))
        return FALSE;
    read_place(imap, uid_validity_out, uid_out);
    return TRUE;
}

gboolean
imap_remove(Imap *imap, guint32 uid, GError **error)
{
    return imap_command_send(imap, error, "UID STORE %u +FLAGS.SILENT (\\Deleted)", uid) &&
           imap_command_finish(imap, 0, NULL, error) &&
           (!imap->uid_plus || (imap_command_send(imap, error, "UID EXPUNGE %u", uid) &&
                                imap_command_finish(imap, 0, NULL, error)));
}
