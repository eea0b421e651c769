/* The SMTP client against a server that follows a script. The last word in every test is what
 * the server kept, not what the client says (C19). */
#include "relay/smtp.h"

#include <dlfcn.h>
#include <netdb.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit/smtp-server.h"

#define PATIENCE 10000
#define TEN(x)   x x x x x x x x x x

/* How far it got, and whether the server took a message (E35, E40, XC8). */
typedef struct {
    const char *name;
    Script script;
    SmtpOutcome outcome;
    SmtpStage stage;
    guint code;
    guint messages; /* that the server saw whole */
} Row;

static const Row rows[] = {
    {"all is well", {.dot = NULL}, SMTP_ACCEPTED, SMTP_STAGE_DOT, 250, 1},
    {"many lines everywhere",
     {.greeting = "220-a\r\n220 b\r\n",
      .mail = "250-a\r\n250 b\r\n",
      .rcpt = "250-a\r\n250-b\r\n250 c\r\n",
      .data = "354-a\r\n354 b\r\n",
      .dot = "250-a\r\n250 b\r\n"},
     SMTP_ACCEPTED,
     SMTP_STAGE_DOT,
     250,
     1},
    {"no house", {.greeting = "554 go away\r\n"}, SMTP_NOT_SENT, SMTP_STAGE_GREETING, 554, 0},
    {"busy", {.greeting = "421 later\r\n"}, SMTP_NOT_SENT, SMTP_STAGE_GREETING, 421, 0},
    {"closed at once", {.greeting = ACT_CLOSE}, SMTP_NOT_SENT, SMTP_STAGE_GREETING, 0, 0},
    {"no mail server",
     {.greeting = "HTTP/1.1 400\r\n"},
     SMTP_NOT_SENT,
     SMTP_STAGE_GREETING,
     0,
     0},
    {"EHLO unknown", {.ehlo = "502 what\r\n"}, SMTP_ACCEPTED, SMTP_STAGE_DOT, 250, 1},
    {"HELO refused too",
     {.ehlo = "502 what\r\n", .helo = "550 no\r\n"},
     SMTP_NOT_SENT,
     SMTP_STAGE_HELLO,
     550,
     0},
    {"EHLO later", {.ehlo = "421 later\r\n"}, SMTP_NOT_SENT, SMTP_STAGE_HELLO, 421, 0},
    {"sender later", {.mail = "451 later\r\n"}, SMTP_NOT_SENT, SMTP_STAGE_MAIL, 451, 0},
    {"sender refused", {.mail = "550 no\r\n"}, SMTP_REFUSED, SMTP_STAGE_MAIL, 550, 0},
    {"will forward",
     {.rcpt = "251 x\r\n", .rcpt2 = "252 y\r\n"},
     SMTP_ACCEPTED,
     SMTP_STAGE_DOT,
     250,
     1},
    {"first recipient refused", {.rcpt = "550 no\r\n"}, SMTP_REFUSED, SMTP_STAGE_RCPT, 550, 0},
    {"one of two refused", {.rcpt2 = "550 no\r\n"}, SMTP_REFUSED, SMTP_STAGE_RCPT, 550, 0},
    {"one of two later", {.rcpt2 = "452 full\r\n"}, SMTP_NOT_SENT, SMTP_STAGE_RCPT, 452, 0},
    {"data later", {.data = "451 later\r\n"}, SMTP_NOT_SENT, SMTP_STAGE_DATA, 451, 0},
    {"data refused", {.data = "554 no\r\n"}, SMTP_REFUSED, SMTP_STAGE_DATA, 554, 0},
    {"dropped at data", {.data = ACT_CLOSE}, SMTP_NOT_SENT, SMTP_STAGE_DATA, 0, 0},
    {"data taken for done", {.data = "250 ok\r\n"}, SMTP_NOT_SENT, SMTP_STAGE_DATA, 250, 0},
    {"two answers to one command",
     {.rcpt2 = "250 ok\r\n250 ok\r\n"},
     SMTP_NOT_SENT,
     SMTP_STAGE_DATA,
     250,
     0},
    {"reset in the body", {.body = ACT_RESET}, SMTP_NOT_SENT, SMTP_STAGE_BODY, 0, 0},
    {"closed in the body", {.body = ACT_CLOSE}, SMTP_NOT_SENT, SMTP_STAGE_BODY, 0, 0},
    {"farewell in the body", {.body = "421 bye\r\n"}, SMTP_NOT_SENT, SMTP_STAGE_BODY, 421, 0},
    {"answer before the dot", {.body = "250 ok\r\n"}, SMTP_NOT_SENT, SMTP_STAGE_BODY, 250, 0},
    {"refused after the dot", {.dot = "554 no\r\n"}, SMTP_REFUSED, SMTP_STAGE_DOT, 554, 1},
    {"later after the dot", {.dot = "451 later\r\n"}, SMTP_NOT_SENT, SMTP_STAGE_DOT, 451, 1},
    {"farewell after the dot", {.dot = "421 bye\r\n"}, SMTP_NOT_SENT, SMTP_STAGE_DOT, 421, 1},
    {"closed after the dot", {.dot = ACT_CLOSE}, SMTP_UNCERTAIN, SMTP_STAGE_DOT, 0, 1},
    {"reset after the dot", {.dot = ACT_RESET}, SMTP_UNCERTAIN, SMTP_STAGE_DOT, 0, 1},
    {"half a code", {.dot = "25" ACT_CLOSE}, SMTP_UNCERTAIN, SMTP_STAGE_DOT, 0, 1},
    {"half a reply", {.dot = "250-2.0.0 acc" ACT_CLOSE}, SMTP_UNCERTAIN, SMTP_STAGE_DOT, 0, 1},
    {"one line of two",
     {.dot = "250-2.0.0 acc\r\n" ACT_CLOSE},
     SMTP_UNCERTAIN,
     SMTP_STAGE_DOT,
     0,
     1},
    {"a line without its end",
     {.dot = "250 2.0.0 accepted" ACT_CLOSE},
     SMTP_UNCERTAIN,
     SMTP_STAGE_DOT,
     0,
     1},
    {"a lone CR for its end",
     {.dot = "250 2.0.0 accepted\r" ACT_CLOSE},
     SMTP_UNCERTAIN,
     SMTP_STAGE_DOT,
     0,
     1},
    {"accepted, then closed",
     {.dot = "250 ok\r\n" ACT_CLOSE},
     SMTP_ACCEPTED,
     SMTP_STAGE_DOT,
     250,
     1},
    {"a line that ends in LF", {.dot = "250 ok\n"}, SMTP_ACCEPTED, SMTP_STAGE_DOT, 250, 1},
    {"a code alone", {.dot = "250\r\n"}, SMTP_ACCEPTED, SMTP_STAGE_DOT, 250, 1},
    {"bytes that are not UTF-8",
     {.dot = "250 \xff\r\n"},
     SMTP_ACCEPTED,
     SMTP_STAGE_DOT,
     250,
     1},
    {"codes that differ", {.dot = "250-a\r\n550 b\r\n"}, SMTP_UNCERTAIN, SMTP_STAGE_DOT, 0, 1},
    {"codes that differ, kindly",
     {.dot = "550-a\r\n250 b\r\n"},
     SMTP_UNCERTAIN,
     SMTP_STAGE_DOT,
     0,
     1},
    {"go on, after the dot", {.dot = "354 go\r\n"}, SMTP_UNCERTAIN, SMTP_STAGE_DOT, 354, 1},
    {"a kind that is none", {.dot = "150 ok\r\n"}, SMTP_UNCERTAIN, SMTP_STAGE_DOT, 0, 1},
    {"four digits", {.dot = "2500 ok\r\n"}, SMTP_UNCERTAIN, SMTP_STAGE_DOT, 0, 1},
    {"two digits", {.dot = "25 ok\r\n"}, SMTP_UNCERTAIN, SMTP_STAGE_DOT, 0, 1},
    {"another separator", {.dot = "250_ok\r\n"}, SMTP_UNCERTAIN, SMTP_STAGE_DOT, 0, 1},
    {"an empty line", {.dot = "\r\n"}, SMTP_UNCERTAIN, SMTP_STAGE_DOT, 0, 1},
    {"a line over 2048 bytes",
     {.dot = "250 " TEN(TEN(TEN("xxx"))) "\r\n"},
     SMTP_UNCERTAIN,
     SMTP_STAGE_DOT,
     0,
     1},
    {"101 lines",
     {.dot = TEN(TEN("250-x\r\n")) "250 y\r\n"},
     SMTP_UNCERTAIN,
     SMTP_STAGE_DOT,
     0,
     1},
    {"too many lines in EHLO",
     {.ehlo = TEN(TEN("250-x\r\n")) "250 y\r\n"},
     SMTP_NOT_SENT,
     SMTP_STAGE_HELLO,
     0,
     0},
};

