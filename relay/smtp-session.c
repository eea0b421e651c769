#include "relay/smtp-session.h"

#include <string.h>

#include "lib/error.h"
#include "relay/smtp-auth.h"

#define REPLY_LINES_LIMIT 100
#define REPLY_TEXT_LIMIT  1000 /* bytes of a reply that are kept */
#define PARTING_MS        1000 /* for what is only polite */

static const struct {
    const char *name;
    guint wait_s; /* RFC 5321, 4.5.3.2, where it names one */
} stages[] = {
    [SMTP_STAGE_CONNECT] = {"CONNECT", 30}, [SMTP_STAGE_GREETING] = {"GREETING", 300},
    [SMTP_STAGE_HELLO] = {"EHLO", 300},     [SMTP_STAGE_TLS] = {"TLS", 120},
    [SMTP_STAGE_AUTH] = {"AUTH", 120},      [SMTP_STAGE_MAIL] = {"MAIL", 300},
    [SMTP_STAGE_RCPT] = {"RCPT", 300},      [SMTP_STAGE_DATA] = {"DATA", 120},
    [SMTP_STAGE_BODY] = {"BODY", 180},      [SMTP_STAGE_DOT] = {"DOT", 600},
};

const char *
smtp_stage_name(SmtpStage stage)
{
    return stages[stage].name;
}

static guint
wait_ms(const Sending *sending)
{
    guint usual = stages[sending->result->stage].wait_s * 1000;
    guint cap = sending->client->server.timeout_ms;

    return cap == 0 ? usual : MIN(cap, usual);
}

gboolean
sending_end(Sending *sending, SmtpOutcome outcome, guint code, const char *text)
{
    SmtpResult *result = sending->result;

    g_free(result->text);
    result->outcome = outcome;
    result->code = code;
    result->text = g_utf8_make_valid(text, -1);
    return FALSE;
}

gboolean
sending_end_error(Sending *sending, const GError *error)
{
    gboolean dot = sending->result->stage == SMTP_STAGE_DOT;

    return sending_end(sending, dot ? SMTP_UNCERTAIN : SMTP_NOT_SENT, 0, error->message);
}

char *
sending_reply_text(const Sending *sending)
{
    const SmtpClient *client = sending->client;
    g_autoptr(GString) text = g_string_new(NULL);

    g_string_append_printf(text, "%u", client->code);
    for (guint i = 0; i < client->lines->len && text->len < REPLY_TEXT_LIMIT; i++)
        g_string_append_printf(text, " %s", (const char *)client->lines->pdata[i]);
    g_string_truncate(text, MIN(text->len, REPLY_TEXT_LIMIT));
    return g_string_free(g_steal_pointer(&text), FALSE);
}

/* A reply that does not let us go on. Before MAIL a 5xx speaks of the connection (a wrong
 * password, a closed house), not of this message, which may be tried again. */
static gboolean
end_reply(Sending *sending)
{
    SmtpStage stage = sending->result->stage;
    guint kind = sending->client->code / 100;
    g_autofree char *text = sending_reply_text(sending);
    SmtpOutcome outcome = SMTP_NOT_SENT;

    if (kind == 5 && stage >= SMTP_STAGE_MAIL)
        outcome = SMTP_REFUSED;
    else if (kind < 4 && stage == SMTP_STAGE_DOT)
        outcome = SMTP_UNCERTAIN;
    return sending_end(sending, outcome, sending->client->code, text);
}

/* Commands and replies */

static guint
parse_code(const char *line)
{
    if (line[0] < '2' || line[0] > '5' || !g_ascii_isdigit(line[1]) ||
        !g_ascii_isdigit(line[2]))
        return 0;
    if (line[3] != '\0' && line[3] != ' ' && line[3] != '-')
        return 0;
    return (line[0] - '0') * 100 + (line[1] - '0') * 10 + (line[2] - '0');
}

/* Sets code only when all lines are there and agree. */
static gboolean
read_reply(SmtpClient *client, guint patience_ms, GError **error)
{
    gint64 deadline = g_get_monotonic_time() + (gint64)patience_ms * 1000;
    guint first = 0;

    client->code = 0;
    g_ptr_array_set_size(client->lines, 0);
    while (client->lines->len < REPLY_LINES_LIMIT) {
        g_autofree char *line = smtp_stream_read_line(client->stream, deadline, error);
        if (line == NULL)
            return FALSE;
        guint code = parse_code(line);
        if (code == 0 || (first != 0 && code != first)) {
            g_set_error(error, EXEAT_ERROR, ERROR_PROTOCOL, "not a reply: %s", line);
            return FALSE;
        }
        first = code;
        g_ptr_array_add(client->lines, g_strdup(line[3] != '\0' ? line + 4 : ""));
        if (line[3] != '-') {
            client->code = code;
            return TRUE;
        }
    }
    g_set_error(error, EXEAT_ERROR, ERROR_PROTOCOL, "the server's reply has too many lines");
    return FALSE;
}

