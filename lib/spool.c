#include "lib/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/error.h"

#define SEALS (F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

/* A message of so many bytes is written at once. */
enum { GATHER = 64 * 1024 };

struct _Spool {
    gsize limit;
    char *folder;
    guint64 size;
    guint64 written;
    GByteArray *gathered; /* of a message that is small so far; NULL: it is written */
    int fd;               /* -1 before anything is written */
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
    spool->gathered = g_byte_array_new();
    return spool;
}

void
spool_free(Spool *spool)
{
    if (spool == NULL)
        return;
    if (spool->fd >= 0)
        close(spool->fd);
    if (spool->gathered != NULL)
        g_byte_array_unref(spool->gathered);
    g_free(spool->folder);
    g_free(spool);
}

static gboolean
fail(const char *what, GError **error)
{
    g_set_error(error, EXEAT_ERROR, ERROR_TEMP, "%s: %s", what, g_strerror(errno));
    return FALSE;
}

/* The file position stays. */
static gboolean
write_at(int fd, const void *bytes, gsize length, guint64 offset, GError **error)
{
    const char *next = bytes;

    while (length > 0) {
        ssize_t written = pwrite(fd, next, length, (off_t)offset);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return fail("cannot spool", error);
        next += written;
        offset += (guint64)written;
        length -= (gsize)written;
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

gboolean
spool_check(const char *folder, GError **error)
{
    int fd = open_nameless(folder, error);

    if (fd < 0)
        return FALSE;
    close(fd);
    return TRUE;
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
        if (!write_at(to, buffer, (gsize)length, (guint64)offset, error))
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

static gboolean
write_more(Spool *spool, const void *bytes, gsize length, GError **error)
{
    if (spool->fd < 0 && !open_memory(spool, error))
        return FALSE;
    if (!write_at(spool->fd, bytes, length, spool->written, error))
        return FALSE;
    spool->written += length;
    return TRUE;
}

static gboolean
write_gathered(Spool *spool, GError **error)
{
    g_autoptr(GByteArray) gathered = g_steal_pointer(&spool->gathered);

    return gathered == NULL || write_more(spool, gathered->data, gathered->len, error);
}

gboolean
spool_append(Spool *spool, const void *bytes, gsize length, GError **error)
{
    g_assert(!spool->done);

    if (!spool->in_file && spool->size + length > spool->limit && !move_to_file(spool, error))
        return FALSE;
    spool->size += length;
    if (spool->gathered != NULL && spool->size <= GATHER) {
        g_byte_array_append(spool->gathered, bytes, (guint)length);
        return TRUE;
    }
    return write_gathered(spool, error) && write_more(spool, bytes, length, error);
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
    if (!write_gathered(spool, error) || (spool->fd < 0 && !open_memory(spool, error)))
        return -1;
    if (!spool->in_file && fcntl(spool->fd, F_ADD_SEALS, SEALS) != 0) {
        fail("cannot seal the spool", error);
        return -1;
    }
    spool->done = TRUE;
    return spool->fd;
}
