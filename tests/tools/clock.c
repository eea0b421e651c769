/* clock.c - clocks that a test can move
 *
 * Loaded with LD_PRELOAD into a daemon under test. The file named in EXEAT_TEST_CLOCK holds
 * two numbers of seconds. The first is added to the time of day and to the time since the
 * machine was started, as if so much had passed while it slept; the second, which may be
 * missing, to the time of day alone, as if somebody had set it. The monotonic clock is left
 * alone. The product itself has no such knob. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static long
offset(clockid_t clock)
{
    const char *path = getenv("EXEAT_TEST_CLOCK");
    FILE *file = path ? fopen(path, "re") : NULL;
    long passed = 0, set = 0;

    if (file == NULL)
        return 0;
    if (fscanf(file, "%ld %ld", &passed, &set) < 1)
        passed = 0;
    fclose(file);
    return clock == CLOCK_REALTIME ? passed + set : passed;
}

int
clock_gettime(clockid_t clock, struct timespec *now)
{
    static int (*real)(clockid_t, struct timespec *);

    if (real == NULL)
        *(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(clock, now);
    if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_BOOTTIME))
        now->tv_sec += offset(clock);
    return result;
}

int
gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    struct timespec exact;

    (void)zone;
    clock_gettime(CLOCK_REALTIME, &exact);
    now->tv_sec = exact.tv_sec;
    now->tv_usec = exact.tv_nsec / 1000;
    return 0;
}

time_t
time(time_t *now)
{
    struct timespec exact;

    clock_gettime(CLOCK_REALTIME, &exact);
    if (now != NULL)
        *now = exact.tv_sec;
    return exact.tv_sec;
}
