#include "lib/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/error.h"

#define SEALS (F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

struct _Spool {
    gsize limit;
    char *folder;
    guint64 size;
    int fd; /* -1 before the first byte */
    gboolean in_file;
    gboolean done; /* handed over: nothing may be added */
};

Spool *
spool_new(gsize limit, const char *folder)
{
    Spool *spool = g_new0(Spool, 1);

    spool->limit = limit;
    spool->folder = g_strdup(folder);
    spool->fd = -1;
    return spool;
}

void
spool_free(Spool *spool)
{
    if (spool == NULL)
        return;
    if (spool->fd >= 0)
        close(spool->fd);
    g_free(spool->folder);
    g_free(spool);
}

static gboolean
fail(const char *what, GError **error)
{
    g_set_error(error, EXEAT_ERROR, ERROR_TEMP, "%s: %s", what, g_strerror(errno));
    return FALSE;
}

static gboolean
write_all(int fd, const void *bytes, gsize length, GError **error)
{
    const char *next = bytes;

    while (length > 0) {
        ssize_t written = write(fd, next, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return fail("cannot spool", error);
        next += written;
        length -= written;
    }
    return TRUE;
}

static gboolean
open_memory(Spool *spool, GError **error)
{
    spool->fd = memfd_create("exeat-message", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    return spool->fd >= 0 || fail("memfd_create", error);
}

/* A file without a name; where the file system has no O_TMPFILE, one that loses it at once. */
static int
open_nameless(const char *folder, GError **error)
{
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) {
        if (fd < 0)
            fail(folder, error);
        return fd;
    }

    g_autofree char *path = g_build_filename(folder, "message-XXXXXX", NULL);
    fd = mkostemp(path, O_CLOEXEC);
    if (fd < 0) {
        fail(path, error);
        return -1;
    }
    unlink(path);
    return fd;
}

static gboolean
copy_all(int from, int to, GError **error)
{
    char buffer[16 * 1024];
    off_t offset = 0;

    for (;;) {
        ssize_t length = pread(from, buffer, sizeof buffer, offset);
        if (length < 0 && errno == EINTR)
            continue;
        if (length < 0)
            return fail("cannot read the spool", error);
        if (length == 0)
            return TRUE;
        if (!write_all(to, buffer, length, error))
            return FALSE;
        offset += length;
    }
}

static gboolean
move_to_file(Spool *spool, GError **error)
{
    int file = open_nameless(spool->folder, error);
    if (file < 0)
        return FALSE;
    if (spool->fd >= 0 && !copy_all(spool->fd, file, error)) {
        close(file);
        return FALSE;
    }
    if (spool->fd >= 0)
        close(spool->fd);
    spool->fd = file;
    spool->in_file = TRUE;
    return TRUE;
}

gboolean
spool_append(Spool *spool, const void *bytes, gsize length, GError **error)
{
    g_assert(!spool->done);

    if (!spool->in_file && spool->size + length > spool->limit && !move_to_file(spool, error))
        return FALSE;
    if (spool->fd < 0 && !open_memory(spool, error))
        return FALSE;
    if (!write_all(spool->fd, bytes, length, error))
        return FALSE;
    spool->size += length;
    return TRUE;
}

guint64
spool_size(const Spool *spool)
{
    return spool->size;
}

int
spool_descriptor(Spool *spool, GError **error)
{
    if (spool->done)
        return spool->fd;
    if (spool->fd < 0 && !open_memory(spool, error))
        return -1;
    if (!spool->in_file && fcntl(spool->fd, F_ADD_SEALS, SEALS) != 0) {
        fail("cannot seal the spool", error);
        return -1;
    }
    if (lseek(spool->fd, 0, SEEK_SET) != 0) {
        fail("cannot rewind the spool", error);
        return -1;
    }
    spool->done = TRUE;
    return spool->fd;
}
