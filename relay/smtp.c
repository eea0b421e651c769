#include "relay/smtp.h"

#include <string.h>

#include "lib/error.h"
#include "relay/smtp-body.h"
#include "relay/smtp-session.h"

/* Bytes of a reply to one recipient, of whom there may be a thousand. */
enum { RECIPIENT_REPLY_MOST = 300 };

/* A word that cannot end the path, the line or the command it stands in. */
static gboolean
is_word(const char *text)
{
    for (const char *c = text; *c != '\0'; c++)
        if ((guchar)*c <= ' ' || *c == '>' || *c == 0x7f)
            return FALSE;
    return TRUE;
}

static gboolean
are_words(const char *address, char **parameters)
{
    gboolean words = is_word(address);

    for (char **parameter = parameters; *parameter != NULL; parameter++)
        words = words && is_word(*parameter) && **parameter != '\0';
    return words;
}

static gboolean
check_envelope(Sending *sending)
{
    const Envelope *envelope = sending->envelope;
    gboolean words = are_words(envelope->sender, envelope->parameters);

    for (guint i = 0; i < envelope->recipients->len; i++) {
        const EnvelopeRecipient *recipient = g_ptr_array_index(envelope->recipients, i);
        words = words && recipient->address[0] != '\0' &&
                are_words(recipient->address, recipient->parameters);
    }
    if (!words)
        return sending_end(sending, SMTP_REFUSED, 0,
                           "an address or parameter that SMTP cannot carry");
    if (envelope->recipients->len == 0)
        return sending_end(sending, SMTP_REFUSED, 0, "no recipients");
    return TRUE;
}

static gboolean
check_message(Sending *sending)
{
    g_autoptr(SmtpBody) body = smtp_body_new(sending->head, sending->fd);
    g_autoptr(GError) error = NULL;

    if (smtp_body_scan(body, &sending->size, &sending->eight_bit, &error))
        return TRUE;
    gboolean odd = g_error_matches(error, EXEAT_ERROR, ERROR_PROTOCOL);
    return sending_end(sending, odd ? SMTP_REFUSED : SMTP_NOT_SENT, 0, error->message);
}

/* The extension that a parameter belongs to; NULL when we know none we could honour.
 * BODY=BINARYMIME needs BDAT (RFC 3030). */
static const char *
extension_of(const char *parameter)
{
    static const struct {
        const char *keyword, *extension;
    } known[] = {{"BODY=7BIT", "8BITMIME"}, {"BODY=8BITMIME", "8BITMIME"},
                 {"ENVID", "DSN"},          {"NOTIFY", "DSN"},
                 {"ORCPT", "DSN"},          {"RET", "DSN"},
                 {"SMTPUTF8", "SMTPUTF8"}};
    gboolean body = g_ascii_strncasecmp(parameter, "BODY=", 5) == 0;
    gsize length = body ? strlen(parameter) : strcspn(parameter, "=");

    for (gsize i = 0; i < G_N_ELEMENTS(known); i++)
        if (strlen(known[i].keyword) == length &&
            g_ascii_strncasecmp(parameter, known[i].keyword, length) == 0)
            return known[i].extension;
    return NULL;
}

static gboolean
check_parameters(Sending *sending, char **parameters)
{
    for (char **parameter = parameters; *parameter != NULL; parameter++) {
        const char *extension = extension_of(*parameter);
        if (extension != NULL && session_extension(sending->client, extension) != NULL)
            continue;
        g_autofree char *text =
            g_strdup_printf("the server does not offer what %s needs", *parameter);
        return sending_end(sending, SMTP_REFUSED, 0, text);
    }
    return TRUE;
}

/* To leave out what the server does not offer would send something else than was approved. */
static gboolean
check_extensions(Sending *sending)
{
    const Envelope *envelope = sending->envelope;

    sending->result->stage = SMTP_STAGE_MAIL;
    if (!check_parameters(sending, envelope->parameters))
        return FALSE;
    for (guint i = 0; i < envelope->recipients->len; i++) {
        const EnvelopeRecipient *recipient = g_ptr_array_index(envelope->recipients, i);
        if (!check_parameters(sending, recipient->parameters))
            return FALSE;
    }
    if (sending->eight_bit && session_extension(sending->client, "8BITMIME") == NULL)
        return sending_end(sending, SMTP_REFUSED, 0,
                           "8-bit text, but the server offers no 8BITMIME");
    return TRUE;
}

