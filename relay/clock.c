#include "relay/clock.h"

#include <time.h>

#include "lib/log.h"

enum { FORWARD_MOST = 3600, DOUBT = 3600 }; /* seconds */

static gint64
seconds_of(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return now.tv_sec;
}

gboolean
clock_is_steady(gint64 *now_out)
{
    static gint64 began, doubted_until;
    gint64 passed; /* since the machine was started, and while it slept */
    gint64 begins; /* by the clock of now */

    *now_out = seconds_of(CLOCK_REALTIME);
    /* A machine that sleeps between the two looks at clocks did not set one forward. */
    do {
        passed = seconds_of(CLOCK_BOOTTIME);
        begins = seconds_of(CLOCK_REALTIME) - passed;
    } while (seconds_of(CLOCK_BOOTTIME) - passed > 1);
    if (began == 0)
        began = begins;
    if (begins - began > FORWARD_MOST) {
        log_error("the clock went forward by %" G_GINT64_FORMAT
                  " s: no delay ends and nothing expires for an hour",
                  begins - began);
        doubted_until = passed + DOUBT;
    } else if (began - begins > FORWARD_MOST) {
        doubted_until = 0; /* it was set right, or is wrong in a way that is seen elsewhere */
    }
    if (ABS(begins - began) > FORWARD_MOST)
        began = begins;
    return passed >= doubted_until;
}
