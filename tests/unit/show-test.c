/* What an approver sees of an item, from the command's own output. The relay is played by a
 * thread. */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sysexits.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "cli/command.h"
#include "lib/wire.h"

typedef struct {
    char *folder;
    char *socket;
    int listener;
    const char *verb; /* of the answer to every question */
    GVariant *answer;
    char *question; /* as "verb|id|digest|reason" */
    GThread *thread;
} Relay;

static gpointer
play_relay(gpointer data)
{
    Relay *relay = data;
    g_autoptr(GError) error = NULL;
    g_autoptr(Wire) wire = wire_new(accept(relay->listener, NULL, NULL));
    g_autoptr(GVariant) arguments = NULL;
    g_autofree char *verb = NULL;

    wire_receive(wire, WIRE_LIMIT_PEOPLE, 5000, &verb, &arguments, NULL, &error);
    g_assert_no_error(error);
    relay->question =
        g_strjoin("|", verb, answer_text(arguments, "id"), answer_text(arguments, "digest"),
                  answer_text(arguments, "reason"), NULL);
    wire_send(wire, relay->verb, relay->answer, -1, 5000, &error);
    g_assert_no_error(error);
    return NULL;
}

static void
relay_begin(Relay *relay, const char *verb, const char *answer)
{
    g_autoptr(GError) error = NULL;

    *relay = (Relay){.verb = verb, .folder = g_dir_make_tmp("exeat-show-XXXXXX", &error)};
    g_assert_no_error(error);
    relay->socket = g_build_filename(relay->folder, "s", NULL);
    relay->listener = wire_listen(relay->socket, 0600, &error);
    g_assert_no_error(error);
    relay->answer = g_variant_parse(G_VARIANT_TYPE("a{sv}"), answer, NULL, NULL, &error);
    g_assert_no_error(error);
    relay->thread = g_thread_new("relay", play_relay, relay);
}

static void
relay_end(Relay *relay)
{
    g_autofree char *lock = g_strconcat(relay->socket, ".lock", NULL);

    close(relay->listener);
    g_unlink(relay->socket);
    g_unlink(lock);
    g_assert_cmpint(g_rmdir(relay->folder), ==, 0);
    g_variant_unref(relay->answer);
    g_free(relay->question);
    g_free(relay->socket);
    g_free(relay->folder);
}

/* Runs a command and returns what it wrote to standard output. */
static char *
capture(int (*command)(const Session *, char **), const Session *session, char **words,
        int *status_out)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *path = NULL;
    char *text = NULL;
    int file = g_file_open_tmp("exeat-show-XXXXXX", &path, &error);
    int kept = dup(STDOUT_FILENO);

    g_assert_no_error(error);
    fflush(stdout);
    dup2(file, STDOUT_FILENO);
    *status_out = command(session, words);
    fflush(stdout);
    dup2(kept, STDOUT_FILENO);
    close(kept);
    close(file);
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    g_unlink(path);
    return text;
}

static char *
run(int (*command)(const Session *, char **), char **words, const char *verb,
    const char *answer, const char *question, int status)
{
    Relay relay;
    int got;

    relay_begin(&relay, verb, answer);
    const Session session = {.socket = relay.socket};
    char *text = capture(command, &session, words, &got);
    g_thread_join(relay.thread);
    g_assert_cmpint(got, ==, status);
    g_assert_cmpstr(relay.question, ==, question);
    relay_end(&relay);
    return text;
}

#define RECIPIENTS                                                                            \
    "'recipients': <[{'address': <'mallory@exаmple.org'>, "                                  \
    "'normal': <'mallory@xn--exmple-4nf.org'>, 'external': <true>, 'known': <false>, "        \
    "'parameters': <['NOTIFY=NEVER', 'ORCPT=rfc822;eve@example.net']>}, "                     \
    "{'address': <'\"x@example.com  known\"@example.org'>, 'external': <true>}, "             \
    "{'address': <'bob@example.com'>, 'normal': <'bob@example.com'>, 'external': <false>, "   \
    "'known': <true>}]>"
#define ITEM(more)                                                                            \
    "{'id': <'k3j9x0a1b2c3'>, 'state': <'held'>, 'account': <'box'>, 'login': <'agent'>, "    \
    "'digest': <'3f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'>, "        \
    "'tier': <'hold'>, 'reason': <'first contact'>, 'line': <uint32 4>, 'file': "             \
    "<'/etc/exeat/standard'>, "                                                               \
    "'policy': <'9f86d081884c7d65'>, " RECIPIENTS more "}"

