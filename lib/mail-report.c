#include "lib/mail-private.h"

#include <string.h>

#include "lib/address.h"
#include "lib/mail-head.h"

/* A stranger decides how long a report is; true ones have an entry for each recipient. */
#define ENTRIES_MAX 100

static void
add(GPtrArray *entries, const char *entry)
{
    if (entries->len < ENTRIES_MAX &&
        !g_ptr_array_find_with_equal_func(entries, entry, g_str_equal, NULL))
        g_ptr_array_add(entries, g_strdup(entry));
}

/* "rfc822; nora@example.org" (RFC 3464, 2.3.1 and 2.3.2) */
static void
add_recipient(MailReading *reading, const char *value)
{
    const char *semicolon = value != NULL ? strchr(value, ';') : NULL;

    if (semicolon == NULL)
        return;
    g_autofree char *written = g_strstrip(g_strdup(semicolon + 1));
    g_autofree char *normal = address_normalise(written, NULL);
    if (normal != NULL)
        add(reading->bounced, normal);
}

/* The fields of one recipient (RFC 3464, 2.3); those of the whole report have no action. */
static void
read_status(MailReading *reading, const GString *lines)
{
    g_autoptr(GPtrArray) fields = mail_fields_new();
    g_autoptr(GPtrArray) opaque = g_ptr_array_new();
    MailReading status = {.fields = fields, .opaque = opaque};

    mail_split_header(&status, lines->str, lines->len);
    const char *action = mail_field(&status, "Action");
    if (action == NULL)
        return;
    g_autofree char *word = g_strstrip(g_ascii_strdown(action, -1));
    word[strcspn(word, " \t(")] = 0;
    if (strcmp(word, "failed") != 0)
        return;
    add_recipient(reading, mail_field(&status, "Original-Recipient"));
    add_recipient(reading, mail_field(&status, "Final-Recipient"));
}

/* Groups of fields with an empty line between them. */
static void
read_statuses(MailReading *reading, const char *bytes, gsize length)
{
    g_autofree char *text = mail_decode(bytes, length, NULL);
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    g_autoptr(GString) group = g_string_new(NULL);

    for (char **line = lines; *line != NULL; line++) {
        g_strchomp(*line);
        if (**line != 0) {
            g_string_append_printf(group, "%s\r\n", *line);
            continue;
        }
        read_status(reading, group);
        g_string_truncate(group, 0);
    }
    read_status(reading, group);
}

void
mail_read_returned(MailReading *reading, const char *header, gsize length)
{
    g_autoptr(MailHead) head = mail_head_read(header, length);

    if (head != NULL && head->extract->message_id[0] != 0)
        add(reading->returned, head->extract->message_id);
}

gboolean
mail_is_report(const char *type)
{
    static const char *const types[] = {"message/delivery-status",
                                        "message/global-delivery-status",
                                        "text/rfc822-headers", "message/global-headers", NULL};

    return g_strv_contains(types, type);
}

void
mail_read_report(MailReading *reading, const char *type, const char *bytes, gsize length)
{
    if (g_str_has_suffix(type, "headers"))
        mail_read_returned(reading, bytes, length);
    else
        read_statuses(reading, bytes, length);
}
