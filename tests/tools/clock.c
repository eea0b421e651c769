/* clock.c - a wall clock that a test can move
 *
 * Loaded with LD_PRELOAD into a daemon under test. Adds the number of seconds that the file
 * named in EXEAT_TEST_CLOCK holds to what the C library tells of the time of day; the
 * monotonic clock is left alone. The product itself has no such knob. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static long
offset(void)
{
    const char *path = getenv("EXEAT_TEST_CLOCK");
    FILE *file = path ? fopen(path, "re") : NULL;
    long seconds = 0;

    if (file == NULL)
        return 0;
    if (fscanf(file, "%ld", &seconds) != 1)
        seconds = 0;
    fclose(file);
    return seconds;
}

int
clock_gettime(clockid_t clock, struct timespec *now)
{
    static int (*real)(clockid_t, struct timespec *);

    if (real == NULL)
        *(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(clock, now);
    if (result == 0 && clock == CLOCK_REALTIME)
        now->tv_sec += offset();
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