static gboolean
wait_for_server(gpointer data)
{
    server_wait_acted(data);
    return TRUE;
}

static void
test_row(gconstpointer data)
{
    const Row *row = data;
    g_autoptr(Server) server = server_start(&row->script, NULL, NULL, FALSE);
    g_autofree char *target = server_target(server, "127.0.0.1");
    SmtpServer settings = {.target = target, .helo = "gate.example", .timeout_ms = PATIENCE};
    g_autoptr(SmtpClient) client = smtp_new(&settings);

    const SmtpHooks hooks = {.before_dot = row->script.body != NULL ? wait_for_server : NULL,
                             .data = server};
    g_autoptr(SmtpResult) result = send_text_if(client, SENDER, RECIPIENTS, TEXT, &hooks);
    assert_result(result, row->outcome, row->stage, row->code);
    g_clear_pointer(&client, smtp_free);
    server_stop(server);
    g_assert_cmpuint(server_messages(server), ==, row->messages);
    g_assert_cmpuint(server_connections(server), ==, 1);
    if (row->stage < SMTP_STAGE_DATA)
        g_assert_null(strstr(server_commands(server), "DATA"));
    if (row->messages > 0)
        g_assert_cmpstr(server_bytes(server)->str, ==, HEAD TEXT ".\r\n");
}

