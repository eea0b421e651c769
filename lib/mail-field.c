#include "lib/mail-private.h"

#include <string.h>

/* RFC 5322 (3.6) and RFC 2045 (3) let each of them stand once. */
static const char *const single[] = {
    "From",         "Sender",
    "Reply-To",     "To",
    "Cc",           "Bcc",
    "Subject",      "Date",
    "Message-ID",   "In-Reply-To",
    "References",   "MIME-Version",
    "Content-Type", "Content-Transfer-Encoding",
};

/* Whom readers' programs write to, for an answer or without asking. Sender is one of them:
 * some send there what cannot reach From. */
static const char *const diverting[] = {
    "Reply-To",          "Sender",         "Mail-Followup-To",
    "Mail-Reply-To",     "Errors-To",      "Disposition-Notification-To",
    "Return-Receipt-To", "Mail-Copies-To", "X-Confirm-Reading-To",
};

/* Most are told from another by their first letter. */
static gboolean
is_named(const MailField *field, const char *name)
{
    return ((field->name[0] ^ name[0]) & ~0x20) == 0 &&
           g_ascii_strcasecmp(field->name, name) == 0;
}

const char *
mail_field(const MailReading *reading, const char *name)
{
    for (guint i = 0; i < reading->fields->len; i++) {
        const MailField *field = g_ptr_array_index(reading->fields, i);
        if (is_named(field, name))
            return field->value;
    }
    return NULL;
}

/* Addresses of every field with one of the names. FALSE when there may be one more, for a
 * reader that takes what we do not. */
static gboolean
collect_addresses(MailReading *reading, const char *const *names, gsize n_names,
                  char ***strv_out)
{
    MailEntries list;

    mail_entries_start(&list, reading);
    for (guint i = 0; i < reading->fields->len; i++) {
        const MailField *field = g_ptr_array_index(reading->fields, i);
        for (gsize n = 0; n < n_names; n++)
            if (is_named(field, names[n]))
                mail_entries_addresses(&list, field->value);
    }
    mail_entries_end(&list, strv_out);
    return !list.unread;
}

void
mail_read_addresses(MailReading *reading, const char *name, char ***strv_out)
{
    collect_addresses(reading, &name, 1, strv_out);
}

static void
read_message_ids(MailReading *reading)
{
    g_auto(GStrv) own = NULL;
    MailEntries list;

    mail_entries_start(&list, reading);
    const char *value = mail_field(reading, "Message-ID");
    if (value != NULL)
        mail_entries_ids(&list, value);
    mail_entries_end(&list, &own);
    if (own[0] != NULL && own[1] == NULL) {
        g_free(reading->extract->message_id);
        reading->extract->message_id = g_strdup(own[0]);
    }

    mail_entries_start(&list, reading);
    for (guint i = 0; i < reading->fields->len; i++) {
        const MailField *field = g_ptr_array_index(reading->fields, i);
        if (is_named(field, "In-Reply-To") || is_named(field, "References"))
            mail_entries_ids(&list, field->value);
    }
    mail_entries_end(&list, &reading->extract->parents);
}

static void
read_lists(MailReading *reading)
{
    MailEntries list;

    mail_entries_start(&list, reading);
    for (guint i = 0; i < reading->fields->len; i++) {
        const MailField *field = g_ptr_array_index(reading->fields, i);
        if (is_named(field, "List-Post"))
            mail_entries_list_post(&list, field->value);
        else if (is_named(field, "List-Id"))
            mail_entries_list_id(&list, field->value);
    }
    mail_entries_end(&list, &reading->extract->lists);
}

/* Words of Mail-Copies-To that ask for no copy, or for one to the author. */
static gboolean
is_copy_word(const MailField *field)
{
    static const char *const words[] = {"nobody", "never", "poster", "always", NULL};

    if (!is_named(field, "Mail-Copies-To"))
        return FALSE;
    g_autofree char *word = g_strstrip(g_ascii_strdown(field->value, -1));
    return g_strv_contains(words, word);
}

static void
read_diverted(MailReading *reading)
{
    gboolean clean = TRUE;
    MailEntries list;

    mail_entries_start(&list, reading);
    for (guint i = 0; i < reading->fields->len; i++) {
        const MailField *field = g_ptr_array_index(reading->fields, i);
        for (gsize n = 0; n < G_N_ELEMENTS(diverting); n++)
            if (is_named(field, diverting[n]) && !is_copy_word(field) &&
                !mail_entries_addresses(&list, field->value))
                clean = FALSE;
        if (is_named(field, "List-Post") && !mail_entries_list_post(&list, field->value))
            clean = FALSE;
    }
    mail_entries_end(&list, &reading->extract->diverted);
    if (!clean)
        mail_mark(reading, "an address for answers that cannot be read");
}

static void
find_doubled(MailReading *reading)
{
    MailEntries list;

    mail_entries_start(&list, reading);
    for (gsize n = 0; n < G_N_ELEMENTS(single); n++) {
        guint times = 0;
        for (guint i = 0; i < reading->fields->len; i++) {
            const MailField *field = g_ptr_array_index(reading->fields, i);
            times += is_named(field, single[n]);
        }
        if (times > 1)
            mail_entries_add(&list, g_strdup(single[n]));
    }
    mail_entries_end(&list, &reading->extract->doubled);
}

/* RFC 3834, 5; Precedence is older than any RFC, some programs have a mark of their own, and
 * nobody writes a report (RFC 6522). */
static gboolean
is_automatic(const MailField *field)
{
    static const struct {
        const char *name;
        const char *words;
        gboolean tell; /* FALSE: all but these do */
    } marks[] = {
        {"Auto-Submitted", "|no|", FALSE}, {"Precedence", "|bulk|junk|list|auto_reply|", TRUE},
        {"Return-Path", "|<>|", TRUE},     {"Content-Type", "|multipart/report|", TRUE},
        {"X-Autoreply", "|no|", FALSE},    {"X-Autorespond", "|no|", FALSE},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(marks); i++) {
        if (!is_named(field, marks[i].name))
            continue;
        g_autofree char *value = g_strstrip(g_ascii_strdown(field->value, -1));
        value[strcspn(value, " \t\r\n;(")] = 0;
        g_autofree char *word = g_strconcat("|", value, "|", NULL);
        return (strstr(marks[i].words, word) != NULL) == marks[i].tell;
    }
    return FALSE;
}

void
mail_read_origin(MailReading *reading)
{
    static const char *const from[] = {"From"};
    static const char *const to_cc[] = {"To", "Cc"};
    Extract *extract = reading->extract;

    read_message_ids(reading);
    read_lists(reading);
    if (!collect_addresses(reading, from, G_N_ELEMENTS(from), &extract->from)) {
        g_strfreev(extract->from);
        extract->from = g_new0(char *, 1); /* nobody's rather than half of it */
    }
    collect_addresses(reading, to_cc, G_N_ELEMENTS(to_cc), &extract->to_cc);
    for (guint i = 0; i < reading->fields->len; i++)
        if (is_automatic(g_ptr_array_index(reading->fields, i)))
            extract->automatic = TRUE;
}

void
mail_read_fields(MailReading *reading)
{
    find_doubled(reading);
    mail_read_origin(reading);
    read_diverted(reading);
    for (guint i = 0; i < reading->fields->len; i++) {
        const MailField *field = g_ptr_array_index(reading->fields, i);
        if (g_ascii_strncasecmp(field->name, "Resent-", 7) == 0 ||
            is_named(field, "X-Forwarded-Message-Id"))
            reading->extract->forward = TRUE;
    }
}