static char *
make_command(const char *verb, const char *address, char **parameters, const char *last)
{
    g_autoptr(GString) line = g_string_new(NULL);

    g_string_append_printf(line, "%s:<%s>", verb, address);
    for (char **parameter = parameters; *parameter != NULL; parameter++)
        g_string_append_printf(line, " %s", *parameter);
    g_string_append_printf(line, "%s\r\n", last);
    return g_string_free(g_steal_pointer(&line), FALSE);
}

/* A reply that ended it, with the recipient it was for. */
static gboolean
end_recipient(Sending *sending, guint place, SmtpOutcome outcome)
{
    const EnvelopeRecipient *recipient = sending->envelope->recipients->pdata[place];
    const SmtpReply *reply = sending->result->replies->pdata[place];
    g_autofree char *valid = g_utf8_make_valid(recipient->address, -1);
    g_autofree char *text = g_strdup_printf("<%s>: %s", valid, reply->text);

    return sending_end(sending, outcome, reply->code, text);
}

static void
note_reply(Sending *sending)
{
    SmtpReply *reply = g_new0(SmtpReply, 1);
    g_autofree char *text =
        sending->client->code != 0 ? sending_reply_text(sending) : g_strdup("");

    reply->code = sending->client->code;
    reply->text = g_utf8_make_valid(text, MIN((gssize)strlen(text), RECIPIENT_REPLY_MOST));
    g_ptr_array_add(sending->result->replies, reply);
}

/* The place of the first reply whose code is of that kind; FALSE when there is none. */
static gboolean
find_reply(const Sending *sending, guint kind, guint *place_out)
{
    const GPtrArray *replies = sending->result->replies;

    for (guint i = 0; i < replies->len; i++) {
        const SmtpReply *reply = replies->pdata[i];
        if (reply->code / 100 == kind) {
            *place_out = i;
            return TRUE;
        }
    }
    return FALSE;
}

static Envelope *
accepted_part(const Sending *sending)
{
    const GPtrArray *replies = sending->result->replies;
    g_autofree gboolean *accepted = g_new0(gboolean, replies->len);

    for (guint i = 0; i < replies->len; i++)
        accepted[i] = ((const SmtpReply *)replies->pdata[i])->code / 100 == 2;
    return envelope_part(sending->envelope, accepted);
}

/* All were asked. */
static gboolean
weigh_replies(Sending *sending)
{
    guint later = 0, never = 0, good = 0;
    gboolean some = find_reply(sending, 2, &good);

    if (find_reply(sending, 4, &later))
        return end_recipient(sending, later, SMTP_NOT_SENT);
    if (!find_reply(sending, 5, &never))
        return TRUE;
    if (!some || sending->hooks.some == NULL)
        return end_recipient(sending, never, SMTP_REFUSED);
    g_autoptr(Envelope) part = accepted_part(sending);
    sending->committed = TRUE; /* to this part */
    return sending->hooks.some(part, sending->hooks.data) ||
           sending_end(sending, SMTP_NOT_SENT, 0, "stopped before the message");
}

/* FALSE only when the dialogue cannot go on: a refusal is weighed when all were asked. */
static gboolean
give_recipient(Sending *sending, const EnvelopeRecipient *recipient)
{
    g_autofree char *rcpt =
        make_command("RCPT TO", recipient->address, recipient->parameters, "");
    gboolean accepted = sending_ask(sending, rcpt, 2);
    guint code = sending->client->code;

    note_reply(sending);
    return accepted || ((code / 100 == 4 || code / 100 == 5) && sending->client->at_rest);
}

static gboolean
give_envelope(Sending *sending)
{
    const Envelope *envelope = sending->envelope;
    g_autofree char *size = session_extension(sending->client, "SIZE") == NULL
                                ? g_strdup("")
                                : g_strdup_printf(" SIZE=%" G_GUINT64_FORMAT, sending->size);
    g_autofree char *mail =
        make_command("MAIL FROM", envelope->sender, envelope->parameters, size);

    sending->result->stage = SMTP_STAGE_MAIL;
    if (!sending_ask(sending, mail, 2))
        return FALSE;
    sending->result->stage = SMTP_STAGE_RCPT;
    for (guint i = 0; i < envelope->recipients->len; i++)
        if (!give_recipient(sending, envelope->recipients->pdata[i]))
            return sending->client->code != 0 && end_recipient(sending, i, SMTP_NOT_SENT);
    return weigh_replies(sending);
}

