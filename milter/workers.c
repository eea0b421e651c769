#include "milter/workers.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <glib.h>

static void leave(gpointer unused);

static const char *door;
static GPrivate counted = G_PRIVATE_INIT(leave);
static gint threads; /* alive, of those that were seen */
static gint waiting;

static void
leave(gpointer unused)
{
    (void)unused;
    g_atomic_int_add(&threads, -1);
}

void
workers_start(const char *path)
{
    door = path;
}

/* Whether it succeeds is no matter: then what waits waits a little longer. */
static void
knock(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return;
    g_strlcpy(address.sun_path, door, sizeof address.sun_path);
    (void)!connect(fd, (struct sockaddr *)&address, sizeof address);
    close(fd);
}

void
workers_seen(void)
{
    if (g_private_get(&counted) != NULL)
        return;
    g_private_set(&counted, &counted);
    g_atomic_int_inc(&threads);
}

void
workers_wait_begin(void)
{
    if (door == NULL)
        return;
    workers_seen();
    if (g_atomic_int_add(&waiting, 1) + 1 >= g_atomic_int_get(&threads))
        knock();
}

void
workers_wait_end(void)
{
    if (door != NULL)
        g_atomic_int_add(&waiting, -1);
}