/* All or none, so one that is refused is named. */
static void
test_recipient_named(void)
{
    const Script script = {.rcpt2 = "550 5.1.1 unknown\r\n"};
    g_autoptr(Server) server = server_start(&script, NULL, NULL, FALSE);
    g_autofree char *target = server_target(server, "127.0.0.1");
    SmtpServer settings = {.target = target, .helo = "gate.example", .timeout_ms = PATIENCE};
    g_autoptr(SmtpClient) client = smtp_new(&settings);
    g_autoptr(SmtpResult) result = send_text(client, SENDER, RECIPIENTS, TEXT);

    g_assert_cmpstr(result->text, ==, "<b@example.net>: 550 5.1.1 unknown");
    server_stop(server);
    g_assert_cmpuint(server_messages(server), ==, 0);
}

/* Silence: not sent before the dot, uncertain after it. */
/* FALSE: on a busy machine it was given up earlier than where the server falls silent. */
static gboolean
hang(const Row *row, guint wait_ms)
{
    g_autoptr(Server) server = server_start(&row->script, NULL, NULL, FALSE);
    g_autofree char *target = server_target(server, "127.0.0.1");
    SmtpServer settings = {.target = target, .helo = "gate.example", .timeout_ms = wait_ms};
    g_autoptr(SmtpClient) client = smtp_new(&settings);
    g_autoptr(SmtpResult) result = send_text(client, SENDER, RECIPIENTS, TEXT);
    gboolean reached = result->stage >= row->stage;

    if (reached)
        assert_result(result, row->outcome, row->stage, 0);
    server_stop(server);
    if (reached)
        g_assert_cmpuint(server_messages(server), ==, row->messages);
    return reached;
}

