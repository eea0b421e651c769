/* What the SMTP client gives to a server: the envelope with its parameters and the text, byte
 * for byte, or nothing (C19). */
#include "relay/smtp.h"

#include <string.h>

#include <glib/gstdio.h>

#include "tests/unit/smtp-server.h"

#define PATIENCE 10000

/* What never reaches the server (XA15): it is refused before a connection is tried. */
static void
test_refused_unsent(void)
{
    static const struct {
        const char *name, *sender, *recipients, *text;
    } refused[] = {
        {"CR LF in the sender", "<s@x>\r\nRCPT\tTO:<m@x>", "<a@x>", TEXT},
        {"CR in a recipient", "<s@x>", "<a\r@x>", TEXT},
        {"LF in a recipient", "<s@x>", "<a@x>|<b\n@x>", TEXT},
        {"> in a recipient", "<s@x>", "<a@x>NOTIFY=NEVER>", TEXT},
        {"tab in a recipient", "<s@x>", "<a\t@x>", TEXT},
        {"LF in a parameter", "<s@x>", "<a@x> NOTIFY=NEVER\nDATA", TEXT},
        {"an empty parameter", "<s@x> ", "<a@x>", TEXT},
        {"the null recipient", "<s@x>", "<>", TEXT},
        {"bare LF", "<s@x>", "<a@x>", "Subject: x\r\n\r\nHello\n.\nQUIT\r\n"},
        {"bare CR", "<s@x>", "<a@x>", "Subject: x\r\n\r\nHello\r.\rQUIT\r\n"},
        {"LF CR", "<s@x>", "<a@x>", "Subject: x\n\r\n\r"},
        {"CR CR LF", "<s@x>", "<a@x>", "Subject: x\r\r\n"},
        {"CR at the end", "<s@x>", "<a@x>", "Subject: x\r\n\r\nHello\r"},
        {"last line without an end", "<s@x>", "<a@x>", "Subject: x\r\n\r\nHello"},
    };
    SmtpServer settings = {.target = "unix:/nowhere", .helo = "gate.example"};
    g_autoptr(SmtpClient) client = smtp_new(&settings);

    for (gsize i = 0; i < G_N_ELEMENTS(refused); i++) {
        g_autoptr(SmtpResult) result =
            send_text(client, refused[i].sender, refused[i].recipients, refused[i].text);
        g_test_message("%s", refused[i].name);
        assert_result(result, SMTP_REFUSED, SMTP_STAGE_CONNECT, 0);
    }
    g_autoptr(SmtpResult) good = send_text(client, SENDER, RECIPIENTS, TEXT);
    assert_result(good, SMTP_NOT_SENT, SMTP_STAGE_CONNECT, 0);
}

/* Parameters go out as they were approved, or nothing goes (S3). */
typedef struct {
    const char *offered, *sender, *recipients, *text;
    gboolean passes;
    const char *part; /* of the commands when it passes, else of the reason */
} Offer;

static const Offer offers[] = {
    {"DSN", "<s@x> RET=HDRS ENVID=1", "<a@x> NOTIFY=NEVER ORCPT=rfc822;a@x", TEXT, TRUE,
     "MAIL FROM:<s@x> ENVID=1 RET=HDRS\nRCPT TO:<a@x> NOTIFY=NEVER ORCPT=rfc822;a@x\n"},
    {"dsn", "<s@x> ret=HDRS", "<a@x>", TEXT, TRUE, "MAIL FROM:<s@x> ret=HDRS\n"},
    {"DSNX", "<s@x> RET=HDRS", "<a@x>", TEXT, FALSE, "RET=HDRS"},
    {"8BITMIME", "<s@x> ENVID=1", "<a@x>", TEXT, FALSE, "ENVID=1"},
    {"8BITMIME", "<s@x>", "<a@x>|<b@x> NOTIFY=NEVER", TEXT, FALSE, "NOTIFY=NEVER"},
    {"8BITMIME", "<s@x>", "<a@x> ORCPT=rfc822;a@x", TEXT, FALSE, "ORCPT"},
    {"8BITMIME", "<> BODY=8BITMIME", "<a@x>", TEXT, TRUE, "MAIL FROM:<> BODY=8BITMIME\n"},
    {"DSN", "<s@x> BODY=8BITMIME", "<a@x>", TEXT, FALSE, "BODY=8BITMIME"},
    {"BINARYMIME", "<s@x> BODY=BINARYMIME", "<a@x>", TEXT, FALSE, "BODY=BINARYMIME"},
    {"SMTPUTF8", "<s\xc3\xa4@x> SMTPUTF8", "<a@x>", TEXT, TRUE, "<s\xc3\xa4@x> SMTPUTF8\n"},
    {"DSN", "<s@x> SMTPUTF8", "<a@x>", TEXT, FALSE, "SMTPUTF8"},
    {"XTRA", "<s@x> XTRA=1", "<a@x>", TEXT, FALSE, "XTRA=1"},
    {"SIZE 100000", "<s@x>", "<a@x>", TEXT, TRUE, "MAIL FROM:<s@x> SIZE=32\n"},
    {"8BITMIME", "<s@x>", "<a@x>", "Subject: \xc3\xa4\r\n", TRUE, "MAIL FROM:<s@x>\n"},
    {"DSN", "<s@x>", "<a@x>", "Subject: \xc3\xa4\r\n", FALSE, "8-bit"},
};

