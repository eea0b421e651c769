/* Large messages are read by turns, four at once; small ones never wait (XF7). */
#include "milter/turn.h"

enum { LARGE = 256 * 1024, AT_ONCE = 4, WAITING = 8 };

static gint ended; /* turns that were given back */
static gint reading;

static gpointer
read_one(gpointer data G_GNUC_UNUSED)
{
    g_autoptr(GError) error = NULL;

    g_assert_true(turn_take(LARGE, &error));
    g_assert_no_error(error);
    g_assert_cmpint(g_atomic_int_get(&ended), >, 0);
    g_assert_cmpint(g_atomic_int_add(&reading, 1), <, AT_ONCE);
    g_thread_yield();
    g_atomic_int_add(&reading, -1);
    turn_end(LARGE);
    return NULL;
}

static void
test_turns(void)
{
    g_autoptr(GError) error = NULL;
    GThread *threads[WAITING];

    for (guint i = 0; i < AT_ONCE; i++)
        g_assert_true(turn_take(LARGE, &error));
    for (guint i = 0; i < WAITING; i++)
        threads[i] = g_thread_new("reader", read_one, NULL);
    g_assert_true(turn_take(LARGE - 1, &error)); /* with all turns taken */
    turn_end(LARGE - 1);
    g_atomic_int_set(&ended, 1);
    for (guint i = 0; i < AT_ONCE; i++)
        turn_end(LARGE);
    for (guint i = 0; i < WAITING; i++)
        g_thread_join(threads[i]);
    g_assert_no_error(error);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/turn/four-at-once/XF7", test_turns);
    return g_test_run();
}