static void
test_silence(void)
{
    static const Row hangs[] = {
        {"", {.greeting = ACT_HANG}, SMTP_NOT_SENT, SMTP_STAGE_GREETING, 0, 0},
        {"", {.data = "354-go\r\n" ACT_HANG}, SMTP_NOT_SENT, SMTP_STAGE_DATA, 0, 0},
        {"", {.dot = ACT_HANG}, SMTP_UNCERTAIN, SMTP_STAGE_DOT, 0, 1},
        {"", {.dot = "250-half" ACT_HANG}, SMTP_UNCERTAIN, SMTP_STAGE_DOT, 0, 1},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(hangs); i++)
        for (guint wait = 250; !hang(&hangs[i], wait); wait *= 4)
            g_assert_cmpuint(wait, <, PATIENCE);
}

static gboolean
say_no(gpointer data)
{
    *(guint *)data += 1;
    return FALSE;
}

/* E34: no dot without a yes at the last moment. */
static void
test_stopped_before_dot(void)
{
    Script script = {.dot = NULL};
    g_autoptr(Server) server = server_start(&script, NULL, NULL, FALSE);
    g_autofree char *target = server_target(server, "127.0.0.1");
    SmtpServer settings = {.target = target, .helo = "gate.example", .timeout_ms = PATIENCE};
    g_autoptr(SmtpClient) client = smtp_new(&settings);
    guint asked = 0;
    const SmtpHooks hooks = {.before_dot = say_no, .data = &asked};
    g_autoptr(SmtpResult) result = send_text_if(client, SENDER, RECIPIENTS, TEXT, &hooks);

    assert_result(result, SMTP_NOT_SENT, SMTP_STAGE_BODY, 0);
    g_clear_pointer(&client, smtp_free);
    server_stop(server);
    g_assert_cmpuint(asked, ==, 1);
    g_assert_cmpuint(server_messages(server), ==, 0);
    g_assert_cmpstr(server_bytes(server)->str, ==, HEAD TEXT);
}

/* One connection for many messages; one that died while idle is replaced. */
static void
test_reuse(void)
{
    static const struct {
        Script script;
        guint connections;
    } cases[] = {
        {{.dot = NULL}, 1},
        {{.dot = "250 ok\r\n" ACT_CLOSE}, 3},
        {{.dot = "250 ok\r\n421 bye\r\n" ACT_CLOSE}, 3},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(Server) server = server_start(&cases[i].script, NULL, NULL, FALSE);
        g_autofree char *target = server_target(server, "127.0.0.1");
        SmtpServer settings = {
            .target = target, .helo = "gate.example", .timeout_ms = PATIENCE};
        g_autoptr(SmtpClient) client = smtp_new(&settings);

        for (guint j = 0; j < 3; j++) {
            g_autoptr(SmtpResult) result = send_text(client, SENDER, RECIPIENTS, TEXT);
            assert_result(result, SMTP_ACCEPTED, SMTP_STAGE_DOT, 250);
            if (cases[i].script.dot != NULL)
                server_wait_acted(server);
        }
        g_clear_pointer(&client, smtp_free);
        server_stop(server);
        g_assert_cmpuint(server_messages(server), ==, 3);
        g_assert_cmpuint(server_connections(server), ==, cases[i].connections);
    }
}

