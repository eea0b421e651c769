/* A report says what became of a message in exactly this form (RFC 3464), whatever it was. */
#include "relay/report.h"

#include <string.h>

#include "tests/unit/items.h"

/* Dates are local: the test has a time zone of its own. */
#define WHEN 1764460800

static const ReportHead HEAD = {
    .from = "exeat@example.com",
    .to = "box@example.com",
    .host = "mx.example.com",
    .message_id = "<exeat.abc.7@example.com>",
    .now = WHEN + 60,
};

static Item *
make(State state, const char *sender_parameter, const char *recipient, const char *parameter)
{
    const char *const sender[] = {"<agent@example.com>", sender_parameter, NULL};
    const char *const to[] = {recipient, parameter, NULL};
    Item *item = make_item("abc", "owner", state);

    item->created = WHEN;
    set(&item->message_id, "<one@example.com>");
    envelope_set_sender(item->envelope, sender);
    envelope_add_recipient(item->envelope, to, NULL);
    return item;
}

static void
test_form(void)
{
    g_autoptr(Item) item = make(STATE_HELD, "ENVID=a+2Bb", "<nora@example.org>",
                                "ORCPT=rfc822;n+2Bo@example.org");

    GString *report = report_compose(item, STATE_HELD, &HEAD);
    g_assert_cmpstr(report->str, ==,
                    "From: Exeat <exeat@example.com>\r\n"
                    "To: box@example.com\r\n"
                    "Subject: Held, not sent\r\n"
                    "Date: Sun, 30 Nov 2025 00:01:00 +0000\r\n"
                    "Message-ID: <exeat.abc.7@example.com>\r\n"
                    "In-Reply-To: <one@example.com>\r\n"
                    "Auto-Submitted: auto-replied\r\n"
                    "MIME-Version: 1.0\r\n"
                    "Content-Type: multipart/report; report-type=delivery-status;\r\n"
                    " boundary=\"=_abc\"\r\n"
                    "\r\n"
                    "--=_abc\r\n"
                    "Content-Type: text/plain; charset=us-ascii\r\n"
                    "Content-Transfer-Encoding: 7bit\r\n"
                    "\r\n"
                    "Your message is held, not sent. What becomes of it will be told.\r\n"
                    "\r\n"
                    "Item: abc\r\n"
                    "\r\n"
                    "--=_abc\r\n"
                    "Content-Type: message/delivery-status\r\n"
                    "\r\n"
                    "Reporting-MTA: dns; mx.example.com\r\n"
                    "Original-Envelope-Id: a+b\r\n"
                    "Arrival-Date: Sun, 30 Nov 2025 00:00:00 +0000\r\n"
                    "X-Exeat-Item: abc\r\n"
                    "\r\n"
                    "Original-Recipient: rfc822;n+o@example.org\r\n"
                    "Final-Recipient: rfc822; nora@example.org\r\n"
                    "Action: delayed\r\n"
                    "Status: 4.7.0\r\n"
                    "\r\n"
                    "--=_abc\r\n"
                    "Content-Type: text/rfc822-headers\r\n"
                    "\r\n"
                    "Message-ID: <one@example.com>\r\n"
                    "\r\n"
                    "--=_abc--\r\n");
    g_string_free(report, TRUE);
}

/* Whether a report has a text, or is none at all. */
static void
check(const Item *item, State told, const char *expected, const char *unexpected)
{
    GString *report = report_compose(item, told, &HEAD);

    g_assert_nonnull(report);
    g_assert_true(g_str_is_ascii(report->str));
    g_assert_nonnull(strstr(report->str, expected));
    if (unexpected != NULL)
        g_assert_null(strstr(report->str, unexpected));
    g_string_free(report, TRUE);
}