static gboolean
give_message(Sending *sending)
{
    g_autoptr(SmtpBody) body = smtp_body_new(sending->head, sending->fd);
    const GByteArray *chunk;

    sending->result->stage = SMTP_STAGE_DATA;
    if (!sending_ask(sending, "DATA\r\n", 3))
        return FALSE;
    sending->result->stage = SMTP_STAGE_BODY;
    do {
        g_autoptr(GError) error = NULL;
        if (!smtp_body_next(body, &chunk, &error))
            return sending_end_error(sending, error);
        if (!sending_write(sending, chunk->data, chunk->len))
            return FALSE;
    } while (chunk->len > 0);
    return TRUE;
}

/* Everything before the dot can be taken back, nothing after it. Hence the second look at the
 * server: before_dot may take its time. */
static gboolean
give_dot(Sending *sending)
{
    const SmtpHooks *hooks = &sending->hooks;

    if (!sending_is_our_turn(sending))
        return FALSE;
    sending->committed = hooks->before_dot != NULL;
    smtp_stream_be_patient(sending->client->stream, TRUE);
    if (hooks->before_dot != NULL && !hooks->before_dot(hooks->data))
        return sending_end(sending, SMTP_NOT_SENT, 0, "stopped before the final dot");
    if (!sending_is_our_turn(sending))
        return FALSE;
    sending->result->stage = SMTP_STAGE_DOT;
    return sending_write(sending, ".\r\n", 3) && sending_hear(sending, 2);
}

static void
reply_free(gpointer data)
{
    SmtpReply *reply = data;

    g_free(reply->text);
    g_free(reply);
}

static gboolean
transact(Sending *sending)
{
    g_ptr_array_set_size(sending->result->replies, 0);
    sending->result->stage = SMTP_STAGE_CONNECT;
    if (!session_begin(sending) || !check_extensions(sending) || !give_envelope(sending) ||
        !give_message(sending) || !give_dot(sending))
        return FALSE;
    g_autofree char *text = sending_reply_text(sending);
    sending_end(sending, SMTP_ACCEPTED, sending->client->code, text);
    sending->client->used = g_get_monotonic_time();
    smtp_stream_be_patient(sending->client->stream, FALSE);
    return TRUE;
}

/* What an old connection says may be about itself: it died, the server wants to be rid of it,
 * or its milter was started again and is lost to it. */
static gboolean
may_try_again(const Sending *sending)
{
    const SmtpResult *result = sending->result;

    return sending->reused && !sending->committed && result->stage < SMTP_STAGE_DOT &&
           result->outcome == SMTP_NOT_SENT && (result->code == 0 || result->code / 100 == 4);
}

SmtpResult *
smtp_send(SmtpClient *client, const Envelope *envelope, const char *head, int fd,
          const SmtpHooks *hooks)
{
    static const SmtpHooks none;
    SmtpResult *result = g_new0(SmtpResult, 1);
    Sending sending = {.client = client,
                       .envelope = envelope,
                       .head = head,
                       .fd = fd,
                       .hooks = hooks != NULL ? *hooks : none,
                       .result = result};

    result->replies = g_ptr_array_new_with_free_func(reply_free);
    if (!check_envelope(&sending) || !check_message(&sending))
        return result;
    while (!transact(&sending)) {
        session_end(client);
        if (!may_try_again(&sending))
            break;
    }
    return result;
}

void
smtp_hurry(void)
{
    smtp_stream_hurry();
}

gint64
smtp_last_used(const SmtpClient *client)
{
    return client->stream != NULL ? client->used : 0;
}

SmtpClient *
smtp_new(const SmtpServer *server)
{
    SmtpClient *client = g_new0(SmtpClient, 1);

    client->server = *server;
    client->lines = g_ptr_array_new_with_free_func(g_free);
    return client;
}

void
smtp_free(SmtpClient *client)
{
    if (client == NULL)
        return;
    session_end(client);
    g_ptr_array_unref(client->lines);
    g_strfreev(client->extensions);
    g_free(client);
}

void
smtp_result_free(SmtpResult *result)
{
    if (result == NULL)
        return;
    g_clear_pointer(&result->replies, g_ptr_array_unref);
    g_free(result->text);
    g_free(result);
}
