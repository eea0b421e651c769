/* The milter's user may have many connections, every other few (XF6). */
#include "relay/visitors.h"

#include <sys/resource.h>

enum { MILTER = 4001, USER = 4002, OTHER = 4003, USER_MOST = 8, DESCRIPTORS = 1024 };

static guint
enter_all(uid_t uid, gboolean milter)
{
    guint count = 0;

    while (visitors_enter(uid, milter))
        count++;
    return count;
}

static void
test_most(void)
{
    struct rlimit limit;

    g_assert_cmpint(getrlimit(RLIMIT_NOFILE, &limit), ==, 0);
    limit.rlim_cur = MIN(DESCRIPTORS, limit.rlim_max);
    g_assert_cmpint(setrlimit(RLIMIT_NOFILE, &limit), ==, 0);
    g_assert_cmpuint(enter_all(USER, FALSE), ==, USER_MOST);
    g_assert_cmpuint(enter_all(OTHER, FALSE), ==, USER_MOST);
    guint milter = enter_all(MILTER, TRUE);
    g_assert_cmpuint(milter, >, USER_MOST);
    g_assert_cmpuint(milter, <=, DESCRIPTORS / 3); /* each has a descriptor for the message */
    visitors_leave(USER);
    g_assert_true(visitors_enter(USER, FALSE));
    g_assert_false(visitors_enter(USER, FALSE));
    for (guint i = 0; i < USER_MOST; i++)
        visitors_leave(USER);
    g_assert_cmpuint(enter_all(USER, FALSE), ==, USER_MOST);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/visitors/most/XF6", test_most);
    return g_test_run();
}