/* What an old connection says of the second message, and whether that one is sent anew. */
static void
test_old_connection(void)
{
    static const struct {
        const char *name;
        Script script;
        SmtpOutcome outcome;
        guint connections, messages;
    } cases[] = {
        /* As smtpd does when its milter was started again. */
        {"451", {.mail_again = "451 4.7.1 later\r\n"}, SMTP_ACCEPTED, 2, 2},
        {"421", {.mail_again = "421 4.4.2 bye\r\n" ACT_CLOSE}, SMTP_ACCEPTED, 2, 2},
        {"dead", {.mail_again = ACT_CLOSE}, SMTP_ACCEPTED, 2, 2},
        {"reset", {.mail_again = ACT_RESET}, SMTP_ACCEPTED, 2, 2},
        {"550", {.mail_again = "550 5.7.1 never\r\n"}, SMTP_REFUSED, 1, 1},
        /* After the dot nothing is sent again, whatever the reply (E40). */
        {"451 after the dot", {.dot_again = "451 later\r\n"}, SMTP_NOT_SENT, 1, 2},
        {"nothing after the dot", {.dot_again = ACT_CLOSE}, SMTP_UNCERTAIN, 1, 2},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(Server) server = server_start(&cases[i].script, NULL, NULL, FALSE);
        g_autofree char *target = server_target(server, "127.0.0.1");
        SmtpServer settings = {
            .target = target, .helo = "gate.example", .timeout_ms = PATIENCE};
        g_autoptr(SmtpClient) client = smtp_new(&settings);
        g_autoptr(SmtpResult) first = send_text(client, SENDER, RECIPIENTS, TEXT);
        g_autoptr(SmtpResult) second = send_text(client, SENDER, RECIPIENTS, TEXT);

        g_test_message("%s: %s", cases[i].name, second->text);
        g_assert_cmpint(first->outcome, ==, SMTP_ACCEPTED);
        g_assert_cmpint(second->outcome, ==, cases[i].outcome);
        g_clear_pointer(&client, smtp_free);
        server_stop(server);
        g_assert_cmpuint(server_messages(server), ==, cases[i].messages);
        g_assert_cmpuint(server_connections(server), ==, cases[i].connections);
    }
}

/* A second refusal, on a fresh connection, is the answer. */
static void
test_old_connection_once(void)
{
    Script script = {.mail_again = "451 later\r\n", .greeting_again = "421 busy\r\n"};
    g_autoptr(Server) server = server_start(&script, NULL, NULL, FALSE);
    g_autofree char *target = server_target(server, "127.0.0.1");
    SmtpServer settings = {.target = target, .helo = "gate.example", .timeout_ms = PATIENCE};
    g_autoptr(SmtpClient) client = smtp_new(&settings);
    g_autoptr(SmtpResult) first = send_text(client, SENDER, RECIPIENTS, TEXT);
    g_autoptr(SmtpResult) second = send_text(client, SENDER, RECIPIENTS, TEXT);

    g_assert_cmpint(first->outcome, ==, SMTP_ACCEPTED);
    assert_result(second, SMTP_NOT_SENT, SMTP_STAGE_GREETING, 421);
    g_clear_pointer(&client, smtp_free);
    server_stop(server);
    g_assert_cmpuint(server_connections(server), ==, 2);
}

static gboolean
count_dot(gpointer data)
{
    ++*(guint *)data;
    return TRUE;
}

static gboolean
take_some(const Envelope *accepted, gpointer data G_GNUC_UNUSED)
{
    const EnvelopeRecipient *recipient = accepted->recipients->pdata[0];

    g_assert_cmpuint(accepted->recipients->len, ==, 1);
    g_assert_cmpstr(recipient->address, ==, "b@example.net");
    g_assert_cmpstr(accepted->sender, ==, "s@example.com");
    return TRUE;
}

static gboolean
take_none(const Envelope *accepted G_GNUC_UNUSED, gpointer data G_GNUC_UNUSED)
{
    return FALSE;
}

