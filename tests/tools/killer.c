/* killer.c - a sudden end at a chosen step
 *
 * Loaded with LD_PRELOAD into a daemon under test. Every call that writes, sends or syncs, its
 * log aside, is two steps: just before it, and after it, or in the midst of what a disk does
 * not write at once. The pages of one transaction follow each other and are one call. Once the
 * file named in EXEAT_TEST_KILL exists, the number of steps in it is counted down, and at the
 * last one the process ends as by SIGKILL. */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define SECTOR 512

static long left;          /* 0: not armed */
static int last_file = -1; /* written at a place, and nothing else since */

static void *
real(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

static void
arm(void)
{
    const char *path = getenv("EXEAT_TEST_KILL");
    FILE *file = path ? fopen(path, "re") : NULL;
    long steps = 0, none = 0;

    if (file == NULL)
        return;
    if (fscanf(file, "%ld", &steps) == 1 && steps > 0)
        __atomic_compare_exchange_n(&left, &none, steps, 0, __ATOMIC_SEQ_CST,
                                    __ATOMIC_SEQ_CST);
    fclose(file);
}

static int
is_last(void)
{
    if (__atomic_load_n(&left, __ATOMIC_SEQ_CST) == 0)
        arm();
    return __atomic_load_n(&left, __ATOMIC_SEQ_CST) > 0 &&
           __atomic_sub_fetch(&left, 1, __ATOMIC_SEQ_CST) == 0;
}

static void
end(void)
{
    kill(getpid(), SIGKILL);
    for (;;)
        pause();
}

/* The step before a call. TRUE: the one after it is the last. */
static int
step(int fd)
{
    if (fd == STDERR_FILENO)
        return 0;
    last_file = -1;
    if (is_last())
        end();
    return is_last();
}

static int
step_in_file(int fd)
{
    if (fd == last_file)
        return 0;
    int last = step(fd);
    last_file = fd;
    return last;
}

static size_t
torn(size_t length)
{
    return length > SECTOR ? length / 2 : length;
}

ssize_t
write(int fd, const void *bytes, size_t length)
{
    ssize_t (*call)(int, const void *, size_t) = real("write");

    if (step(fd)) {
        call(fd, bytes, torn(length));
        end();
    }
    return call(fd, bytes, length);
}

ssize_t
writev(int fd, const struct iovec *parts, int count)
{
    ssize_t (*call)(int, const struct iovec *, int) = real("writev");

    if (step(fd)) {
        call(fd, parts, count);
        end();
    }
    return call(fd, parts, count);
}

ssize_t
pwrite(int fd, const void *bytes, size_t length, off_t offset)
{
    ssize_t (*call)(int, const void *, size_t, off_t) = real("pwrite");

    if (step_in_file(fd)) {
        call(fd, bytes, torn(length), offset);
        end();
    }
    return call(fd, bytes, length, offset);
}

ssize_t
pwrite64(int fd, const void *bytes, size_t length, off64_t offset)
{
    ssize_t (*call)(int, const void *, size_t, off64_t) = real("pwrite64");

    if (step_in_file(fd)) {
        call(fd, bytes, torn(length), offset);
        end();
    }
    return call(fd, bytes, length, offset);
}

ssize_t
send(int fd, const void *bytes, size_t length, int flags)
{
    ssize_t (*call)(int, const void *, size_t, int) = real("send");

    if (step(fd)) {
        call(fd, bytes, torn(length), flags);
        end();
    }
    return call(fd, bytes, length, flags);
}

ssize_t
sendmsg(int fd, const struct msghdr *message, int flags)
{
    ssize_t (*call)(int, const struct msghdr *, int) = real("sendmsg");

    if (step(fd)) {
        call(fd, message, flags);
        end();
    }
    return call(fd, message, flags);
}

static int
sync_by(const char *name, int fd)
{
    int (*call)(int) = real(name);

    if (step(fd)) {
        call(fd);
        end();
    }
    return call(fd);
}

int
fsync(int fd)
{
    return sync_by("fsync", fd);
}

int
fdatasync(int fd)
{
    return sync_by("fdatasync", fd);
}
