/* What a mail server asks a milter, without the mail server: milter-load --help
 *
 * Speaks the milter protocol, version 6, over kept connections. Every step that the milter
 * negotiated away is left out; steps without an answer go out together with the next one that
 * has one. With --idle it only connects, prints its line, and
 * waits for the end of its input. */
#include "tests/bench/load.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ROOM = 16 * 1024, CHUNK = 65535 };

/* As in libmilter/mfdef.h, which is not always installed. */
enum {
    VERSION = 6,
    ACTIONS = 0x1ff,
    STEPS = 0x1fffff,
    NO_HELO = 0x02,
    NO_BODY = 0x10,
    NO_HEADERS = 0x20,
    NO_EOH = 0x40,
    QUIET_HEADER = 0x80,
    NO_DATA = 0x200,
    QUIET_CONNECT = 0x1000,
    QUIET_HELO = 0x2000,
    QUIET_MAIL = 0x4000,
    QUIET_RCPT = 0x8000,
    QUIET_DATA = 0x10000,
    QUIET_EOH = 0x40000,
    QUIET_BODY = 0x80000
};

static char *login = (char *)"", *recipient = (char *)"";
static gboolean idle, trouble;

static const GOptionEntry options[] = {
    {"login", 'u', 0, G_OPTION_ARG_STRING, &login, "# becomes the connection's", "LOGIN"},
    {"recipient", 'r', 0, G_OPTION_ARG_STRING, &recipient, "# becomes the connection's",
     "ADDRESS"},
    {"trouble", 'y', 0, G_OPTION_ARG_NONE, &trouble, "Take 451 for an answer", NULL},
    {"idle", 'i', 0, G_OPTION_ARG_NONE, &idle, "Only connect, until the input ends", NULL},
    G_OPTION_ENTRY_NULL};

typedef enum { NEGOTIATE, CONNECT, HELO, MAIL, RCPT, DATA, HEADER, EOH, BODY, EOM } Stage;

typedef struct {
    int fd;
    Stage stage; /* whose answer is waited for */
    gboolean over;
    guint32 steps;
    char *login, *sender, *recipient, *message;
    char *next; /* of the message */
    GByteArray *output, *input;
    int sent;
    gint64 ended_us;
} Connection;

static Connection *all;

/* Packets. Texts end in a zero byte, which is sent. */

static void
add_packet(Connection *connection, char command, const void *bytes, gsize length)
{
    guint32 prefix = GUINT32_TO_BE((guint32)length + 1);

    g_byte_array_append(connection->output, (const guint8 *)&prefix, sizeof prefix);
    g_byte_array_append(connection->output, (const guint8 *)&command, 1);
    g_byte_array_append(connection->output, bytes, (guint)length);
}

static void
add_texts(Connection *connection, char command, char first, const char *const *texts)
{
    g_autoptr(GByteArray) bytes = g_byte_array_new();

    if (first != '\0')
        g_byte_array_append(bytes, (const guint8 *)&first, 1);
    for (; *texts != NULL; texts++)
        g_byte_array_append(bytes, (const guint8 *)*texts, (guint)strlen(*texts) + 1);
    add_packet(connection, command, bytes->data, bytes->len);
}

static void
add_numbers(Connection *connection)
{
    const guint32 numbers[] = {GUINT32_TO_BE(VERSION), GUINT32_TO_BE(ACTIONS),
                               GUINT32_TO_BE(STEPS)};

    add_packet(connection, 'O', numbers, sizeof numbers);
}

static void
flush(Connection *connection)
{
    load_send(connection->fd, connection->output->data, connection->output->len);
    g_byte_array_set_size(connection->output, 0);
}

/* Steps. Each adds its packets and tells whether an answer comes. */

static gboolean
has_answer(const Connection *connection, guint32 quiet)
{
    return (connection->steps & quiet) == 0;
}

