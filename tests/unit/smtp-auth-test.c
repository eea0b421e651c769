/* AUTH: what is said to which server, and that it is said to no other. */
#include "relay/smtp.h"

#include <signal.h>
#include <string.h>

#include <glib/gstdio.h>

#include "lib/error.h"
#include "relay/smtp-scram.h"
#include "tests/unit/smtp-server.h"

#define PATIENCE 10000

/* RFC 7677, 3, and RFC 5802, 5. */
typedef struct {
    gboolean sha256;
    const char *nonce, *first, *server_first, *final, *server_final;
} Vector;

static const Vector vectors[] = {
    {TRUE, "rOprNGfwEbeRWgbNEkqO", "n,,n=user,r=rOprNGfwEbeRWgbNEkqO",
     "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096",
     "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,"
     "p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=",
     "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="},
    {FALSE, "fyko+d2lbbFgONRv9qkxdawL", "n,,n=user,r=fyko+d2lbbFgONRv9qkxdawL",
     "r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,s=QSXCR+Q6sek8bf92,i=4096",
     "c=biws,r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,p=v0X8v3Bz2T0CJGbJQyF0X+HI4Ts=",
     "v=rmF9pqV8S7suAoZWja4dJRkFsKQ="},
};

static void
test_vectors(void)
{
    for (gsize i = 0; i < G_N_ELEMENTS(vectors); i++) {
        const Vector *vector = &vectors[i];
        g_autoptr(GError) error = NULL;
        g_autoptr(Scram) scram = scram_new(vector->sha256, "user", "pencil", vector->nonce);

        g_assert_cmpstr(scram_first(scram), ==, vector->first);
        g_autofree char *final = scram_final(scram, vector->server_first, &error);
        g_assert_no_error(error);
        g_assert_cmpstr(final, ==, vector->final);
        g_assert_true(scram_verify(scram, vector->server_final, &error));
        g_assert_no_error(error);
    }
}

static void
test_names(void)
{
    g_autoptr(Scram) scram = scram_new(TRUE, "a=b,c", "x", "nonce");

    g_assert_cmpstr(scram_first(scram), ==, "n,,n=a=3Db=2Cc,r=nonce");
}

/* A server that is none of ours. */
static void
test_bad_servers(void)
{
    static const char *const firsts[] = {
        "",
        "r=other,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096",
        "r=nonce,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096", /* nothing of its own */
        "r=nonceX,s=,i=4096",
        "r=nonceX,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=1",
        "r=nonceX,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4095",
        "r=nonceX,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=1000001",
        "r=nonceX,s=W22ZaJ0SNY7soEsUEjb6gQ==",
        "m=x,r=nonceX,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096",
    };
    static const char *const finals[] = {"", "e=invalid-proof", "v=", "v=AAAA",
                                         "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="};

    for (gsize i = 0; i < G_N_ELEMENTS(firsts); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(Scram) scram = scram_new(TRUE, "user", "pencil", "nonce");
        g_autofree char *final = scram_final(scram, firsts[i], &error);

        g_assert_null(final);
        g_assert_error(error, EXEAT_ERROR, ERROR_PROTOCOL);
        g_clear_error(&error);
        g_assert_false(scram_verify(scram, finals[4], &error)); /* before it was asked */
    }
    for (gsize i = 0; i < G_N_ELEMENTS(finals); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(Scram) scram = scram_new(TRUE, "user", "pencil", "nonce");
        g_autofree char *final =
            scram_final(scram, "r=nonceX,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096", &error);

        g_assert_no_error(error);
        g_assert_nonnull(final);
        g_assert_false(scram_verify(scram, finals[i], &error));
        g_assert_error(error, EXEAT_ERROR, ERROR_PROTOCOL);
    }
}

typedef struct {
    const char *name;
    const char *offered; /* behind AUTH */
    SmtpAuth auth;
    gboolean token;
    const char *answer;   /* to the AUTH line */
    const char *then[4];  /* to what follows */
    const char *commands; /* from AUTH on; NULL: no AUTH was said */
    SmtpOutcome outcome;
    guint code;
} Row;