/* Texts that must be there, in this order, and one that must not. */
typedef struct {
    const char *name;
    const char *item;
    const char *shown[7];
    const char *never;
} Preview;

static const Preview PREVIEWS[] = {
    {"recipients E16 XD7 XD9 XA13",
     ITEM(", 'hidden': <['bob@example.com']>"),
     {"Recipients: 3 (2 never written to, 2 external)\n",
      "  never written to, external  mallory@exаmple.org\n", "is mallory@xn--exmple-4nf.org\n",
      "NOTIFY=NEVER, ORCPT=rfc822;eve@example.net\n",
      "  never written to, external  \"x@example.com  known\"@example.org\n",
      "  known                       bob@example.com\n", "not named in To or Cc\n"},
     NULL},
    {"fields E8 E14 E15 E19 E20 E55",
     ITEM(", 'from': <['owner@example.com']>, 'sender': <'owner@example.com'>, "
          "'sender_parameters': <['RET=HDRS']>"),
     {"\nAction:        send mail\n", "\nAccount:       box (login agent)\n",
      "\nFrom:          owner@example.com\n",
      "\nSender:        <owner@example.com> RET=HDRS\n", "\nAttachments:   none\n",
      "\nVerdict:       hold: first contact (standard, line 4 of policy 9f",
      "\nReversible:    no. Delivered mail cannot be recalled.\n"},
     NULL},
    {"subject E17",
     ITEM(", 'subject': <'Grüße\\u001b[2J'>"),
     {"\nSubject:       Grüße\\u{001B}[2J\n"},
     "\x1b"},
    {"attachments E19 XD12",
     ITEM(
         ", 'parts': <[{'name': <'invoice\\u202efdp.exe'>, 'type': <'application/pdf'>, "
         "'size': <uint64 99>, 'sha256': <'abc'>}, {'name': <''>, 'type': <'message/rfc822'>, "
         "'size': <uint64 7>, 'sha256': <'def'>}]>"),
     {"Attachments:   invoice\\u{202E}fdp.exe, application/pdf, 99 bytes, sha256 abc\n",
      "               (no name), message/rfc822, 7 bytes, sha256 def\n"},
     "\xe2\x80\xae"},
    {"facts B9",
     ITEM(", 'facts': <{'novel': <int64 1>, 'forward': <true>, 'locked': <false>}>, "
          "'unknown': <['lookalike']>"),
     {"Facts:         recipients unknown, external unknown, novel 1,", "\n               ",
      "forward yes,", "lookalike unknown,", "locked no,", "loop unknown\n"},
     "lookalike\n"},
    {"claims A23 C1 B13",
     ITEM(", 'claims': <{'Agent-Rationale': 'the owner agreed\\nState: approved'}>"),
     {"\nThe agent claims, and nobody has checked:\n",
      "  Agent-Rationale: the owner agreed\\u{000A}State: approved\n",
      "\nState:         held\n"},
     "\nState: approved"},
    {"instead B21",
     ITEM(", 'instead_of': <'abc'>, 'instead_state': <'rejected'>, "
          "'instead_why': <'Not this year.\\u202e'>"),
     {"\nIn place of:   abc, rejected: Not this year.\\u{202E}\n", "\nState:         held\n"},
     "\xe2\x80\xae"},
    {"text A32 E18 XD4 XD17",
     ITEM(", 'text': <'Hi\\r\\nexeat approve x y\\n\\u001b[2Jend'>"),
     {"\nText: 3 lines\n| Hi\n| exeat approve x y\n| \\u{001B}[2Jend\n",
      "\nexeat approve k3j9x0a1b2c3 3f86d081884c7d65\n", "\nexeat reject k3j9x0a1b2c3 '"},
     "\x1b"},
    {"same HTML",
     ITEM(", 'text': <'Pay  now\\n'>, 'html': <' Pay\\nnow'>, 'differs': <false>"),
     {"Text: 1 line\n"},
     "HTML"},
    {"other HTML XD1 B12",
     ITEM(", 'text': <'Hello\\n'>, 'html': <'Pay\\nnow'>, 'differs': <true>"),
     {"\nText: 1 line\n| Hello\n",
      "\nThe HTML part says something else than the text: 2 lines\n| Pay\n| now\n"},
     NULL},
    {"no text",
     ITEM(", 'html': <'Pay now'>"),
     {"\nThe message is HTML; as text it says: 1 line\n| Pay now\n"},
     "Text: "},
    {"text that was cut E18 XD5",
     ITEM(", 'text': <'Hello'>, 'opaque': <['text longer than 2 MiB']>"),
     {"\n| Hello\n\nThis is not all: text longer than 2 MiB. The rest is not shown.\n",
      "\nexeat approve"},
     NULL},
    {"invited XB22",
     ITEM(", 'attendees': <['lee@example.net', 'm\\u001b@example.net']>"),
     {"\nInvites:       lee@example.net\n               m\\u{001B}@example.net\n"},
     "\x1b"},
    {"a name in From XD8",
     ITEM(", 'from': <['a@example.com']>, 'from_field': <'The \u202eBank <a@example.com>'>"),
     {"\nFrom:          a@example.com\nFrom field:    The \\u{202E}Bank <a@example.com>\n"},
     "\u202e"},
    {"outside of its conversation",
     "{'facts': <{'in_thread': <true>}>, 'recipients': <[{'address': <'a@example.com'>, "
     "'outside': <true>}]>}",
     {"a@example.com\n", "not in this conversation\n"},
     NULL},
    {"in no conversation",
     "{'facts': <{'in_thread': <false>}>, 'recipients': <[{'address': <'a@example.com'>, "
     "'outside': <true>}]>}",
     {"a@example.com\n"},
     "conversation"},
    {"no name in From",
     ITEM(", 'from': <['a@example.com']>, 'from_field': <'a@example.com'>"),
     {"\nFrom:          a@example.com\nSender:"},
     "From field"},
    {"an empty answer",
     "@a{sv} {}",
     {"Recipients: 0 (0 never", "Attachments:   none\n", "Text: 0 lines\n"},
     "exeat approve"},
};

