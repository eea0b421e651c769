/* A disk whose every fsync takes 5 ms more, for LD_PRELOAD. */
#include <dlfcn.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

static int
late(const char *name, int fd)
{
    const struct timespec delay = {0, 5 * 1000 * 1000};
    union {
        void *pointer;
        int (*function)(int);
    } real = {dlsym(RTLD_NEXT, name)};

    nanosleep(&delay, NULL);
    return real.function(fd);
}

int
fsync(int fd)
{
    return late("fsync", fd);
}

int
fdatasync(int fd)
{
    return late("fdatasync", fd);
}