#define NO_AUTH NULL
#define PLAIN   "AUTH PLAIN AHVzZXIAcGFzcw==\n" /* \0user\0pass */
/* n,a=user,^Aauth=Bearer pass^A^A and user=user^Aauth=Bearer pass^A^A */
#define OAUTHBEARER "AUTH OAUTHBEARER bixhPXVzZXIsAWF1dGg9QmVhcmVyIHBhc3MBAQ==\n"
#define XOAUTH2     "AUTH XOAUTH2 dXNlcj11c2VyAWF1dGg9QmVhcmVyIHBhc3MBAQ==\n"
#define EXPIRED                                                                               \
    "334 eyJzdGF0dXMiOiJpbnZhbGlkX3Rva2VuIn0=\r\n" /* {"status":"invalid_token"}              \
                                                    */

static const Row rows[] = {
    {"PLAIN", "PLAIN", SMTP_AUTH_ANY, FALSE, NULL, {NULL}, PLAIN, SMTP_ACCEPTED, 250},
    {"LOGIN when there is nothing better",
     "LOGIN NTLM",
     SMTP_AUTH_ANY,
     FALSE,
     "334 VXNlcm5hbWU6\r\n",
     {"334 UGFzc3dvcmQ6\r\n", "235 ok\r\n"},
     "AUTH LOGIN\ndXNlcg==\ncGFzcw==\n",
     SMTP_ACCEPTED,
     250},
    {"PLAIN before LOGIN",
     "LOGIN PLAIN",
     SMTP_AUTH_ANY,
     FALSE,
     NULL,
     {NULL},
     PLAIN,
     SMTP_ACCEPTED,
     250},
    {"LOGIN when it is wanted",
     "LOGIN PLAIN",
     SMTP_AUTH_LOGIN,
     FALSE,
     "334 VXNlcm5hbWU6\r\n",
     {"334 UGFzc3dvcmQ6\r\n", "535 no\r\n"},
     "AUTH LOGIN\ndXNlcg==\ncGFzcw==\n",
     SMTP_NOT_SENT,
     535},
    {"a wrong password once",
     "PLAIN",
     SMTP_AUTH_ANY,
     FALSE,
     "535 no\r\n",
     {NULL},
     PLAIN,
     SMTP_NOT_SENT,
     535},
    {"what is wanted is not offered",
     "LOGIN PLAIN",
     SMTP_AUTH_SCRAM_SHA_256,
     FALSE,
     NULL,
     {NULL},
     NO_AUTH,
     SMTP_NOT_SENT,
     0},
    {"no password where a token is wanted",
     "XOAUTH2 OAUTHBEARER",
     SMTP_AUTH_ANY,
     FALSE,
     NULL,
     {NULL},
     NO_AUTH,
     SMTP_NOT_SENT,
     0},
    {"no token where a password is wanted",
     "PLAIN LOGIN SCRAM-SHA-256",
     SMTP_AUTH_ANY,
     TRUE,
     NULL,
     {NULL},
     NO_AUTH,
     SMTP_NOT_SENT,
     0},
    {"OAUTHBEARER",
     "PLAIN XOAUTH2 OAUTHBEARER",
     SMTP_AUTH_ANY,
     TRUE,
     NULL,
     {NULL},
     OAUTHBEARER,
     SMTP_ACCEPTED,
     250},
    {"XOAUTH2",
     "PLAIN XOAUTH2",
     SMTP_AUTH_ANY,
     TRUE,
     NULL,
     {NULL},
     XOAUTH2,
     SMTP_ACCEPTED,
     250},
    {"a token is fetched anew, once",
     "OAUTHBEARER",
     SMTP_AUTH_ANY,
     TRUE,
     EXPIRED,
     {"535 5.7.8 no\r\n", "535 5.7.8 no\r\n"},
     OAUTHBEARER "AQ==\nAUTH OAUTHBEARER bixhPXVzZXIsAWF1dGg9QmVhcmVyIGZyZXNoAQE=\nAQ==\n",
     SMTP_NOT_SENT,
     535},
    {"XOAUTH2 takes an empty answer",
     "XOAUTH2",
     SMTP_AUTH_ANY,
     TRUE,
     EXPIRED,
     {"535 5.7.8 no\r\n", "454 later\r\n"},
     XOAUTH2 "\nAUTH XOAUTH2 dXNlcj11c2VyAWF1dGg9QmVhcmVyIGZyZXNoAQE=\n\n",
     SMTP_NOT_SENT,
     454},
    {"a refusal that turns into a welcome",
     "OAUTHBEARER",
     SMTP_AUTH_ANY,
     TRUE,
     EXPIRED,
     {"235 ok\r\n"},
     OAUTHBEARER "AQ==\n",
     SMTP_NOT_SENT,
     0},
    {"SCRAM: rubbish",
     "SCRAM-SHA-256 PLAIN",
     SMTP_AUTH_ANY,
     FALSE,
     "334 eA==\r\n",
     {NULL},
     "",
     SMTP_NOT_SENT,
     0},
    {"SCRAM: welcome without a proof",
     "SCRAM-SHA-256 PLAIN",
     SMTP_AUTH_ANY,
     FALSE,
     "235 ok\r\n",
     {NULL},
     "",
     SMTP_NOT_SENT,
     0},
};