static void
test_preview(gconstpointer data)
{
    const Preview *row = data;
    char *words[] = {(char *)"k3j9x0a1b2c3", NULL};
    g_autofree char *text =
        run(cmd_show, words, "ok", row->item, "show|k3j9x0a1b2c3||", EX_OK);
    const char *from = text;

    for (gsize i = 0; i < G_N_ELEMENTS(row->shown) && row->shown[i] != NULL; i++) {
        const char *found = strstr(from, row->shown[i]);
        if (found == NULL)
            g_error("“%s” is not in “%s”", row->shown[i], from);
        from = found;
    }
    if (row->never != NULL)
        g_assert_null(strstr(text, row->never));
}

/* XD6: a long subject is cut, after the recipients and with its length. */
static void
test_long_subject(void)
{
    char *words[] = {(char *)"k", NULL};
    g_autofree char *subject = g_strnfill(10000, 's');
    g_autofree char *item =
        g_strconcat("{'subject': <'", subject, "'>, " RECIPIENTS "}", NULL);
    g_autofree char *text = run(cmd_show, words, "ok", item, "show|k||", EX_OK);

    g_assert_nonnull(strstr(text, "ssss… (10000 characters)\n"));
    g_assert_cmpuint(strlen(text), <, 2000);
    g_assert_cmpuint(strstr(text, "mallory") - text, <, strstr(text, "Subject:") - text);
}

#define LINE(id, state, more)                                                                 \
    "{'id': <'" id "'>, 'state': <'" state "'>, 'tier': <'hold'>, 'subject': <'Re: offer'>, " \
    "'reason': <'first contact'>, 'to': <['somebody.long@example.org']>" more "}"

/* D2: what waits for a person, what leaves, what is parked and what went wrong stand apart,
 * and an address is not cut as long as a reason can be. */
static void
test_list(void)
{
    char *words[] = {NULL};
    g_autofree char *text =
        run(cmd_list, words, "ok",
            "{'items': <[" LINE("a", "held", "") "," LINE(
                "b", "held",
                ", 'why': <'no approval any more'>, 'answer': <'no route\\u001b'>") "," //
            LINE("c", "delayed", "") "," LINE("d", "draft", ", 'why': <'draft'>") ","   //
            LINE("e", "uncertain", "") "," LINE("f", "failed", ", 'why': <'550 no'>") "]>}",
            "list|||", EX_OK);
    static const char *const SHOWN[] = {
        "\n\nWaiting for you:\na ",
        "somebody.long@example.org ",
        "first contact\n",
        "\nb ",
        "no approval any more; the next hop: no route\\u{001B}\n",
        "\n\nLeaving, unless somebody vetoes it:\nc ",
        "\n\nParked, nobody is asked:\nd ",
        "first contact\n",
        "\n\nDid not leave, or nobody knows:\ne ",
        "\nf ",
        "550 no\n"};
    const char *from = text;

    for (gsize i = 0; i < G_N_ELEMENTS(SHOWN); i++) {
        const char *found = strstr(from, SHOWN[i]);
        if (found == NULL)
            g_error("“%s” is not in “%s”", SHOWN[i], from);
        from = found;
    }
}

