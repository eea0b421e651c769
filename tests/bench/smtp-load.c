/* Submits for some seconds, as fast as it is answered, over connections that are kept:
 * smtp-load --help
 *
 * Each connection logs in once. MAIL, RCPT and DATA go in one write (RFC 2920), the message in
 * another. Anything but a positive answer ends it. */
#include "tests/bench/load.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { ROOM = 4096 };

static char *address, *login, *password, *sender = (char *)"", *recipient = (char *)"";
static int connections = 1, recipients = 1, size = 1000, most, warm_up = 2;
static double seconds = 1;

static const GOptionEntry options[] = {
    {"to", 'a', 0, G_OPTION_ARG_STRING, &address, "HOST:PORT or a unix socket", "ADDRESS"},
    {"connections", 'c', 0, G_OPTION_ARG_INT, &connections, "At once", "N"},
    {"seconds", 't', 0, G_OPTION_ARG_DOUBLE, &seconds, "How long", "S"},
    {"most", 'n', 0, G_OPTION_ARG_INT, &most, "No more messages than this", "N"},
    {"warm-up", 'w', 0, G_OPTION_ARG_INT, &warm_up, "Uncounted ones of a connection", "N"},
    {"size", 's', 0, G_OPTION_ARG_INT, &size, "Bytes of a message", "N"},
    {"login", 'u', 0, G_OPTION_ARG_STRING, &login, "# becomes the connection's", "LOGIN"},
    {"password", 'p', 0, G_OPTION_ARG_STRING, &password, "Of the login", "WORD"},
    {"sender", 'f', 0, G_OPTION_ARG_STRING, &sender, "# becomes the connection's", "ADDRESS"},
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

static Found found;
static int warm; /* connections that are */
static gint64 over_us;
static guint64 begun; /* messages */

static void
write_all(const Connection *connection, const char *bytes, gsize length)
{
    while (length > 0) {
        ssize_t written = send(connection->fd, bytes, length, MSG_NOSIGNAL);

        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            load_fail("write", g_strerror(errno));
        bytes += written;
        length -= (gsize)written;
    }
}

static void
say(const Connection *connection, const GString *text)
{
    write_all(connection, text->str, text->len);
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
    begun++;
    say(connection, text);
}

static void
send_message(Connection *connection)
{
    g_autofree char *to = load_number(recipient, connection->number * 100);
    g_autofree char *message = load_message(connection->sender, to, (gsize)size);
    gsize length = strlen(message);

    message = g_realloc(message, length + sizeof ".\r\n");
    memcpy(message + length, ".\r\n", sizeof ".\r\n");
    connection->stage = DOT;
    connection->answers = 1;
    write_all(connection, message, length + strlen(".\r\n"));
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

/* The clock begins when the last connection is warm. */
static gboolean
is_time_over(void)
{
    if (most > 0 && begun >= (guint64)most)
        return TRUE;
    return over_us != 0 && g_get_monotonic_time() >= over_us;
}

static void
end_message(Connection *connection)
{
    load_count(&found, connection->ended_us);
    if (++connection->sent == warm_up && ++warm == connections) {
        found.begun_us = found.ended_us = g_get_monotonic_time();
        over_us = found.begun_us + (gint64)(seconds * G_USEC_PER_SEC);
    }
    if (is_time_over())
        connection->stage = OVER;
    else
        begin_message(connection);
}

static void
go_on(Connection *connection)
{
    switch (connection->stage) {
    case GREETING:
        connection->stage = HELLO;
        connection->answers = 1;
        write_all(connection, "EHLO bench.test\r\n", strlen("EHLO bench.test\r\n"));
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
        end_message(connection);
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
take_input(Connection *connection)
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

static void
run(void)
{
    g_autofree struct pollfd *fds = g_new0(struct pollfd, connections);
    g_autofree Connection *all = g_new0(Connection, connections);
    int open = connections;

    for (int i = 0; i < connections; i++) {
        all[i] = (Connection){.fd = load_connect(address),
                              .number = (guint)i,
                              .answers = 1,
                              .input = g_string_new(NULL),
                              .sender = load_number(sender, (guint)i % LOAD_ACCOUNTS)};
        fds[i] = (struct pollfd){all[i].fd, POLLIN, 0};
    }
    while (open > 0) {
        if (poll(fds, (nfds_t)connections, -1) < 0 && errno != EINTR)
            load_fail("poll", g_strerror(errno));
        for (int i = 0; i < connections; i++) {
            if (fds[i].fd < 0 || fds[i].revents == 0)
                continue;
            take_input(&all[i]);
            if (all[i].stage == OVER) {
                fds[i].fd = -1;
                open--;
            }
        }
    }
    for (int i = 0; i < connections; i++)
        write_all(&all[i], "QUIT\r\n", strlen("QUIT\r\n"));
}

int
main(int argc, char **argv)
{
    g_autoptr(GOptionContext) context = g_option_context_new(NULL);
    g_autoptr(GError) error = NULL;

    g_option_context_add_main_entries(context, options, NULL);
    if (!g_option_context_parse(context, &argc, &argv, &error) || address == NULL ||
        connections < 1 || recipients < 1 || (login != NULL && password == NULL))
        load_fail("arguments", error ? error->message : "--help tells what is needed");
    found.waits = g_array_new(FALSE, FALSE, sizeof(gint64));
    run();
    load_print(&found);
    g_array_unref(found.waits);
    return EXIT_SUCCESS;
}