static char *
give_token(gpointer data, gboolean fresh, GError **error)
{
    return fresh ? g_strdup("fresh") : give_password(data, fresh, error);
}

/* Nobody listens on a unix socket, so a password may go without TLS. */
static void
test_row(gconstpointer data)
{
    const Row *row = data;
    g_autofree char *folder = g_dir_make_tmp("exeat-auth-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(folder, "socket", NULL);
    g_autofree char *ehlo = g_strdup_printf("250-fake\r\n250 AUTH %s\r\n", row->offered);
    const Script script = {.ehlo = ehlo, .auth = row->answer, .auth_then = row->then};
    g_autoptr(Server) server = server_start(&script, path, NULL, FALSE);
    g_autofree char *target = server_target(server, NULL);
    const SmtpServer settings = {.target = target,
                                 .helo = "gate.example",
                                 .user = "user",
                                 .auth = row->auth,
                                 .token = row->token,
                                 .secret = give_token,
                                 .timeout_ms = PATIENCE};
    g_autoptr(SmtpClient) client = smtp_new(&settings);
    g_autoptr(SmtpResult) result = send_text(client, SENDER, RECIPIENTS, TEXT);

    gboolean sent = row->outcome == SMTP_ACCEPTED;
    assert_result(result, row->outcome, sent ? SMTP_STAGE_DOT : SMTP_STAGE_AUTH, row->code);
    g_clear_pointer(&client, smtp_free);
    server_stop(server);
    const char *said = strstr(server_commands(server), "AUTH");
    if (row->commands == NULL)
        g_assert_null(said);
    else
        g_assert_true(g_str_has_prefix(said, row->commands));
    if (g_str_has_prefix(row->name, "SCRAM"))
        g_assert_null(strstr(said, "PLAIN"));
    if (row->code == 535 && row->token)
        g_assert_nonnull(strstr(result->text, "invalid_token"));
    g_assert_cmpuint(server_messages(server), ==, sent ? 1 : 0);
    g_clear_pointer(&server, server_free);
    g_assert_cmpint(g_rmdir(folder), ==, 0);
}

int
main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN);
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/smtp-auth/scram-vectors", test_vectors);
    g_test_add_func("/smtp-auth/scram-names", test_names);
    g_test_add_func("/smtp-auth/scram-bad-servers", test_bad_servers);
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *path = g_strconcat("/smtp-auth/rows/", rows[i].name, NULL);
        g_test_add_data_func(path, &rows[i], test_row);
    }
    return g_test_run();
}
