/* Whether the time of day can be believed, with clocks of the test's own. */
#include "relay/clock.h"

#include <time.h>

#define HOUR ((gint64)3600)

static struct {
    gint64 of_day, since_start;
    int sleep_after, set_after; /* looks at a clock, or 0 */
} machine = {.of_day = 1000000, .since_start = 50};

/* Instead of the system's. */
int
clock_gettime(clockid_t clock, struct timespec *now)
{
    now->tv_sec = clock == CLOCK_REALTIME ? machine.of_day : machine.since_start;
    now->tv_nsec = 0;
    if (machine.sleep_after > 0 && --machine.sleep_after == 0) {
        machine.of_day += 7 * HOUR;
        machine.since_start += 7 * HOUR;
    }
    if (machine.set_after > 0 && --machine.set_after == 0)
        machine.of_day += 2 * HOUR;
    return 0;
}

static gboolean
is_steady(void)
{
    gint64 now;

    return clock_is_steady(&now);
}

static void
pass(gint64 seconds)
{
    machine.of_day += seconds;
    machine.since_start += seconds;
}

static void
test_time_passes(void)
{
    g_assert_true(is_steady());
    pass(1);
    g_assert_true(is_steady());
    pass(9 * HOUR);
    g_assert_true(is_steady());
}

static void
test_sleep(void)
{
    for (int looks = 1; looks < 5; looks++) {
        machine.sleep_after = looks;
        g_assert_true(is_steady());
        g_assert_true(is_steady());
    }
    machine.sleep_after = 0;
}

static void
test_forward(void)
{
    machine.of_day += HOUR;
    g_assert_true(is_steady());
    machine.of_day += HOUR;
    g_assert_false(is_steady());
    pass(HOUR - 1);
    g_assert_false(is_steady());
    pass(1);
    g_assert_true(is_steady());
}

/* Before it was noticed, a clock that is set forward is not what is acted by. */
static void
test_forward_while_looking(void)
{
    for (int looks = 1; looks < 5; looks++) {
        gint64 before = machine.of_day, now;

        machine.set_after = looks;
        gboolean steady = clock_is_steady(&now);
        g_assert_true(!steady || now == before);
        g_assert_false(is_steady());
        machine.set_after = 0;
        machine.of_day = before;
        g_assert_true(is_steady());
    }
}

static void
test_set_right(void)
{
    machine.of_day += 5 * HOUR;
    g_assert_false(is_steady());
    machine.of_day -= 5 * HOUR;
    g_assert_true(is_steady());
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/clock/time passes", test_time_passes);
    g_test_add_func("/clock/a machine that sleeps", test_sleep);
    g_test_add_func("/clock/set forward, it is believed after an hour", test_forward);
    g_test_add_func("/clock/set forward while one looks", test_forward_while_looking);
    g_test_add_func("/clock/set right again", test_set_right);
    return g_test_run();
}
