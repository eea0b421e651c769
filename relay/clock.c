#include "relay/clock.h"

#include <time.h>

#include "lib/log.h"

enum { FORWARD_MOST = 3600, DOUBT = 3600 }; /* seconds */

/* Seconds that passed since the machine was started, those in which it slept included. */
static gint64
since_start(void)
{
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    return now.tv_sec;
}

gboolean
clock_is_steady(void)
{
    static gint64 began, doubted_until;
    gint64 passed = since_start();
    gint64 begins = g_get_real_time() / G_USEC_PER_SEC - passed; /* by the clock of now */

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
