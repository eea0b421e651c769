/* mail-report-test - what mail servers report about a delivery (RFC 3464, RFC 6522) */
#include "lib/mail.h"

#include "tests/unit/mail-messages.h"

#define REPORT(STATUS, REST)                                                                  \
    "MIME-Version: 1.0\n"                                                                     \
    "Content-Type: multipart/report; report-type=delivery-status; boundary=b\n\n"             \
    "--b\nContent-Type: text/plain\n\nIt could not be delivered.\n"                           \
    "--b\nContent-Type: message/delivery-status\n\n" STATUS "\n" REST "--b--\n"
#define WHOLE   "Reporting-MTA: dns; mx.example.org\n\n"
#define HEADERS "--b\nContent-Type: text/rfc822-headers\n\nMessage-ID: <a@x>\nSubject: s\n"

static const struct {
    const char *name;
    const char *rest; /* of the message */
    const char *bounced, *returned;
} rows[] = {
    {"no report", "\nAction: failed\n", "", ""},
    {"failed",
     REPORT(WHOLE "Final-Recipient: rfc822; Nora@Example.ORG\nAction: failed\nStatus: 5.1.1\n",
            HEADERS),
     "nora@example.org", "<a@x>"},
    {"two recipients",
     REPORT(WHOLE "Final-Recipient: rfc822; nora@example.org\nAction: failed\n\n"
                  "Final-Recipient: rfc822;lee@example.net\nAction: Failed (policy)\n",
            ""),
     "nora@example.org lee@example.net", ""},
    {"another address behind the one written to",
     REPORT(WHOLE "Original-Recipient: rfc822;nora@example.org\n"
                  "Final-Recipient: rfc822;n@mail.example.org\nAction: failed\n",
            ""),
     "nora@example.org n@mail.example.org", ""},
    {"only late",
     REPORT(WHOLE "Final-Recipient: rfc822; nora@example.org\nAction: delayed\n", HEADERS), "",
     "<a@x>"},
    {"relayed",
     REPORT(WHOLE "Final-Recipient: rfc822; nora@example.org\nAction: relayed\n", ""), "", ""},
    {"no type before the address",
     REPORT(WHOLE "Final-Recipient: nora@example.org\nAction: failed\n", ""), "", ""},
    {"no address", REPORT(WHOLE "Final-Recipient: rfc822; nobody\nAction: failed\n", ""), "",
     ""},
    {"nothing in it", REPORT("", ""), "", ""},
    {"the whole message came back",
     REPORT(WHOLE "Final-Recipient: rfc822; nora@example.org\nAction: failed\n",
            "--b\nContent-Type: message/rfc822\n\nMessage-ID: <a@x>\n\nHello.\n"),
     "nora@example.org", "<a@x>"},
    {"a report that somebody attached",
     "Content-Type: message/rfc822\n\nMessage-ID: <b@x>\n" REPORT(
         WHOLE "Final-Recipient: rfc822; nora@example.org\nAction: failed\n", HEADERS),
     "", "<b@x>"},
};

static void
test_row(gconstpointer data)
{
    gsize i = GPOINTER_TO_SIZE(data);
    g_autoptr(Extract) extract = read_message(rows[i].rest);
    g_autofree char *bounced = g_strjoinv(" ", extract->bounced);
    g_autofree char *returned = g_strjoinv(" ", extract->returned);

    g_assert_cmpstr(bounced, ==, rows[i].bounced);
    g_assert_cmpstr(returned, ==, rows[i].returned);
}

/* A stranger decides how long a report is. */
static void
test_limit(void)
{
    g_autoptr(GString) status = g_string_new("Content-Type: message/delivery-status\n\n");

    for (guint i = 0; i < 5000; i++)
        g_string_append_printf(
            status, "\nFinal-Recipient: rfc822; n%u@example.org\nAction: failed\n", i);
    g_autoptr(Extract) extract = read_message(status->str);
    g_assert_cmpuint(g_strv_length(extract->bounced), ==, 100);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    mail_start();
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *path = g_strdup_printf("/mail-report/%s", rows[i].name);
        g_test_add_data_func(path, GSIZE_TO_POINTER(i), test_row);
    }
    g_test_add_func("/mail-report/limit", test_limit);
    return g_test_run();
}
