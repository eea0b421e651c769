#include "milter/decision.h"

#include "lib/address.h"
#include "lib/mail.h"
#include "milter/turn.h"

static gboolean
contains(char *const *addresses, const char *written)
{
    g_autofree char *normal = address_normalise(written, NULL);

    return normal != NULL && g_strv_contains((const char *const *)addresses, normal);
}

gboolean
decision_is_for_account(const Config *config, const Envelope *envelope)
{
    for (guint i = 0; i < envelope->recipients->len; i++) {
        const EnvelopeRecipient *recipient = g_ptr_array_index(envelope->recipients, i);
        g_autofree char *normal = address_normalise(recipient->address, NULL);

        if (normal != NULL && config_address(config, normal) != NULL)
            return TRUE;
    }
    return FALSE;
}

/* Whether a message is in the name of an account, by its envelope sender or its From. */
static gboolean
is_in_account_name(const Config *config, const Envelope *envelope, const Extract *extract)
{
    g_autofree char *sender = address_normalise(envelope->sender, NULL);

    if (sender != NULL && config_address(config, sender) != NULL)
        return TRUE;
    for (guint i = 0; extract->from[i] != NULL; i++)
        if (config_address(config, extract->from[i]) != NULL)
            return TRUE;
    return FALSE;
}

/* Whether somebody is to get it who has nothing to do with that account. */
static gboolean
goes_beyond(const Config *config, const Account *account, const Envelope *envelope)
{
    for (guint i = 0; i < envelope->recipients->len; i++) {
        const EnvelopeRecipient *recipient = g_ptr_array_index(envelope->recipients, i);
        g_autofree char *normal = address_normalise(recipient->address, NULL);

        if (normal == NULL || config_address(config, normal) != account)
            return TRUE;
    }
    return FALSE;
}

/* Whether a message has been in an account's mailbox and is passed on from there, as a rule
 * for incoming mail does, which keeps the sender (XA10). A list is no mailbox: what it was
 * given it hands on to its readers. */
static gboolean
leaves_mailbox(const Config *config, const Message *message)
{
    for (guint i = 0; i < message->mailboxes->len; i++) {
        g_autofree char *normal =
            address_normalise(g_ptr_array_index(message->mailboxes, i), NULL);
        const Account *account = normal != NULL ? config_address(config, normal) : NULL;

        if (account != NULL && !contains(account->lists, normal) &&
            goes_beyond(config, account, message->envelope))
            return TRUE;
    }
    return FALSE;
}

/* Whether a rule of an account turns a message down, with words of its own: the report names
 * the account's address, and its sender is the mail server (RFC 5429, XA10). */
static gboolean
turns_down(const Config *config, const Message *message, const Extract *extract)
{
    gboolean report = FALSE;

    for (guint i = 0; i < extract->parts->len && !report; i++) {
        const ExtractPart *part = g_ptr_array_index(extract->parts, i);
        report = g_str_equal(part->type, "message/disposition-notification");
    }
    for (guint i = 0; report && extract->mentioned[i] != NULL; i++) {
        const Account *account = config_address(config, extract->mentioned[i]);
        if (account != NULL && goes_beyond(config, account, message->envelope))
            return TRUE;
    }
    return FALSE;
}

/* Whether a From may stand where the header was not read any more. */
static gboolean
hides_from(const Message *message, const Extract *extract)
{
    return extract->capped && (message->froms > 1 || extract->from[0] == NULL);
}

/* A human's mail to the address that takes the order to stop: who is told that it was taken
 * must be able to rely on it (A2). */
static gboolean
is_order(const Config *config, const Message *message)
{
    Role role = ROLE_NONE;
    const Account *account = config_login(config, message->login, &role);
    GPtrArray *recipients = message->envelope->recipients;

    for (guint i = 0; account != NULL && i < recipients->len; i++) {
        const EnvelopeRecipient *recipient = g_ptr_array_index(recipients, i);

        if (contains(account->stop_addresses, recipient->address))
            return TRUE;
    }
    return FALSE;
}

