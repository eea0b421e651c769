#include "tests/bench/load.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

LoadOptions load = {
    .sender = (char *)"", .connections = 1, .size = 1000, .warm_up = 2, .seconds = 1};

static GArray *waits;   /* of gint64: microseconds from the end of a message to its answer */
static guint64 started; /* messages, the uncounted ones too */
static int warm;        /* connections that are */
static gint64 begun_us, ended_us; /* monotonic; begun 0: still warming up */

void
load_parse(const GOptionEntry *more, int *argc, char ***argv)
{
    const GOptionEntry options[] = {
        {"to", 'a', 0, G_OPTION_ARG_STRING, &load.address, "HOST:PORT or a unix socket",
         "ADDRESS"},
        {"connections", 'c', 0, G_OPTION_ARG_INT, &load.connections, "At once", "N"},
        {"seconds", 't', 0, G_OPTION_ARG_DOUBLE, &load.seconds, "How long", "S"},
        {"most", 'n', 0, G_OPTION_ARG_INT, &load.most, "No more messages than this", "N"},
        {"warm-up", 'w', 0, G_OPTION_ARG_INT, &load.warm_up, "Uncounted ones of a connection",
         "N"},
        {"size", 's', 0, G_OPTION_ARG_INT, &load.size, "Bytes of a message", "N"},
        {"sender", 'f', 0, G_OPTION_ARG_STRING, &load.sender, "# becomes the connection's",
         "ADDRESS"},
        G_OPTION_ENTRY_NULL};
    g_autoptr(GOptionContext) context = g_option_context_new(NULL);
    g_autoptr(GError) error = NULL;

    g_option_context_add_main_entries(context, options, NULL);
    g_option_context_add_main_entries(context, more, NULL);
    if (!g_option_context_parse(context, argc, argv, &error) || load.address == NULL ||
        load.connections < 1 || load.warm_up < 1)
        load_fail("arguments", error ? error->message : "--help tells what is needed");
    waits = g_array_new(FALSE, FALSE, sizeof(gint64));
}

char *
load_message(const char *from, const char *to, gsize size)
{
    static const char line[] =
        "The boiler in the cellar was looked at on Monday, and is as it was left.\r\n";
    static guint64 number;
    g_autofree char *date = NULL;
    g_autoptr(GDateTime) now = g_date_time_new_now_utc();

    date = g_date_time_format(now, "%a, %d %b %Y %H:%M:%S +0000");
    GString *message = g_string_sized_new(size + sizeof line);
    g_string_append_printf(message,
                           "From: <%s>\r\nTo: <%s>\r\nSubject: The boiler, once more\r\n"
                           "Date: %s\r\nMessage-ID: <%d.%" G_GUINT64_FORMAT ".%08x@bench.test>"
                           "\r\nMIME-Version: 1.0\r\nContent-Type: text/plain\r\n\r\n",
                           from, to, date, (int)getpid(), ++number, g_random_int());
    while (message->len < size)
        g_string_append_len(message, line, sizeof line - 1);
    return g_string_free(message, FALSE);
}

char *
load_number(const char *text, guint number)
{
    g_auto(GStrv) parts = g_strsplit(text, "#", -1);
    g_autofree char *digits = g_strdup_printf("%u", number);

    return g_strjoinv(digits, parts);
}

static int
connect_unix(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    g_strlcpy(address.sun_path, path, sizeof address.sun_path);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0)
        load_fail("connect", g_strerror(errno));
    return fd;
}

static int
connect_inet(const char *host, const char *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((guint16)atoi(port))};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

    if (inet_pton(AF_INET, host, &address.sin_addr) != 1 ||
        connect(fd, (struct sockaddr *)&address, sizeof address) != 0)
        load_fail("connect", g_strerror(errno));
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
}

int
load_connect(void)
{
    g_auto(GStrv) words = g_strsplit(load.address, ":", 2);

    return *load.address == '/' ? connect_unix(load.address)
                                : connect_inet(words[0], words[1]);
}

void
load_send(int fd, const void *bytes, gsize length)
{
    const char *next = bytes;

    while (length > 0) {
        ssize_t written = send(fd, next, length, MSG_NOSIGNAL);

        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            load_fail("write", g_strerror(errno));
        next += written;
        length -= (gsize)written;
    }
}

void
load_run(const int *fds, gboolean (*take)(guint number))
{
    g_autofree struct pollfd *polled = g_new0(struct pollfd, load.connections);
    int open = load.connections;

    for (int i = 0; i < load.connections; i++)
        polled[i] = (struct pollfd){fds[i], POLLIN, 0};
    while (open > 0) {
        if (poll(polled, (nfds_t)load.connections, -1) < 0 && errno != EINTR)
            load_fail("poll", g_strerror(errno));
        for (int i = 0; i < load.connections; i++)
            if (polled[i].fd >= 0 && polled[i].revents != 0 && take((guint)i)) {
                polled[i].fd = -1;
                open--;
            }
    }
}

void
load_fail(const char *what, const char *answer)
{
    fprintf(stderr, "load: %s: %s\n", what, answer);
    exit(EXIT_FAILURE);
}

void
load_begin(void)
{
    started++;
}

/* The clock begins when the last connection is warm. */
gboolean
load_end(int *sent, gint64 message_us)
{
    gint64 now = g_get_monotonic_time(), wait = now - message_us;

    if (begun_us != 0) {
        g_array_append_val(waits, wait);
        ended_us = now;
    }
    if (++*sent == load.warm_up && ++warm == load.connections)
        begun_us = ended_us = now;
    if (load.most > 0 && started >= (guint64)load.most)
        return TRUE;
    return begun_us != 0 && now >= begun_us + (gint64)(load.seconds * G_USEC_PER_SEC);
}

static int
compare(gconstpointer a, gconstpointer b)
{
    gint64 x = *(const gint64 *)a, y = *(const gint64 *)b;

    return (x > y) - (x < y);
}

static gint64
quantile(const GArray *sorted, double part)
{
    if (sorted->len == 0)
        return 0;
    return g_array_index(sorted, gint64, (guint)(part * (sorted->len - 1)));
}

void
load_print(void)
{
    g_array_sort(waits, compare);
    printf("messages=%u seconds=%.4f p50_us=%" G_GINT64_FORMAT " p99_us=%" G_GINT64_FORMAT
           "\n",
           waits->len, (double)(ended_us - begun_us) / G_USEC_PER_SEC, quantile(waits, 0.5),
           quantile(waits, 0.99));
    g_array_unref(waits);
}