static void
check_offer(const Offer *offer)
{
    g_autofree char *ehlo = g_strdup_printf("250-fake.example\r\n250 %s\r\n", offer->offered);
    Script script = {.ehlo = ehlo};
    g_autoptr(Server) server = server_start(&script, NULL, NULL, FALSE);
    g_autofree char *target = server_target(server, "127.0.0.1");
    SmtpServer settings = {.target = target, .helo = "gate.example", .timeout_ms = PATIENCE};
    g_autoptr(SmtpClient) client = smtp_new(&settings);
    g_autoptr(SmtpResult) result =
        send_text(client, offer->sender, offer->recipients, offer->text);

    g_clear_pointer(&client, smtp_free);
    server_stop(server);
    g_assert_cmpuint(server_messages(server), ==, offer->passes);
    if (offer->passes) {
        assert_result(result, SMTP_ACCEPTED, SMTP_STAGE_DOT, 250);
        g_assert_nonnull(strstr(server_commands(server), offer->part));
    } else {
        assert_result(result, SMTP_REFUSED, SMTP_STAGE_MAIL, 0);
        g_assert_nonnull(strstr(result->text, offer->part));
        g_assert_null(strstr(server_commands(server), "MAIL"));
    }
}

static void
test_extensions(void)
{
    for (gsize i = 0; i < G_N_ELEMENTS(offers); i++)
        check_offer(&offers[i]);
}

/* What the server keeps, dots undone and without the last one, is what was sent, and it is one
 * message (S4, XA15). */
static void
assert_arrives(const char *text)
{
    g_autofree char *folder = g_dir_make_tmp("exeat-smtp-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(folder, "socket", NULL);
    Script script = {.dot = NULL};
    g_autoptr(Server) server = server_start(&script, path, NULL, FALSE);
    g_autofree char *target = server_target(server, NULL);
    SmtpServer settings = {.target = target, .helo = "gate.example", .timeout_ms = PATIENCE};
    g_autoptr(SmtpClient) client = smtp_new(&settings);
    g_autoptr(SmtpResult) result = send_text(client, SENDER, RECIPIENTS, text);

    assert_result(result, SMTP_ACCEPTED, SMTP_STAGE_DOT, 250);
    g_clear_pointer(&client, smtp_free);
    server_stop(server);
    g_assert_cmpuint(server_messages(server), ==, 1);
    g_assert_true(g_str_has_suffix(server_commands(server), "DATA\nQUIT\n"));

    g_autoptr(GString) kept = g_string_new(server_bytes(server)->str);
    g_autofree char *sent = g_strconcat(HEAD, text, NULL);
    g_string_truncate(kept, kept->len - 3);
    g_string_replace(kept, "\n..", "\n.", 0);
    g_assert_cmpstr(kept->str, ==, sent);
    g_clear_pointer(&server, server_free);
    g_assert_cmpint(g_rmdir(folder), ==, 0);
}

static void
test_dots(void)
{
    g_autoptr(GString) many = g_string_new(NULL);
    g_autofree char *path =
        g_test_build_filename(G_TEST_DIST, "cases", "s4-lone-dots-in-body.eml", NULL);
    g_autofree char *s4 = NULL;

    /* Lines of two and three bytes, so that every part of one meets the end of a chunk. */
    for (guint i = 0; i < 40000; i++)
        g_string_append(many, i % 7 == 0 ? "\r\n" : ".\r\n");
    assert_arrives(many->str);
    assert_arrives("");
    assert_arrives(".\r\n");
    assert_arrives("..\r\n.\r\n.x\r\n\r\n.\r\n");
    g_assert_true(g_file_get_contents(path, &s4, NULL, NULL));
    assert_arrives(s4);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/smtp/refused-unsent-XA15", test_refused_unsent);
    g_test_add_func("/smtp/extensions-S3", test_extensions);
    g_test_add_func("/smtp/dots-S4-XA15", test_dots);
    return g_test_run();
}
