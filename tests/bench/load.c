#include "tests/bench/load.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

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
load_connect(const char *address)
{
    g_auto(GStrv) words = g_strsplit(address, ":", 2);

    return *address == '/' ? connect_unix(address) : connect_inet(words[0], words[1]);
}

void
load_fail(const char *what, const char *answer)
{
    fprintf(stderr, "load: %s: %s\n", what, answer);
    exit(EXIT_FAILURE);
}

void
load_count(Found *found, gint64 ended_us)
{
    gint64 now = g_get_monotonic_time(), wait = now - ended_us;

    if (found->begun_us == 0)
        return;
    g_array_append_val(found->waits, wait);
    found->counted++;
    found->ended_us = now;
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
load_print(Found *found)
{
    g_array_sort(found->waits, compare);
    printf("messages=%" G_GUINT64_FORMAT " seconds=%.4f p50_us=%" G_GINT64_FORMAT
           " p99_us=%" G_GINT64_FORMAT "\n",
           found->counted, (double)(found->ended_us - found->begun_us) / G_USEC_PER_SEC,
           quantile(found->waits, 0.5), quantile(found->waits, 0.99));
}