/* Each recipient has its answer, whatever becomes of the message. */
static void
test_replies(void)
{
    static const struct {
        const char *rcpt, *rcpt2;
        gboolean (*some)(const Envelope *, gpointer);
        guint codes[2];
        SmtpOutcome outcome;
        SmtpStage stage;
        guint code, messages;
    } cases[] = {
        {NULL, NULL, take_none, {250, 250}, SMTP_ACCEPTED, SMTP_STAGE_DOT, 250, 1},
        {"550 no\r\n", NULL, take_some, {550, 250}, SMTP_ACCEPTED, SMTP_STAGE_DOT, 250, 1},
        {"550 no\r\n", NULL, take_none, {550, 250}, SMTP_NOT_SENT, SMTP_STAGE_RCPT, 0, 0},
        {"550 no\r\n", NULL, NULL, {550, 250}, SMTP_REFUSED, SMTP_STAGE_RCPT, 550, 0},
        {"550 no\r\n",
         "551 no\r\n",
         take_some,
         {550, 551},
         SMTP_REFUSED,
         SMTP_STAGE_RCPT,
         550,
         0},
        {"550 no\r\n",
         "450 later\r\n",
         take_some,
         {550, 450},
         SMTP_NOT_SENT,
         SMTP_STAGE_RCPT,
         450,
         0},
        {"450 later\r\n", NULL, take_some, {450, 250}, SMTP_NOT_SENT, SMTP_STAGE_RCPT, 450, 0},
        {"421 bye\r\n" ACT_CLOSE,
         NULL,
         take_some,
         {421, 0},
         SMTP_NOT_SENT,
         SMTP_STAGE_RCPT,
         421,
         0},
        {ACT_CLOSE, NULL, take_some, {0, 0}, SMTP_NOT_SENT, SMTP_STAGE_RCPT, 0, 0},
        /* What nobody asked for is no answer. */
        {"250 ok\r\n450 later\r\n",
         NULL,
         take_some,
         {250, 450},
         SMTP_NOT_SENT,
         SMTP_STAGE_RCPT,
         450,
         0},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        const Script script = {.rcpt = cases[i].rcpt, .rcpt2 = cases[i].rcpt2};
        g_autoptr(Server) server = server_start(&script, NULL, NULL, FALSE);
        g_autofree char *target = server_target(server, "127.0.0.1");
        SmtpServer settings = {
            .target = target, .helo = "gate.example", .timeout_ms = PATIENCE};
        g_autoptr(SmtpClient) client = smtp_new(&settings);
        guint dots = 0;
        const SmtpHooks hooks = {
            .some = cases[i].some, .before_dot = count_dot, .data = &dots};
        g_autoptr(SmtpResult) result = send_text_if(client, SENDER, RECIPIENTS, TEXT, &hooks);

        assert_result(result, cases[i].outcome, cases[i].stage, cases[i].code);
        for (guint j = 0; j < 2; j++) {
            const SmtpReply *reply =
                j < result->replies->len ? result->replies->pdata[j] : NULL;
            g_assert_cmpuint(reply != NULL ? reply->code : 0, ==, cases[i].codes[j]);
        }
        g_clear_pointer(&client, smtp_free);
        server_stop(server);
        g_assert_cmpuint(server_messages(server), ==, cases[i].messages);
        g_assert_cmpuint(dots, ==, cases[i].messages);
    }
}

static void
test_bad_target(void)
{
    static const char *const targets[] = {"unix:",
                                          "inet:127.0.0.1",
                                          "inet::25",
                                          "inet:127.0.0.1:",
                                          "127.0.0.1:25",
                                          "inet:no.such.host.invalid:25",
                                          ""};

    for (gsize i = 0; i < G_N_ELEMENTS(targets); i++) {
        SmtpServer settings = {.target = targets[i], .helo = "gate.example"};
        g_autoptr(SmtpClient) client = smtp_new(&settings);
        g_autoptr(SmtpResult) result = send_text(client, SENDER, RECIPIENTS, TEXT);
        assert_result(result, SMTP_NOT_SENT, SMTP_STAGE_CONNECT, 0);
    }
}

#define SILENT "127.0.0.2"

static int
look_up(const char *node, const char *service, const struct addrinfo *hints,
        struct addrinfo **list_out)
{
    int (*call)(const char *, const char *, const struct addrinfo *, struct addrinfo **);

    *(void **)&call = dlsym(RTLD_NEXT, "getaddrinfo");
    return call(node, service, hints, list_out);
}

/* The library's, but for a host that is found once, and for one of two addresses: that of
 * nobody who answers comes first. */
int
getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
            struct addrinfo **list_out)
{
    static guint asked;

