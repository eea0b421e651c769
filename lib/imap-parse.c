#include <stdio.h>
#include <string.h>

#include "lib/imap-private.h"

/* FETCH */

/* The place of a month's name among twelve; 0: it is none. */
static int
month_of(const char *name)
{
    static const char names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";

    for (int month = 0; month < 12; month++)
        if (g_ascii_strncasecmp(name, names + 3 * month, 3) == 0)
            return month + 1;
    return 0;
}

/* "17-Jul-1996 02:44:25 -0700", the day perhaps with a space before it (RFC 3501, date-time).
 * Epoch seconds; 0: not to be read. */
static gint64
parse_date(const char *bytes, gsize length)
{
    g_autofree char *text = g_strndup(bytes, length);
    char month[4], sign;
    int day, year, hour, minute, second, zone;

    /* The widths keep the numbers small. NOLINTNEXTLINE(cert-err34-c) */
    if (sscanf(text, "%2d-%3s-%4d %2d:%2d:%2d %c%4d", &day, month, &year, &hour, &minute,
               &second, &sign, &zone) != 8)
        return 0;
    g_autoptr(GTimeZone) utc = g_time_zone_new_utc();
    g_autoptr(GDateTime) local =
        g_date_time_new(utc, year, month_of(month), day, hour, minute, second);
    if (local == NULL || zone < 0)
        return 0;
    gint64 ahead = zone / 100 * 3600 + zone % 100 * 60;
    return g_date_time_to_unix(local) - (sign == '-' ? -ahead : ahead);
}

static gboolean
read_flags(ImapCursor *cursor, ImapMessage *message)
{
    char *flag;
    gsize length;

    if (!imap_cursor_skip(cursor, "("))
        return FALSE;
    while (!imap_cursor_skip(cursor, ")")) {
        if (!imap_cursor_string(cursor, &flag, &length))
            return FALSE;
        g_autofree char *name = g_ascii_strdown(flag, (gssize)length);
        message->draft |= g_str_equal(name, "\\draft");
        message->deleted |= g_str_equal(name, "\\deleted");
        imap_cursor_skip(cursor, " ");
    }
    return TRUE;
}

/* The name of a body's part: up to the bracket that closes it, and <0> behind. */
static gboolean
skip_section(ImapCursor *cursor)
{
    char *close = memchr(cursor->at, ']', (gsize)(cursor->end - cursor->at));
    guint64 first;

    if (close == NULL)
        return FALSE;
    cursor->at = close + 1;
    if (imap_cursor_skip(cursor, "<"))
        return imap_cursor_number(cursor, 0, &first) && imap_cursor_skip(cursor, "> ");
    return imap_cursor_skip(cursor, " ");
}

/* One name and its value. */
static gboolean
read_item(ImapCursor *cursor, ImapMessage *message)
{
    char *name;
    gsize length;
    guint64 uid;

    if (imap_cursor_skip(cursor, "UID ")) {
        if (!imap_cursor_number(cursor, G_MAXUINT32, &uid))
            return FALSE;
        message->uid = (guint32)uid;
        return TRUE;
    }
    if (imap_cursor_skip(cursor, "RFC822.SIZE "))
        return imap_cursor_number(cursor, G_MAXUINT64, &message->size);
    if (imap_cursor_skip(cursor, "FLAGS "))
        return read_flags(cursor, message);
    if (imap_cursor_skip(cursor, "INTERNALDATE ")) {
        if (!imap_cursor_string(cursor, &name, &length))
            return FALSE;
        message->arrived = parse_date(name, length);
        return TRUE;
    }
    /* NIL: Dovecot's answer for a message that was removed meanwhile. */
    if (imap_cursor_skip(cursor, "BODY["))
        return skip_section(cursor) &&
               (imap_cursor_skip(cursor, "NIL") ||
                imap_cursor_string(cursor, &message->head, &message->head_length));
    return imap_cursor_string(cursor, &name, &length) && imap_cursor_skip(cursor, " ") &&
           imap_cursor_value(cursor);
}

gboolean
imap_fetch_parse(ImapCursor cursor, ImapMessage *message_out)
{
    ImapMessage message = {0};

    if (!imap_cursor_skip(&cursor, "("))
        return FALSE;
    do {
        if (!read_item(&cursor, &message))
            return FALSE;
    } while (imap_cursor_skip(&cursor, " "));
    if (!imap_cursor_skip(&cursor, ")") || cursor.at != cursor.end)
        return FALSE;
    *message_out = message;
    return TRUE;
}

/* LIST */

static const struct {
    const char *attribute;
    ImapRole role;
} roles[] = {
    {"\\All", IMAP_ROLE_ALL},       {"\\Archive", IMAP_ROLE_ARCHIVE},
    {"\\Drafts", IMAP_ROLE_DRAFTS}, {"\\Flagged", IMAP_ROLE_FLAGGED},
    {"\\Junk", IMAP_ROLE_JUNK},     {"\\Sent", IMAP_ROLE_SENT},
    {"\\Trash", IMAP_ROLE_TRASH},
};

static void
take_attribute(ImapFolder *folder, const char *bytes, gsize length)
{
    g_autofree char *attribute = g_strndup(bytes, length);

    for (gsize i = 0; i < G_N_ELEMENTS(roles); i++)
        if (g_ascii_strcasecmp(attribute, roles[i].attribute) == 0)
            folder->role = roles[i].role;
    if (g_ascii_strcasecmp(attribute, "\\Noselect") == 0 ||
        g_ascii_strcasecmp(attribute, "\\NonExistent") == 0)
        folder->readable = FALSE;
}

ImapFolder *
imap_folder_parse(ImapCursor cursor)
{
    g_autoptr(ImapFolder) folder = g_new0(ImapFolder, 1);
    char *bytes;
    gsize length;

    folder->readable = TRUE;
    if (!imap_cursor_skip(&cursor, "("))
        return NULL;
    while (!imap_cursor_skip(&cursor, ")")) {
        if (!imap_cursor_string(&cursor, &bytes, &length))
            return NULL;
        take_attribute(folder, bytes, length);
        imap_cursor_skip(&cursor, " ");
    }
    /* What divides levels, then the name; extended data may follow (RFC 5258). */
    if (!imap_cursor_skip(&cursor, " ") || !imap_cursor_string(&cursor, &bytes, &length) ||
        !imap_cursor_skip(&cursor, " ") || !imap_cursor_string(&cursor, &bytes, &length) ||
        memchr(bytes, '\0', length) != NULL)
        return NULL;
    g_autofree char *wire = g_strndup(bytes, length);
    folder->name = imap_name_decode(wire);
    return folder->name != NULL ? g_steal_pointer(&folder) : NULL;
}

void
imap_folder_free(ImapFolder *folder)
{
    if (folder == NULL)
        return;
    g_free(folder->name);
    g_free(folder);
}
