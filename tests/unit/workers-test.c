/* The milter knocks at its own door when no thread is left to serve other sessions. */
#include "milter/workers.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <glib/gstdio.h>

static int door;

static void
listen_at(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    door = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    g_strlcpy(address.sun_path, path, sizeof address.sun_path);
    g_assert_cmpint(bind(door, (struct sockaddr *)&address, sizeof address), ==, 0);
    g_assert_cmpint(listen(door, 8), ==, 0);
    workers_start(path);
}

/* How often somebody knocked since the last look. */
static guint
knocks(void)
{
    guint count = 0;

    for (int fd; (fd = accept(door, NULL, NULL)) >= 0; count++)
        close(fd);
    g_assert_cmpint(errno, ==, EAGAIN);
    return count;
}

static gpointer
come_for_a_knock(gpointer data G_GNUC_UNUSED)
{
    workers_seen();
    workers_seen(); /* is counted once */
    workers_wait_begin();
    g_assert_cmpuint(knocks(), ==, 1); /* both wait */
    workers_wait_end();
    return NULL;
}

static gpointer
come_and_wait(gpointer data)
{
    workers_seen();
    g_async_queue_push(((GAsyncQueue **)data)[0], GINT_TO_POINTER(1));
    g_async_queue_pop(((GAsyncQueue **)data)[1]);
    return NULL;
}

/* Sessions that no thread has begun with are not known here, so it is threads that count. */
static void
test_knocks(void)
{
    g_autofree char *folder = g_dir_make_tmp("exeat-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(folder, "door", NULL);
    g_autoptr(GAsyncQueue) seen = g_async_queue_new(), go = g_async_queue_new();
    GAsyncQueue *queues[] = {seen, go};

    listen_at(path);
    workers_wait_begin();
    g_assert_cmpuint(knocks(), ==, 1); /* the only thread that was ever seen */
    g_thread_join(g_thread_new("second", come_for_a_knock, NULL));
    workers_wait_end();

    GThread *idle = g_thread_new("idle", come_and_wait, queues);
    g_async_queue_pop(seen);
    workers_wait_begin();
    g_assert_cmpuint(knocks(), ==, 0); /* another could serve */
    workers_wait_end();
    g_async_queue_push(go, GINT_TO_POINTER(1));
    g_thread_join(idle);
    workers_wait_begin();
    g_assert_cmpuint(knocks(), ==, 1); /* it has gone */
    workers_wait_end();
    close(door);
    g_unlink(path);
    g_rmdir(folder);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/workers/knocks", test_knocks);
    return g_test_run();
}
