#include <string.h>
#include <unistd.h>

#include "cli/import.h"
#include "lib/mail.h"

/* Addresses in older texts count no more, so those texts need not be read. */
#define TEXT_SECONDS (90 * 24 * 60 * 60)

static const struct {
    const char *key, *text;
} SKIPS[SKIP_COUNT] = {
    [SKIP_NOT] = {"", ""},
    [SKIP_BROKEN] = {"broken", "cannot be read"},
    [SKIP_DRAFT] = {"draft", "drafts, and mail not sent yet"},
    [SKIP_DELETED] = {"deleted", "marked as deleted"},
    [SKIP_AUTOMATIC] = {"automatic", "automatic answers of the human's address"},
    [SKIP_EARLIER] = {"earlier", "before --since"},
    [SKIP_SENDER] = {"sender", "in a folder of sent mail, from no address of the account"},
    [SKIP_ALONE] = {"alone", "sent to nobody"},
    [SKIP_UNWANTED] = {"unwanted", "to nobody that --min-times or --only-replied leave"},
};

const char *
skip_text(Skip skip)
{
    return SKIPS[skip].text;
}

const char *
skip_key(Skip skip)
{
    return SKIPS[skip].key;
}

static FolderRole
role_of(const ImportRules *rules, FolderRole role, const MailboxMessage *message,
        const MailHead *head)
{
    if (message->labelled || rules->labels_tell)
        return folder_role_of_labels(head->labels, rules->sent_labels);
    return rules->forced ? rules->role : role;
}

static gboolean
is_from_human(const ImportRules *rules, const Extract *extract)
{
    return extract->from[0] != NULL && extract->from[1] == NULL &&
           g_strv_contains((const char *const *)rules->addresses, extract->from[0]);
}

static void
add_each(GPtrArray *all, char *const *addresses)
{
    for (; addresses != NULL && *addresses != NULL; addresses++)
        if (!g_ptr_array_find_with_equal_func(all, *addresses, g_str_equal, NULL))
            g_ptr_array_add(all, *addresses);
}

/* The same message gets the same id whatever its line ends. */
static char *
make_id(const MailboxMessage *message)
{
    g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
    const char *end = message->head + message->head_length;

    for (const char *line = message->head; line < end;) {
        const char *feed = memchr(line, '\n', (gsize)(end - line));
        const char *stop = feed != NULL ? feed : end;
        gssize length = stop - line;
        if (length > 0 && line[length - 1] == '\r')
            length--;
        g_checksum_update(sum, (const guchar *)line, length);
        g_checksum_update(sum, (const guchar *)"\n", 1);
        line = stop + 1;
    }
    return g_strdup_printf("<%s@import.invalid>", g_checksum_get_string(sum));
}

static void
make_lesson(ImportMessage *read, const MailboxMessage *message, gboolean sent)
{
    static const char *none[] = {NULL};
    const Extract *extract = read->head->extract;

    read->recipients = g_ptr_array_new();
    read->correspondents = g_ptr_array_new();
    if (sent) {
        add_each(read->recipients, extract->to_cc);
        add_each(read->recipients, read->head->bcc);
    } else {
        add_each(read->correspondents, extract->from);
        add_each(read->correspondents, extract->to_cc);
    }
    g_ptr_array_add(read->recipients, NULL);
    g_ptr_array_add(read->correspondents, NULL);
    if (sent && *extract->message_id == '\0')
        read->made_id = make_id(message);
    read->lesson = (Lesson){
        .sent = sent,
        .automatic = !sent && (extract->automatic || extract->lists[0] != NULL),
        .message_id = read->made_id != NULL ? read->made_id : extract->message_id,
        .sender = extract->from[0] != NULL ? extract->from[0] : "",
        .parents = (const char **)extract->parents,
        .recipients = (const char **)read->recipients->pdata,
        .correspondents = (const char **)read->correspondents->pdata,
        .mentioned = none,
        .lists = sent ? none : (const char **)extract->lists,
    };
}

/* The human's own clock tells when he wrote; when something came in is the mailbox's word,
 * because its Date is the sender's. */
static gint64
time_of(const ImportRules *rules, const MailboxMessage *message, const MailHead *head,
        gboolean sent)
{
    gint64 first = sent ? head->date : message->arrived;
    gint64 second = sent ? message->arrived : head->date;
    gint64 when = first > 0 ? first : second;

    return when > 0 ? MIN(when, rules->now) : rules->now;
}

static Skip
broken(const char *why, char **why_out)
{
    *why_out = g_strdup(why);
    return SKIP_BROKEN;
}

static Skip
read_text(ImportMessage *read, Mailbox *mailbox, char **why_out)
{
    g_autoptr(GError) error = NULL;
    int fd = mailbox_whole(mailbox, &error);

    if (fd >= 0) {
        read->whole = mail_extract(fd, &error);
        close(fd);
    }
    if (read->whole == NULL)
        return broken(error->message, why_out);
    read->lesson.mentioned = (const char **)read->whole->mentioned;
    return SKIP_NOT;
}

Skip
import_message_read(const ImportRules *rules, Mailbox *mailbox, FolderRole folder,
                    const MailboxMessage *message, ImportMessage *read_out, char **why_out)
{
    if (message->problem != NULL)
        return broken(message->problem, why_out);
    if (message->draft || message->deleted)
        return message->draft ? SKIP_DRAFT : SKIP_DELETED;
    MailHead *head = read_out->head = mail_head_read(message->head, message->head_length);
    if (head == NULL)
        return broken("it has no header", why_out);

    FolderRole role = role_of(rules, folder, message, head);
    gboolean sent = role == FOLDER_SENT;
    if (role == FOLDER_DRAFTS)
        return SKIP_DRAFT;
    if (sent && !is_from_human(rules, head->extract))
        return SKIP_SENDER;
    if (sent && head->extract->automatic)
        return SKIP_AUTOMATIC;
    if (sent && head->removed) /* of received mail a stranger could have written it */
        return SKIP_DELETED;
    make_lesson(read_out, message, sent);
    read_out->lesson.when = time_of(rules, message, head, sent);
    if (read_out->lesson.when < rules->since)
        return SKIP_EARLIER;
    if (sent)
        return read_out->lesson.recipients[0] != NULL ? SKIP_NOT : SKIP_ALONE;
    return !rules->heads && read_out->lesson.when > rules->now - TEXT_SECONDS
               ? read_text(read_out, mailbox, why_out)
               : SKIP_NOT;
}

void
import_message_clear(ImportMessage *message)
{
    mail_head_free(message->head);
    g_clear_pointer(&message->whole, extract_free);
    g_free(message->made_id);
    g_clear_pointer(&message->recipients, g_ptr_array_unref);
    g_clear_pointer(&message->correspondents, g_ptr_array_unref);
}