gboolean
sending_hear(Sending *sending, guint wanted)
{
    SmtpClient *client = sending->client;
    g_autoptr(GError) error = NULL;

    if (!read_reply(client, wait_ms(sending), &error))
        return sending_end_error(sending, error);
    client->at_rest = client->code != 421 && client->code / 100 != 3;
    return client->code / 100 == wanted || end_reply(sending);
}

gboolean
sending_is_our_turn(Sending *sending)
{
    SmtpClient *client = sending->client;
    g_autoptr(GError) error = NULL;

    if (smtp_stream_is_quiet(client->stream))
        return TRUE;
    client->at_rest = FALSE;
    if (!read_reply(client, PARTING_MS, &error))
        return sending_end_error(sending, error);
    g_autofree char *text = sending_reply_text(sending);
    return sending_end(sending, SMTP_NOT_SENT, client->code, text);
}

gboolean
sending_write(Sending *sending, const void *bytes, gsize length)
{
    g_autoptr(GError) error = NULL;

    sending->client->at_rest = FALSE;
    return smtp_stream_write(sending->client->stream, bytes, length, wait_ms(sending),
                             &error) ||
           sending_end_error(sending, error);
}

gboolean
sending_ask(Sending *sending, const char *line, guint wanted)
{
    sending->client->code = 0;
    return sending_is_our_turn(sending) && sending_write(sending, line, strlen(line)) &&
           sending_hear(sending, wanted);
}

/* The connection */

static gboolean
hello(Sending *sending)
{
    SmtpClient *client = sending->client;
    g_autofree char *ehlo = g_strdup_printf("EHLO %s\r\n", client->server.helo);
    g_autofree char *helo = g_strdup_printf("HELO %s\r\n", client->server.helo);
    g_autoptr(GStrvBuilder) builder = g_strv_builder_new();

    sending->result->stage = SMTP_STAGE_HELLO;
    if (sending_ask(sending, ehlo, 2)) {
        for (guint i = 1; i < client->lines->len; i++)
            g_strv_builder_add(builder, client->lines->pdata[i]);
    } else if (client->code / 100 != 5 || !sending_ask(sending, helo, 2)) {
        return FALSE;
    }
    g_strfreev(client->extensions);
    client->extensions = g_strv_builder_end(builder);
    return TRUE;
}

const char *
session_extension(const SmtpClient *client, const char *keyword)
{
    gsize length = strlen(keyword);

    for (char **line = client->extensions; *line != NULL; line++) {
        if (g_ascii_strncasecmp(*line, keyword, length) != 0)
            continue;
        if ((*line)[length] == '\0' || (*line)[length] == ' ')
            return *line + length;
    }
    return NULL;
}

static gboolean
secure(Sending *sending)
{
    SmtpClient *client = sending->client;
    const SmtpServer *server = &client->server;
    const SmtpTrust trust = {server->ca_file, server->certificate_file, server->key_file};
    g_autoptr(GError) error = NULL;

    sending->result->stage = SMTP_STAGE_TLS;
    return smtp_stream_secure(client->stream, &trust, wait_ms(sending), &error) ||
           sending_end_error(sending, error);
}

/* What was said before TLS is forgotten (RFC 3207, 4.2). */
static gboolean
start_tls(Sending *sending)
{
    sending->result->stage = SMTP_STAGE_TLS;
    if (session_extension(sending->client, "STARTTLS") == NULL)
        return sending_end(sending, SMTP_NOT_SENT, 0, "the server offers no STARTTLS");
    return sending_ask(sending, "STARTTLS\r\n", 2) && secure(sending) && hello(sending);
}

static gboolean
open_connection(Sending *sending)
{
    SmtpClient *client = sending->client;
    const SmtpServer *server = &client->server;
    g_autoptr(GError) error = NULL;

    client->at_rest = FALSE;
    client->stream = smtp_stream_open(server->target, wait_ms(sending), &error);
    if (client->stream == NULL)
        return sending_end_error(sending, error);
    if (server->tls == SMTP_TLS_IMPLICIT && !secure(sending))
        return FALSE;
    sending->result->stage = SMTP_STAGE_GREETING;
    if (!sending_hear(sending, 2) || !hello(sending))
        return FALSE;
    if (server->tls == SMTP_TLS_STARTTLS && !start_tls(sending))
        return FALSE;
    return server->user == NULL || session_authenticate(sending);
}

void
session_end(SmtpClient *client)
{
    if (client->stream == NULL)
        return;
    if (client->at_rest && smtp_stream_is_quiet(client->stream))
        smtp_stream_write(client->stream, "QUIT\r\n", 6, PARTING_MS, NULL);
    g_clear_pointer(&client->stream, smtp_stream_free);
}

/* A connection that died while it was idle is replaced without a word. */
gboolean
session_begin(Sending *sending)
{
    SmtpClient *client = sending->client;

    sending->reused = client->stream != NULL && smtp_stream_is_quiet(client->stream);
    if (sending->reused)
        return TRUE;
    session_end(client);
    return open_connection(sending);
}
