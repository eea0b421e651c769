/* TLS and passwords: whom the client believes, and what it never says in the clear. */
#include "relay/smtp.h"

#include <signal.h>
#include <string.h>

#include <glib/gstdio.h>

#include "tests/unit/smtp-server.h"

#define PATIENCE  10000
#define OFFER_TLS "250-fake.example\r\n250-AUTH PLAIN\r\n250 STARTTLS\r\n"
#define AUTH_LINE "AUTH PLAIN AHVzZXIAcGFzcw==\n" /* \0user\0pass */
#define USER      "user"

typedef struct {
    const char *name;
    SmtpTls tls;
    const char *certificate; /* whom the server's is made out to */
    const char *host;        /* whom the client wants */
    gboolean known;          /* the client knows the server's certificate, else another */
    const char *user;
    Script script;
    SmtpOutcome outcome;
    SmtpStage stage;
    guint code;
} Row;

static const Row rows[] = {
    {"STARTTLS",
     SMTP_TLS_STARTTLS,
     "DNS:localhost",
     "localhost",
     TRUE,
     NULL,
     {.ehlo = OFFER_TLS},
     SMTP_ACCEPTED,
     SMTP_STAGE_DOT,
     250},
    {"implicit",
     SMTP_TLS_IMPLICIT,
     "DNS:localhost",
     "localhost",
     TRUE,
     NULL,
     {.dot = NULL},
     SMTP_ACCEPTED,
     SMTP_STAGE_DOT,
     250},
    {"an address",
     SMTP_TLS_IMPLICIT,
     "IP:127.0.0.1",
     "127.0.0.1",
     TRUE,
     NULL,
     {.dot = NULL},
     SMTP_ACCEPTED,
     SMTP_STAGE_DOT,
     250},
    {"another host",
     SMTP_TLS_STARTTLS,
     "DNS:other.test",
     "localhost",
     TRUE,
     NULL,
     {.ehlo = OFFER_TLS},
     SMTP_NOT_SENT,
     SMTP_STAGE_TLS,
     0},
    {"another host, implicit",
     SMTP_TLS_IMPLICIT,
     "DNS:other.test",
     "localhost",
     TRUE,
     NULL,
     {.dot = NULL},
     SMTP_NOT_SENT,
     SMTP_STAGE_TLS,
     0},
    {"another address",
     SMTP_TLS_IMPLICIT,
     "IP:127.0.0.2",
     "127.0.0.1",
     TRUE,
     NULL,
     {.dot = NULL},
     SMTP_NOT_SENT,
     SMTP_STAGE_TLS,
     0},
    {"a name for an address",
     SMTP_TLS_IMPLICIT,
     "DNS:127.0.0.1",
     "127.0.0.1",
     TRUE,
     NULL,
     {.dot = NULL},
     SMTP_NOT_SENT,
     SMTP_STAGE_TLS,
     0},
    {"nobody vouches",
     SMTP_TLS_STARTTLS,
     "DNS:localhost",
     "localhost",
     FALSE,
     USER,
     {.ehlo = OFFER_TLS},
     SMTP_NOT_SENT,
     SMTP_STAGE_TLS,
     0},
    {"STARTTLS not offered",
     SMTP_TLS_STARTTLS,
     "DNS:localhost",
     "localhost",
     TRUE,
     USER,
     {.dot = NULL},
     SMTP_NOT_SENT,
     SMTP_STAGE_TLS,
     0},
    {"STARTTLS refused",
     SMTP_TLS_STARTTLS,
     "DNS:localhost",
     "localhost",
     TRUE,
     USER,
     {.ehlo = OFFER_TLS, .starttls = "454 later\r\n" ACT_CLOSE},
     SMTP_NOT_SENT,
     SMTP_STAGE_TLS,
     454},
    {"bytes before TLS",
     SMTP_TLS_STARTTLS,
     "DNS:localhost",
     "localhost",
     TRUE,
     USER,
     {.ehlo = OFFER_TLS, .starttls = "220 go\r\n250 injected\r\n"},
     SMTP_NOT_SENT,
     SMTP_STAGE_TLS,
     0},
    {"password over STARTTLS",
     SMTP_TLS_STARTTLS,
     "DNS:localhost",
     "localhost",
     TRUE,
     USER,
     {.ehlo = OFFER_TLS},
     SMTP_ACCEPTED,
     SMTP_STAGE_DOT,
     250},
    {"password over TLS",
     SMTP_TLS_IMPLICIT,
     "DNS:localhost",
     "localhost",
     TRUE,
     USER,
     {.ehlo = "250-fake\r\n250 AUTH LOGIN plain\r\n"},
     SMTP_ACCEPTED,
     SMTP_STAGE_DOT,
     250},
    {"wrong password",
     SMTP_TLS_IMPLICIT,
     "DNS:localhost",
     "localhost",
     TRUE,
     USER,
     {.ehlo = OFFER_TLS, .auth = "535 no\r\n"},
     SMTP_NOT_SENT,
     SMTP_STAGE_AUTH,
     535},
    {"PLAIN not offered",
     SMTP_TLS_IMPLICIT,
     "DNS:localhost",
     "localhost",
     TRUE,
     USER,
     {.ehlo = "250-fake\r\n250 AUTH PLAINER\r\n"},
     SMTP_NOT_SENT,
     SMTP_STAGE_AUTH,
     0},
    {"no AUTH",
     SMTP_TLS_IMPLICIT,
     "DNS:localhost",
     "localhost",
     TRUE,
     USER,
     {.dot = NULL},
     SMTP_NOT_SENT,
     SMTP_STAGE_AUTH,
     0},
    {"password in the clear",
     SMTP_TLS_NONE,
     NULL,
     "127.0.0.1",
     TRUE,
     USER,
     {.ehlo = "250-fake\r\n250 AUTH PLAIN\r\n"},
     SMTP_NOT_SENT,
     SMTP_STAGE_AUTH,
     0},
    {"closed before the dot",
     SMTP_TLS_IMPLICIT,
     "DNS:localhost",
     "localhost",
     TRUE,
     NULL,
     {.body = ACT_CLOSE},
     SMTP_NOT_SENT,
     SMTP_STAGE_BODY,
     0},
    {"farewell before the dot",
     SMTP_TLS_IMPLICIT,
     "DNS:localhost",
     "localhost",
     TRUE,
     NULL,
     {.body = "421 bye\r\n"},
     SMTP_NOT_SENT,
     SMTP_STAGE_BODY,
     421},
    {"closed after the dot",
     SMTP_TLS_IMPLICIT,
     "DNS:localhost",
     "localhost",
     TRUE,
     NULL,
     {.dot = "250 o" ACT_CLOSE},
     SMTP_UNCERTAIN,
     SMTP_STAGE_DOT,
     0},
};