static Answer *
answer_new(AnswerAction action, const char *text)
{
    Answer *answer = g_new0(Answer, 1);

    answer->action = action;
    answer->item = g_strdup("");
    answer->status = g_strdup(ANSWER_STATUS);
    answer->text = g_strdup(text);
    return answer;
}

static Answer *
submit(const Circumstances *circumstances, Message *message, int fd, GError **error)
{
    if (!envelope_is_clean(message->envelope))
        return answer_new(ANSWER_REFUSE, "a control character in the envelope");
    g_autoptr(Extract) extract = mail_extract_submission(fd, error);

    if (extract == NULL)
        return NULL;
    Submission submission = {
        .login = message->login,
        .queue_id = circumstances->queue_id,
        .key = message_key(message),
        .envelope = message->envelope,
        .extract = extract,
        .claims = message->claims,
        .fd = fd,
    };
    return gate_submit(circumstances->gate, &submission, error);
}

static Answer *
observe(const Circumstances *circumstances, const Message *message, const Extract *extract,
        GError **error)
{
    if (!gate_observe(circumstances->gate, message->login, message->item, message->envelope,
                      extract, error))
        return NULL;
    return answer_new(ANSWER_PASS, "");
}

/* Mail from this side without a login. With a ticket it is what the relay sends, if the ticket
 * is good; without one, and in an account's name, it is somebody who left the login out (XA2,
 * XA4, XA6). */
static Answer *
decide_inside(const Circumstances *circumstances, const Message *message, int fd,
              gboolean *gated_out, GError **error)
{
    const Config *config = circumstances->config;

    if (message->ticket != NULL)
        return gate_redeem(circumstances->gate, message->ticket, circumstances->queue_id,
                           message->envelope, fd, error);
    g_autoptr(Extract) extract = mail_extract(fd, error);
    if (extract == NULL)
        return NULL;
    if (message->tickets > 0 || hides_from(message, extract) ||
        is_in_account_name(config, message->envelope, extract))
        return answer_new(ANSWER_REFUSE, "mail with this sender needs a login");
    if (leaves_mailbox(config, message) || turns_down(config, message, extract))
        return answer_new(
            ANSWER_REFUSE,
            "mail from this mailbox is not passed on: send it anew, with a login");
    *gated_out = FALSE;
    return decision_is_for_account(config, message->envelope)
               ? observe(circumstances, message, extract, error)
               : answer_new(ANSWER_PASS, "");
}

static Answer *
learn(const Circumstances *circumstances, const Message *message, int fd, GError **error)
{
    g_autoptr(Extract) extract = mail_extract(fd, error);

    return extract ? observe(circumstances, message, extract, error) : NULL;
}

static Answer *
decide(const Circumstances *circumstances, Message *message, int fd, gboolean *gated_out,
       GError **error)
{
    switch (message->kind) {
    case MESSAGE_OF_AGENT:
        return submit(circumstances, message, fd, error);
    case MESSAGE_INSIDE:
        return decide_inside(circumstances, message, fd, gated_out, error);
    case MESSAGE_OF_HUMAN:
    case MESSAGE_INBOUND:
        break;
    }
    return learn(circumstances, message, fd, error);
}

Answer *
decision_make(const Circumstances *circumstances, Message *message, gboolean *gated_out,
              GError **error)
{
    *gated_out =
        message->kind == MESSAGE_OF_AGENT || message->kind == MESSAGE_INSIDE ||
        (message->kind == MESSAGE_OF_HUMAN && is_order(circumstances->config, message));
    if (message->trouble != NULL) {
        g_propagate_error(error, g_steal_pointer(&message->trouble));
        return NULL;
    }
    if (message->refusal != NULL && *gated_out)
        return answer_new(ANSWER_REFUSE, message->refusal);

    int fd = spool_descriptor(message->spool, error);
    if (fd < 0)
        return NULL;
    guint64 size = spool_size(message->spool);
    if (!turn_take(size, error))
        return NULL;
    Answer *answer = decide(circumstances, message, fd, gated_out, error);
    turn_end(size);
    return answer;
}