    if (g_str_equal(node, "once.example"))
        return asked++ == 0 ? look_up("127.0.0.1", service, hints, list_out) : EAI_AGAIN;
    if (!g_str_equal(node, "two.example"))
        return look_up(node, service, hints, list_out);
    g_assert_cmpint(look_up(SILENT, service, hints, list_out), ==, 0);
    return look_up("127.0.0.1", service, hints, &(*list_out)->ai_next);
}

static int
open_socket(const struct addrinfo *address)
{
    return socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

/* A port at which connections are not answered any more, because too many wait: -1 ended. */
static void
keep_silent(const char *port, int fds[8])
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *address;
    gboolean answered = TRUE;

    g_assert_cmpint(look_up(SILENT, port, &hints, &address), ==, 0);
    for (guint i = 0; i < 8; i++)
        fds[i] = -1;
    fds[0] = open_socket(address);
    g_assert_cmpint(bind(fds[0], address->ai_addr, address->ai_addrlen), ==, 0);
    g_assert_cmpint(listen(fds[0], 0), ==, 0);
    for (guint i = 1; i < 8 && answered; i++) {
        struct pollfd item = {fds[i] = open_socket(address), POLLOUT, 0};

        connect(fds[i], address->ai_addr, address->ai_addrlen);
        answered = poll(&item, 1, 100) == 1;
    }
    g_assert_false(answered);
    freeaddrinfo(address);
}

/* The next address has as long as one that does not answer. */
static void
test_silent_address(void)
{
    Script script = {.dot = NULL};
    g_autoptr(Server) server = server_start(&script, NULL, NULL, FALSE);
    g_autofree char *target = server_target(server, "two.example");
    SmtpServer settings = {.target = target, .helo = "gate.example", .timeout_ms = 500};
    g_autoptr(SmtpClient) client = smtp_new(&settings);
    int fds[8];

    keep_silent(strrchr(target, ':') + 1, fds);
    g_autoptr(SmtpResult) result = send_text(client, SENDER, RECIPIENTS, TEXT);
    assert_result(result, SMTP_ACCEPTED, SMTP_STAGE_DOT, 250);
    for (guint i = 0; i < 8; i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

/* An old connection broke at MAIL, and there is no new one: that is said, and not where the
 * old one broke. */
static void
test_old_connection_gone(void)
{
    Script script = {.mail_again = ACT_CLOSE};
    g_autoptr(Server) server = server_start(&script, NULL, NULL, FALSE);
    g_autofree char *target = server_target(server, "once.example");
    SmtpServer settings = {.target = target, .helo = "gate.example", .timeout_ms = PATIENCE};
    g_autoptr(SmtpClient) client = smtp_new(&settings);
    g_autoptr(SmtpResult) first = send_text(client, SENDER, RECIPIENTS, TEXT);
    g_autoptr(SmtpResult) second = send_text(client, SENDER, RECIPIENTS, TEXT);

    g_assert_cmpint(first->outcome, ==, SMTP_ACCEPTED);
    assert_result(second, SMTP_NOT_SENT, SMTP_STAGE_CONNECT, 0);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *path = g_strconcat("/smtp/stages-E35-E40/", rows[i].name, NULL);
        g_test_add_data_func(path, &rows[i], test_row);
    }
    g_test_add_func("/smtp/the recipient that was refused", test_recipient_named);
    g_test_add_func("/smtp/silence-XC8", test_silence);
    g_test_add_func("/smtp/stopped-before-dot-E34", test_stopped_before_dot);
    g_test_add_func("/smtp/old-connection", test_old_connection);
    g_test_add_func("/smtp/old-connection-once", test_old_connection_once);
    g_test_add_func("/smtp/replies", test_replies);
    g_test_add_func("/smtp/reuse", test_reuse);
    g_test_add_func("/smtp/bad-target", test_bad_target);
    g_test_add_func("/smtp/silent-address", test_silent_address);
    g_test_add_func("/smtp/old-connection-gone", test_old_connection_gone);
    return g_test_run();
}