/* XD7: a hundred recipients, and none is left out. */
static void
test_many_recipients(void)
{
    char *words[] = {(char *)"k", NULL};
    g_autoptr(GString) item = g_string_new("{'recipients': <[");

    for (guint i = 0; i < 100; i++)
        g_string_append_printf(item, "%s{'address': <'r%u@example.org'>}", i > 0 ? "," : "",
                               i);
    g_string_append(item, "]>}");
    g_autofree char *text = run(cmd_show, words, "ok", item->str, "show|k||", EX_OK);
    for (guint i = 0; i < 100; i++) {
        g_autofree char *address = g_strdup_printf("  r%u@example.org\n", i);
        g_assert_nonnull(strstr(text, address));
    }
}

/* What the relay answers becomes an exit status; what a person may not type is never sent. */
static void
test_decisions(void)
{
    static const struct {
        const char *code;
        int status;
    } CODES[] = {{"usage", EX_USAGE},      {"not-found", EX_NOINPUT},  {"denied", EX_NOPERM},
                 {"conflict", EX_DATAERR}, {"temporary", EX_TEMPFAIL}, {"news", EX_TEMPFAIL}};
    char *words[] = {(char *)"k", (char *)"3F86d081", NULL};
    char *reason[] = {(char *)"k", (char *)"ask", (char *)"me first", NULL};
    const char *question = "approve|k|3F86d081|";

    g_autofree char *done =
        run(cmd_approve, words, "ok", "{'state': <'approved'>}", question, EX_OK);
    g_assert_cmpstr(done, ==, "k: approved\n");
    g_autofree char *rejected = run(cmd_reject, reason, "ok", "{'state': <'rejected'>}",
                                    "reject|k||ask me first", EX_OK);
    g_assert_cmpstr(rejected, ==, "k: rejected\n");
    for (gsize i = 0; i < G_N_ELEMENTS(CODES); i++) {
        g_autofree char *answer =
            g_strdup_printf("{'code': <'%s'>, 'message': <'no'>}", CODES[i].code);
        g_autofree char *text =
            run(cmd_approve, words, "error", answer, question, CODES[i].status);
        g_assert_cmpstr(text, ==, "");
    }
}

/* XC21: without a relay to ask, these end before a connection is tried. */
static void
test_misuse(void)
{
    static const char *const DIGESTS[] = {"", "3f86d08", "3f86d081g", "3f86d081 ", "--------"};
    const Session session = {.socket = "/nonexistent/exeat"};
    char *blank[] = {(char *)"k", (char *)"  ", NULL};
    char *two_lines[] = {(char *)"k", (char *)"a\nb", NULL};
    char *good[] = {(char *)"k", (char *)"3f86d081", NULL};

    for (gsize i = 0; i < G_N_ELEMENTS(DIGESTS); i++) {
        char *words[] = {(char *)"k", (char *)DIGESTS[i], NULL};
        g_assert_cmpint(cmd_approve(&session, words), ==, EX_USAGE);
    }
    g_assert_cmpint(cmd_reject(&session, blank), ==, EX_USAGE);
    g_assert_cmpint(cmd_reject(&session, two_lines), ==, EX_USAGE);
    g_assert_cmpint(cmd_approve(&session, good), ==, EX_TEMPFAIL);
}

int
main(int argc, char **argv)
{
    g_setenv("COLUMNS", "140", TRUE);
    g_test_init(&argc, &argv, NULL);
    for (gsize i = 0; i < G_N_ELEMENTS(PREVIEWS); i++) {
        g_autofree char *path = g_strconcat("/show/", PREVIEWS[i].name, NULL);
        g_test_add_data_func(path, &PREVIEWS[i], test_preview);
    }
    g_test_add_func("/show/long-subject XD6", test_long_subject);
    g_test_add_func("/list/groups D2", test_list);
    g_test_add_func("/show/many-recipients XD7", test_many_recipients);
    g_test_add_func("/decide/answers", test_decisions);
    g_test_add_func("/decide/misuse XC21", test_misuse);
    return g_test_run();
}