static void
test_kinds(void)
{
    static const struct {
        State state;
        const char *status;
    } KINDS[] = {
        {STATE_HELD, "Action: delayed\r\nStatus: 4.7.0\r\n"},
        {STATE_DRAFT, "Action: delayed\r\nStatus: 4.7.0\r\n"},
        {STATE_DELAYED, "Action: delayed\r\nStatus: 4.7.0\r\n"},
        {STATE_RELEASED, "Action: relayed\r\nStatus: 2.0.0\r\n"},
        {STATE_SENT, "Action: relayed\r\nStatus: 2.0.0\r\n"},
        {STATE_BY_HUMAN, "Action: relayed\r\nStatus: 2.0.0\r\n"},
        {STATE_FAILED, "Action: failed\r\nStatus: 5.0.0\r\n"},
        {STATE_REJECTED, "Action: failed\r\nStatus: 5.7.1\r\n"},
        {STATE_VETOED, "Action: failed\r\nStatus: 5.7.1\r\n"},
        {STATE_WITHDRAWN, "Action: failed\r\nStatus: 5.7.1\r\n"},
        {STATE_SUPERSEDED, "Action: failed\r\nStatus: 5.7.1\r\n"},
        {STATE_EXPIRED, "Action: failed\r\nStatus: 5.4.7\r\n"},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(KINDS); i++) {
        g_autoptr(Item) item = make(KINDS[i].state, NULL, "<nora@example.org>", NULL);

        check(item, KINDS[i].state, KINDS[i].status, NULL);
    }
}

/* What was held when it was told may be something else by now. */
static void
test_earlier(void)
{
    g_autoptr(Item) item = make(STATE_REJECTED, NULL, "<nora@example.org>", NULL);

    set(&item->why, "Not this year.");
    check(item, STATE_HELD, "held, not sent", "Not this year.");
    check(item, STATE_REJECTED, "    Not this year.\r\n", NULL);
    check(item, STATE_REJECTED, "    Agent-Supersedes: abc\r\n", NULL);
}

static void
test_replies(void)
{
    static const struct {
        const char *reply, *expected, *unexpected;
    } REPLIES[] = {
        {"550 5.1.1 no such user", "Status: 5.1.1\r\nDiagnostic-Code: smtp; 550 5.1.1 no",
         NULL},
        {"550 no such user", "Status: 5.0.0\r\nDiagnostic-Code: smtp; 550 no such user\r\n",
         NULL},
        {"550 4.1.1 odd", "Status: 5.0.0\r\n", NULL},
        {"550 5.. odd", "Status: 5.0.0\r\n", NULL},
        {"550 5.1.1\r\nX-Evil: yes", "smtp; 550 5.1.1??X-Evil: yes\r\n", "\nX-Evil"},
        {"550 5.1.1 gr\xfc\xdf", "smtp; 550 5.1.1 gr??\r\n", NULL},
        {"", "Status: 5.0.0\r\n", "Diagnostic-Code"},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(REPLIES); i++) {
        g_autoptr(Item) item = make(STATE_FAILED, NULL, "<nora@example.org>", NULL);

        set(&item->answer, REPLIES[i].reply);
        check(item, STATE_FAILED, REPLIES[i].expected, REPLIES[i].unexpected);
    }
}

static void
reply(Item *item, guint first, const char *text, guint second, const char *other)
{
    g_clear_pointer(&item->replies, g_variant_unref);
    item->replies = g_variant_ref_sink(
        g_variant_new_parsed("[(%u, %s), (%u, %s)]", first, text, second, other));
}

/* RFC 3464, 2.3: each recipient has a fate of its own. */
static void
test_partly(void)
{
    g_autoptr(Item) item = make(STATE_SENT, NULL, "<a@example.org>", NULL);
    const char *const other[] = {"<b@example.org>", NULL};
    const char *const failures[] = {"<c@example.org>", "NOTIFY=FAILURE", NULL};

    envelope_add_recipient(item->envelope, other, NULL);
    reply(item, 250, "250 ok", 250, "250 ok");
    check(item, STATE_SENT, "Subject: Sent\r\n", "failed");
    reply(item, 250, "250 ok", 550, "550 5.1.1 no such user");
    check(item, STATE_SENT, "Subject: Sent, but not to all\r\n", NULL);
    check(item, STATE_SENT,
          "Final-Recipient: rfc822; a@example.org\r\nAction: relayed\r\nStatus: 2.0.0\r\n\r\n"
          "Final-Recipient: rfc822; b@example.org\r\nAction: failed\r\nStatus: 5.1.1\r\n"
          "Diagnostic-Code: smtp; 550 5.1.1 no such user\r\n",
          NULL);

    /* Who only wants to hear of failures hears of this one. */
    g_autoptr(Item) quiet = make(STATE_SENT, NULL, "<a@example.org>", "NOTIFY=FAILURE");
    envelope_add_recipient(quiet->envelope, failures, NULL);
    reply(quiet, 250, "250 ok", 250, "250 ok");
    g_assert_null(report_compose(quiet, STATE_SENT, &HEAD));
    reply(quiet, 250, "250 ok", 550, "550 no");
    check(quiet, STATE_SENT, "Final-Recipient: rfc822; c@example.org\r\nAction: failed\r\n",
          "a@example.org");

    /* All failed, each for its own reason. */
    item->state = STATE_FAILED;
    set(&item->answer, "<a@example.org>: 550 5.1.2 bad host");
    reply(item, 550, "550 5.1.2 bad host", 551, "551 5.1.6 moved");
    check(item, STATE_FAILED, "Status: 5.1.2\r\n", NULL);
    check(item, STATE_FAILED, "Status: 5.1.6\r\nDiagnostic-Code: smtp; 551 5.1.6 moved\r\n",
          NULL);
}