static gboolean
wait_for_server(gpointer data)
{
    server_wait_acted(data);
    return TRUE;
}

/* The password goes over TLS, to the right server, or not at all. */
static void
assert_password(const Row *row, const Server *server)
{
    const char *auth = strstr(server_commands(server), AUTH_LINE);
    const char *tls = strstr(server_commands(server), "TLS\n");

    if (auth == NULL)
        g_assert_null(strstr(server_commands(server), "AUTH"));
    else
        g_assert_true(row->user != NULL && tls != NULL && tls < auth);
    if (row->user != NULL && row->outcome == SMTP_ACCEPTED)
        g_assert_nonnull(auth);
}

static void
test_row(gconstpointer data)
{
    const Row *row = data;
    g_autofree char *folder = g_dir_make_tmp("exeat-tls-XXXXXX", NULL);
    g_autofree char *own = g_build_filename(folder, "own.pem", NULL);
    g_autofree char *other = g_build_filename(folder, "other.pem", NULL);

    certificate_write(own, row->certificate != NULL ? row->certificate : "DNS:localhost");
    certificate_write(other, "DNS:localhost");
    g_autoptr(Server) server =
        server_start(&row->script, NULL, own, row->tls == SMTP_TLS_IMPLICIT);
    g_autofree char *target = server_target(server, row->host);
    SmtpServer settings = {.target = target,
                           .helo = "gate.example",
                           .tls = row->tls,
                           .ca_file = row->known ? own : other,
                           .user = row->user,
                           .secret = give_password,
                           .timeout_ms = PATIENCE};
    g_autoptr(SmtpClient) client = smtp_new(&settings);
    const SmtpHooks hooks = {.before_dot = row->script.body != NULL ? wait_for_server : NULL,
                             .data = server};
    g_autoptr(SmtpResult) result = send_text_if(client, SENDER, RECIPIENTS, TEXT, &hooks);

    assert_result(result, row->outcome, row->stage, row->code);
    g_clear_pointer(&client, smtp_free);
    server_stop(server);
    gboolean dot = row->stage == SMTP_STAGE_DOT;
    g_assert_cmpuint(server_messages(server), ==, dot ? 1 : 0);
    assert_password(row, server);
    g_unlink(own);
    g_unlink(other);
    g_assert_cmpint(g_rmdir(folder), ==, 0);
}

