/* fault.c - a disk that refuses
 *
 * Loaded with LD_PRELOAD into a daemon under test. While the file named in EXEAT_TEST_FAULT
 * exists, every call that would change or sync a file fails with the errno that stands in it:
 * 30 for a file system that is read-only, 5 for a disk that dies, 28 for one that is full.
 * Sockets, pipes and memory are left alone, and so is standard error. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void *
real(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

/* The errno to fail with, 0 for none. */
static int
ordered(void)
{
    static FILE *(*open_file)(const char *, const char *);
    const char *path = getenv("EXEAT_TEST_FAULT");
    int number = 0;

    if (open_file == NULL)
        *(void **)&open_file = real("fopen");
    FILE *file = path ? open_file(path, "re") : NULL;
    if (file == NULL)
        return 0;
    if (fscanf(file, "%d", &number) != 1)
        number = 0;
    fclose(file);
    return number;
}

/* On a disk, and not in memory only: those have no name (memfd_create(2)). */
static int
is_file(int fd)
{
    struct stat status;

    return fd != STDERR_FILENO && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
           status.st_nlink > 0;
}

/* TRUE: errno is set, and the call has failed. */
static int
fails(int fd)
{
    int before = errno;
    int number = is_file(fd) ? ordered() : 0;

    errno = number ? number : before;
    return number != 0;
}

ssize_t
write(int fd, const void *bytes, size_t length)
{
    ssize_t (*call)(int, const void *, size_t) = real("write");

    return fails(fd) ? -1 : call(fd, bytes, length);
}

ssize_t
pwrite(int fd, const void *bytes, size_t length, off_t offset)
{
    ssize_t (*call)(int, const void *, size_t, off_t) = real("pwrite");

    return fails(fd) ? -1 : call(fd, bytes, length, offset);
}

ssize_t
pwrite64(int fd, const void *bytes, size_t length, off64_t offset)
{
    ssize_t (*call)(int, const void *, size_t, off64_t) = real("pwrite64");

    return fails(fd) ? -1 : call(fd, bytes, length, offset);
}

int
ftruncate64(int fd, off64_t length)
{
    int (*call)(int, off64_t) = real("ftruncate64");

    return fails(fd) ? -1 : call(fd, length);
}

int
ftruncate(int fd, off_t length)
{
    int (*call)(int, off_t) = real("ftruncate");

    return fails(fd) ? -1 : call(fd, length);
}

int
fsync(int fd)
{
    int (*call)(int) = real("fsync");

    return fails(fd) ? -1 : call(fd);
}

int
fdatasync(int fd)
{
    int (*call)(int) = real("fdatasync");

    return fails(fd) ? -1 : call(fd);
}

static int
open_by(const char *name, const char *path, int flags, mode_t mode)
{
    int (*call)(const char *, int, mode_t) = real(name);
    int number = (flags & O_ACCMODE) == O_RDONLY ? 0 : ordered();

    if (number == 0)
        return call(path, flags, mode);
    errno = number;
    return -1;
}

static mode_t
take_mode(int flags, va_list arguments)
{
    return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
}

int
open(const char *path, int flags, ...)
{
    va_list arguments;

    va_start(arguments, flags);
    mode_t mode = take_mode(flags, arguments);
    va_end(arguments);
    return open_by("open", path, flags, mode);
}

int
open64(const char *path, int flags, ...)
{
    va_list arguments;

    va_start(arguments, flags);
    mode_t mode = take_mode(flags, arguments);
    va_end(arguments);
    return open_by("open64", path, flags, mode);
}