static void
test_notify(void)
{
    static const struct {
        const char *parameter;
        State told;
        gboolean wanted;
    } CASES[] = {
        {"NOTIFY=NEVER", STATE_HELD, FALSE},
        {"notify=never", STATE_REJECTED, FALSE},
        {"NOTIFY=SUCCESS", STATE_HELD, FALSE},
        {"NOTIFY=SUCCESS", STATE_SENT, TRUE},
        {"NOTIFY=FAILURE,DELAY", STATE_HELD, TRUE},
        {"NOTIFY=FAILURE,DELAY", STATE_EXPIRED, TRUE},
        {"NOTIFY=FAILURE,DELAY", STATE_RELEASED, FALSE},
        {"NOTIFYING=NEVER", STATE_HELD, TRUE},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(CASES); i++) {
        g_autoptr(Item) item =
            make(CASES[i].told, NULL, "<nora@example.org>", CASES[i].parameter);
        GString *report = report_compose(item, CASES[i].told, &HEAD);

        g_assert_cmpint(report != NULL, ==, CASES[i].wanted);
        if (report != NULL)
            g_string_free(report, TRUE);
    }
}

/* Nothing that the agent chose becomes a field. */
static void
test_hostile(void)
{
    static const struct {
        const char *sender_parameter, *recipient, *parameter, *message_id, *expected;
    } CASES[] = {
        {"ENVID=a+0D+0AX-Evil:+20yes", "<nora@example.org>", NULL, "<a@b>",
         "abc\r\n\r\nFinal"},
        {"ENVID=a+00b", "<nora@example.org>", NULL, "<a@b>", "dns; mx.example.com\r\nArrival"},
        {"ENVID=+", "<nora@example.org>", NULL, "<a@b>", "dns; mx.example.com\r\nArrival"},
        {NULL, "<nora@example.org>", "ORCPT=rfc822;a+0AX-Evil:+20b", "<a@b>", "\r\n\r\nFinal"},
        {NULL, "<nora@example.org>", NULL, "<a\r\nX-Evil: b>", "headers\r\n\r\n\r\n--=_abc--"},
        {NULL, "<b\xc3\xb6\\b@example.org>", NULL, "<a@b>",
         "Final-Recipient: utf-8; b\\x{F6}\\x{5C}b@example.org\r\n"},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(CASES); i++) {
        g_autoptr(Item) item = make(STATE_HELD, CASES[i].sender_parameter, CASES[i].recipient,
                                    CASES[i].parameter);

        set(&item->message_id, CASES[i].message_id);
        check(item, STATE_HELD, CASES[i].expected, "\nX-Evil");
    }
}

int
main(int argc, char **argv)
{
    g_setenv("TZ", "UTC", TRUE);
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/report/form", test_form);
    g_test_add_func("/report/kinds XF21", test_kinds);
    g_test_add_func("/report/earlier A17", test_earlier);
    g_test_add_func("/report/replies", test_replies);
    g_test_add_func("/report/notify", test_notify);
    g_test_add_func("/report/partly", test_partly);
    g_test_add_func("/report/hostile XA13", test_hostile);
    return g_test_run();
}
