/* Submits for some seconds, as fast as it is answered, over connections that are kept:
 * smtp-load --help
 *
 * Each connection logs in once. MAIL, RCPT and DATA go in one write (RFC 2920), the message in
 * another. Anything but a positive answer ends it. */
#include "tests/bench/load.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { ROOM = 4096 };

static char *login, *password, *recipient = (char *)"";
static int recipients = 1;

static const GOptionEntry options[] = {
    {"login", 'u', 0, G_OPTION_ARG_STRING, &login, "# becomes the connection's", "LOGIN"},
    {"password", 'p', 0, G_OPTION_ARG_STRING, &password, "Of the login", "WORD"},
    {"recipient", 'r', 0, G_OPTION_ARG_STRING, &recipient, "# becomes the recipient's",
     "ADDRESS"},
    {"recipients", 'k', 0, G_OPTION_ARG_INT, &recipients, "Of each message", "N"},
    G_OPTION_ENTRY_NULL};

typedef enum { GREETING, HELLO, LOGIN, ENVELOPE, DOT, OVER } Stage;

typedef struct {
    int fd;
    guint number;
    Stage stage;
    int answers; /* still to come in this stage */
    int sent;
    GString *input;
    gint64 ended_us;
    char *sender;
} Connection;

static Connection *all;

static void
say(const Connection *connection, const GString *text)
{
    load_send(connection->fd, text->str, text->len);
}

static void
begin_message(Connection *connection)
{
    g_autoptr(GString) text = g_string_new(NULL);

    g_string_printf(text, "MAIL FROM:<%s>\r\n", connection->sender);
    for (int i = 0; i < recipients; i++) {
        g_autofree char *to = load_number(recipient, connection->number * 100 + (guint)i);

        g_string_append_printf(text, "RCPT TO:<%s>\r\n", to);
    }
    g_string_append(text, "DATA\r\n");
    connection->stage = ENVELOPE;
    connection->answers = recipients + 2;
    load_begin();
    say(connection, text);
}

static void
send_message(Connection *connection)
{
    g_autofree char *to = load_number(recipient, connection->number * 100);
    g_autofree char *message = load_message(connection->sender, to, (gsize)load.size);
    gsize length = strlen(message);

    message = g_realloc(message, length + sizeof ".\r\n");
    memcpy(message + length, ".\r\n", sizeof ".\r\n");
    connection->stage = DOT;
    connection->answers = 1;
    load_send(connection->fd, message, length + strlen(".\r\n"));
    connection->ended_us = g_get_monotonic_time();
}

static void
send_login(Connection *connection)
{
    g_autoptr(GString) text = g_string_new(NULL);
    g_autofree char *name = load_number(login, connection->number % LOAD_ACCOUNTS);
    gsize first = strlen(name), second = strlen(password);
    g_autofree guchar *plain = g_malloc0(first + second + 2);

    memcpy(plain + 1, name, first);
    memcpy(plain + first + 2, password, second);
    g_autofree char *coded = g_base64_encode(plain, first + second + 2);
    g_string_printf(text, "AUTH PLAIN %s\r\n", coded);
    connection->stage = LOGIN;
    connection->answers = 1;
    say(connection, text);
}

static void
go_on(Connection *connection)
{
    switch (connection->stage) {
    case GREETING:
        connection->stage = HELLO;
        connection->answers = 1;
        load_send(connection->fd, "EHLO bench.test\r\n", strlen("EHLO bench.test\r\n"));
        break;
    case HELLO:
        if (login != NULL)
            send_login(connection);
        else
            begin_message(connection);
        break;
    case LOGIN:
        begin_message(connection);
        break;
    case ENVELOPE:
        send_message(connection);
        break;
    case DOT:
        if (load_end(&connection->sent, connection->ended_us))
            connection->stage = OVER;
        else
            begin_message(connection);
        break;
    case OVER:
        break;
    }
}

/* One line of an answer. */
static void
take_line(Connection *connection, const char *line)
{
    if (*line != '2' && *line != '3')
        load_fail("answer", line);
    if (line[3] == '-')
        return;
    if (--connection->answers == 0)
        go_on(connection);
}

static void
take_lines(Connection *connection)
{
    char buffer[ROOM];
    ssize_t got = recv(connection->fd, buffer, sizeof buffer, 0);
    char *end;

    if (got <= 0)
        load_fail("read", got < 0 ? g_strerror(errno) : "closed");
    g_string_append_len(connection->input, buffer, got);
    while ((end = strstr(connection->input->str, "\r\n")) != NULL) {
        g_autofree char *line =
            g_strndup(connection->input->str, (gsize)(end - connection->input->str));

        g_string_erase(connection->input, 0, end + 2 - connection->input->str);
        take_line(connection, line);
    }
}

static gboolean
take_input(guint number)
{
    take_lines(&all[number]);
    return all[number].stage == OVER;
}

int
main(int argc, char **argv)
{
    load_parse(options, &argc, &argv);
    if (recipients < 1 || (login != NULL && password == NULL))
        load_fail("arguments", "--help tells what is needed");
    g_autofree int *fds = g_new0(int, load.connections);
    all = g_new0(Connection, load.connections);
    for (int i = 0; i < load.connections; i++) {
        all[i] = (Connection){.fd = load_connect(),
                              .number = (guint)i,
                              .answers = 1,
                              .input = g_string_new(NULL),
                              .sender = load_number(load.sender, (guint)i % LOAD_ACCOUNTS)};
        fds[i] = all[i].fd;
    }
    load_run(fds, take_input);
    for (int i = 0; i < load.connections; i++)
        load_send(fds[i], "QUIT\r\n", strlen("QUIT\r\n"));
    load_print();
    g_free(all);
    return EXIT_SUCCESS;
}