static gboolean
say_connect(Connection *connection)
{
    const char *macros[] = {
        "j", "mx.bench.test", "{daemon_name}", "BENCH", "{client_addr}", "127.0.0.1", NULL};
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    const guint16 port = GUINT16_TO_BE(1025);

    add_texts(connection, 'D', 'C', macros);
    g_byte_array_append(bytes,
                        (const guint8 *)"bench.test\0"
                                        "4",
                        12);
    g_byte_array_append(bytes, (const guint8 *)&port, sizeof port);
    g_byte_array_append(bytes, (const guint8 *)"127.0.0.1", 10);
    add_packet(connection, 'C', bytes->data, bytes->len);
    return has_answer(connection, QUIET_CONNECT);
}

static gboolean
say_helo(Connection *connection)
{
    const char *texts[] = {"bench.test", NULL};

    if (connection->steps & NO_HELO)
        return FALSE;
    add_texts(connection, 'H', '\0', texts);
    return has_answer(connection, QUIET_HELO);
}

static gboolean
say_mail(Connection *connection)
{
    g_autofree char *id = g_strdup_printf("%08X", g_random_int());
    g_autofree char *path = g_strdup_printf("<%s>", connection->sender);
    const char *macros[] = {"i",
                            id,
                            "{auth_type}",
                            "PLAIN",
                            "{auth_authen}",
                            connection->login,
                            "{mail_addr}",
                            connection->sender,
                            NULL};
    const char *texts[] = {path, NULL};

    load_begin();
    g_free(connection->message);
    connection->message =
        load_message(connection->sender, connection->recipient, (gsize)load.size);
    connection->next = connection->message;
    add_texts(connection, 'D', 'M', macros);
    add_texts(connection, 'M', '\0', texts);
    return has_answer(connection, QUIET_MAIL);
}

static gboolean
say_rcpt(Connection *connection)
{
    g_autofree char *path = g_strdup_printf("<%s>", connection->recipient);
    const char *macros[] = {"{rcpt_addr}", connection->recipient, "{rcpt_host}",
                            "bench.test",  "{rcpt_mailer}",       "smtp",
                            NULL};
    const char *texts[] = {path, NULL};

    add_texts(connection, 'D', 'R', macros);
    add_texts(connection, 'R', '\0', texts);
    return has_answer(connection, QUIET_RCPT);
}

static gboolean
say_data(Connection *connection)
{
    if (connection->steps & NO_DATA)
        return FALSE;
    add_packet(connection, 'T', "", 0);
    return has_answer(connection, QUIET_DATA);
}

/* One field; *more_out FALSE after the last. */
static gboolean
say_header(Connection *connection, gboolean *more_out)
{
    char *end = strstr(connection->next, "\r\n");
    g_autofree char *field = g_strndup(connection->next, (gsize)(end - connection->next));
    char *colon = strchr(field, ':');

    *more_out = colon != NULL;
    connection->next = end + 2;
    if (colon == NULL || (connection->steps & NO_HEADERS))
        return FALSE;
    *colon = '\0';
    const char *texts[] = {field, colon + 1, NULL};
    add_texts(connection, 'L', '\0', texts);
    return has_answer(connection, QUIET_HEADER);
}

static gboolean
say_eoh(Connection *connection)
{
    if (connection->steps & NO_EOH)
        return FALSE;
    add_packet(connection, 'N', "", 0);
    return has_answer(connection, QUIET_EOH);
}

static gboolean
say_body(Connection *connection, gboolean *more_out)
{
    gsize length = MIN(strlen(connection->next), CHUNK);

    *more_out = length > 0;
    if (length == 0 || (connection->steps & NO_BODY))
        return FALSE;
    add_packet(connection, 'B', connection->next, length);
    connection->next += length;
    return has_answer(connection, QUIET_BODY);
}