/* There is no name to verify on a unix socket. */
static void
test_unix_socket(void)
{
    g_autofree char *folder = g_dir_make_tmp("exeat-tls-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(folder, "socket", NULL);
    Script script = {.ehlo = OFFER_TLS, .starttls = "220 go\r\n" ACT_CLOSE};
    g_autoptr(Server) server = server_start(&script, path, NULL, FALSE);
    g_autofree char *target = server_target(server, NULL);
    SmtpServer settings = {.target = target,
                           .helo = "gate.example",
                           .tls = SMTP_TLS_STARTTLS,
                           .timeout_ms = PATIENCE};
    g_autoptr(SmtpClient) client = smtp_new(&settings);
    g_autoptr(SmtpResult) result = send_text(client, SENDER, RECIPIENTS, TEXT);

    assert_result(result, SMTP_NOT_SENT, SMTP_STAGE_TLS, 0);
    g_clear_pointer(&client, smtp_free);
    g_clear_pointer(&server, server_free);
    g_assert_cmpint(g_rmdir(folder), ==, 0);
}

/* After TLS the server is asked anew, and one TLS session carries many messages. */
static void
test_hello_again(void)
{
    g_autofree char *folder = g_dir_make_tmp("exeat-tls-XXXXXX", NULL);
    g_autofree char *own = g_build_filename(folder, "own.pem", NULL);
    Script script = {.ehlo = OFFER_TLS};

    certificate_write(own, "DNS:localhost");
    g_autoptr(Server) server = server_start(&script, NULL, own, FALSE);
    g_autofree char *target = server_target(server, "localhost");
    SmtpServer settings = {.target = target,
                           .helo = "gate.example",
                           .tls = SMTP_TLS_STARTTLS,
                           .ca_file = own,
                           .timeout_ms = PATIENCE};
    g_autoptr(SmtpClient) client = smtp_new(&settings);
    for (guint i = 0; i < 2; i++) {
        g_autoptr(SmtpResult) result = send_text(client, SENDER, RECIPIENTS, TEXT);
        assert_result(result, SMTP_ACCEPTED, SMTP_STAGE_DOT, 250);
    }
    g_clear_pointer(&client, smtp_free);
    server_stop(server);
    g_assert_cmpuint(server_connections(server), ==, 1);
    g_assert_true(g_str_has_prefix(
        server_commands(server), "EHLO gate.example\nSTARTTLS\nTLS\nEHLO gate.example\nMAIL"));
    g_unlink(own);
    g_assert_cmpint(g_rmdir(folder), ==, 0);
}

int
main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN); /* as daemon_start does; OpenSSL writes without MSG_NOSIGNAL */
    g_test_init(&argc, &argv, NULL);
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *path = g_strconcat("/smtp-tls/rows/", rows[i].name, NULL);
        g_test_add_data_func(path, &rows[i], test_row);
    }
    g_test_add_func("/smtp-tls/unix-socket", test_unix_socket);
    g_test_add_func("/smtp-tls/hello-again", test_hello_again);
    return g_test_run();
}