/* Says step after step until one has an answer, which is then waited for. */
static void
go_on(Connection *connection)
{
    gboolean waits = FALSE, more = FALSE;

    while (!waits) {
        switch (connection->stage) {
        case NEGOTIATE:
            connection->stage = CONNECT;
            waits = say_connect(connection);
            break;
        case CONNECT:
            connection->stage = HELO;
            waits = say_helo(connection);
            break;
        case HELO:
        case EOM:
            if (idle) {
                connection->over = TRUE;
                flush(connection);
                return;
            }
            connection->stage = MAIL;
            waits = say_mail(connection);
            break;
        case MAIL:
            connection->stage = RCPT;
            waits = say_rcpt(connection);
            break;
        case RCPT:
            connection->stage = DATA;
            waits = say_data(connection);
            break;
        case DATA:
            waits = say_header(connection, &more);
            if (!more)
                connection->stage = HEADER;
            break;
        case HEADER:
            connection->stage = EOH;
            waits = say_eoh(connection);
            break;
        case EOH:
            waits = say_body(connection, &more);
            if (!more)
                connection->stage = BODY;
            break;
        case BODY:
            add_packet(connection, 'E', "", 0);
            connection->stage = EOM;
            waits = TRUE;
            break;
        }
    }
    flush(connection);
    if (connection->stage == EOM)
        connection->ended_us = g_get_monotonic_time();
}

/* c continue, d discard, a accept end a step; what changes the message comes before. */
static void
take_packet(Connection *connection, const guint8 *packet, guint32 length)
{
    static const char changes[] = "+-2bhimqp";

    switch (*packet) {
    case 'O':
        memcpy(&connection->steps, packet + 9, sizeof connection->steps);
        connection->steps = length >= 13 ? GUINT32_FROM_BE(connection->steps) : 0;
        break;
    case 'c':
        break;
    case 'd':
        if (connection->stage != EOM)
            load_fail("discarded", "before the end");
        break;
    case 'y':
        if (!trouble || connection->stage != EOM)
            load_fail("answer", (const char *)packet);
        break;
    case 'a':
        connection->stage = EOM;
        connection->ended_us = g_get_monotonic_time();
        break;
    default:
        if (strchr(changes, *packet) == NULL)
            load_fail("answer", (const char *)packet);
        return;
    }
    if (connection->stage == EOM)
        connection->over = load_end(&connection->sent, connection->ended_us);
    if (!connection->over)
        go_on(connection);
}

static void
take_packets(Connection *connection)
{
    guint8 buffer[ROOM];
    ssize_t got = recv(connection->fd, buffer, sizeof buffer, 0);

    if (got <= 0)
        load_fail("read", got < 0 ? g_strerror(errno) : "closed");
    g_byte_array_append(connection->input, buffer, (guint)got);
    while (connection->input->len > sizeof(guint32)) {
        guint32 length;

        memcpy(&length, connection->input->data, sizeof length);
        length = GUINT32_FROM_BE(length);
        if (connection->input->len < sizeof length + length)
            return;
        g_autofree guint8 *packet = g_malloc0(length + 1);
        memcpy(packet, connection->input->data + sizeof length, length);
        g_byte_array_remove_range(connection->input, 0, (guint)sizeof length + length);
        take_packet(connection, packet, length);
    }
}

static void
connection_begin(Connection *connection, guint number)
{
    connection->fd = load_connect();
    connection->stage = NEGOTIATE;
    connection->login = load_number(login, number % LOAD_ACCOUNTS);
    connection->sender = load_number(load.sender, number % LOAD_ACCOUNTS);
    connection->recipient = load_number(recipient, number);
    connection->output = g_byte_array_new();
    connection->input = g_byte_array_new();
    add_numbers(connection);
    flush(connection);
}

static gboolean
take_input(guint number)
{
    take_packets(&all[number]);
    return all[number].over;
}

int
main(int argc, char **argv)
{
    load_parse(options, &argc, &argv);
    g_autofree int *fds = g_new0(int, load.connections);
    all = g_new0(Connection, load.connections);
    for (int i = 0; i < load.connections; i++) {
        connection_begin(&all[i], (guint)i);
        fds[i] = all[i].fd;
    }
    load_run(fds, take_input);
    load_print();
    fflush(stdout);
    if (idle)
        while (getchar() != EOF)
            continue;
    g_free(all);
    return EXIT_SUCCESS;
}
