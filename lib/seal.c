#include "lib/seal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/error.h"
#include "lib/sum.h"

#define BLOCK_BYTES 64 /* of SHA-256 (FIPS 180-4, 1) */

struct _Seal {
    guint8 key[SEAL_KEY_BYTES];
};

Seal *
seal_new(const guint8 key[SEAL_KEY_BYTES])
{
    Seal *seal = g_new0(Seal, 1);

    memcpy(seal->key, key, sizeof seal->key);
    return seal;
}

Seal *
seal_copy(const Seal *seal)
{
    return seal_new(seal->key);
}

void
seal_free(Seal *seal)
{
    if (seal == NULL)
        return;
    explicit_bzero(seal->key, sizeof seal->key);
    g_free(seal);
}

static gboolean
fail(const char *path, GError **error)
{
    g_set_error(error, EXEAT_ERROR, ERROR_TEMP, "%s: %s", path, g_strerror(errno));
    return FALSE;
}

/* A new name is lost in a power cut until its folder is synced. */
static gboolean
sync_folder(const char *path, GError **error)
{
    g_autofree char *folder = g_path_get_dirname(path);
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    gboolean synced = fd >= 0 && fsync(fd) == 0;

    if (!synced)
        fail(folder, error);
    if (fd >= 0)
        close(fd);
    return synced;
}

static gboolean
write_key(const char *path, GError **error)
{
    guint8 key[SEAL_KEY_BYTES];
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    if (fd < 0)
        return fail(path, error);
    gboolean made = getrandom(key, sizeof key, 0) == (gssize)sizeof key &&
                    write(fd, key, sizeof key) == (gssize)sizeof key && fsync(fd) == 0;
    explicit_bzero(key, sizeof key);
    if (!made)
        fail(path, error);
    close(fd);
    return made;
}

/* Written beside its place: half a key, left by a crash, would be in the way of every start.
 */
gboolean
seal_make_key(const char *path, GError **error)
{
    g_autofree char *fresh = g_strconcat(path, ".new", NULL);

    unlink(fresh);
    if (write_key(fresh, error)) {
        if (renameat2(AT_FDCWD, fresh, AT_FDCWD, path, RENAME_NOREPLACE) == 0)
            return sync_folder(path, error);
        fail(path, error);
    }
    unlink(fresh);
    return FALSE;
}

static gboolean
check_file(const char *path, int fd, GError **error)
{
    struct stat status;

    if (fstat(fd, &status) != 0)
        return fail(path, error);
    if (S_ISREG(status.st_mode) && (status.st_uid == geteuid() || geteuid() == 0) &&
        (status.st_mode & 077) == 0 && status.st_size == SEAL_KEY_BYTES)
        return TRUE;
    g_set_error(error, EXEAT_ERROR, ERROR_CONFIG,
                "%s: found owner %u, mode %04o and %" G_GINT64_FORMAT
                " bytes, expected a file of user %u with mode 0600 and %d bytes",
                path, (guint)status.st_uid, (guint)status.st_mode & 07777,
                (gint64)status.st_size, (guint)geteuid(), SEAL_KEY_BYTES);
    return FALSE;
}

Seal *
seal_open(const char *path, GError **error)
{
    g_autoptr(Seal) seal = g_new0(Seal, 1);
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0) {
        g_set_error(error, EXEAT_ERROR, ERROR_CONFIG, "%s: %s; expected the relay's key", path,
                    g_strerror(errno));
        return NULL;
    }
    gboolean read_whole =
        check_file(path, fd, error) &&
        (read(fd, seal->key, SEAL_KEY_BYTES) == SEAL_KEY_BYTES || fail(path, error));
    close(fd);
    return read_whole ? g_steal_pointer(&seal) : NULL;
}

/* One of the two sums of an HMAC (RFC 2104, 2), begun; the key is shorter than a block. */
static Sum *
begin(const Seal *seal, guint8 pad)
{
    guint8 block[BLOCK_BYTES];
    Sum *sum = sum_new();

    memset(block, pad, sizeof block);
    for (guint i = 0; i < SEAL_KEY_BYTES; i++)
        block[i] ^= seal->key[i];
    sum_add(sum, block, sizeof block);
    explicit_bzero(block, sizeof block);
    return sum;
}

/* The outer sum but for its end. */
static Sum *
add_fields(const Seal *seal, const GByteArray *fields)
{
    guint8 bytes[SUM_BYTES];
    Sum *inner = begin(seal, 0x36), *outer = begin(seal, 0x5c);

    sum_add(inner, fields->data, fields->len);
    sum_end_bytes(inner, bytes);
    sum_add(outer, bytes, sizeof bytes);
    return outer;
}

char *
seal_over(const Seal *seal, const GByteArray *fields)
{
    return sum_end(add_fields(seal, fields));
}

void
seal_bytes(const Seal *seal, const GByteArray *fields, guint8 out[SEAL_BYTES])
{
    sum_end_bytes(add_fields(seal, fields), out);
}

gboolean
seal_fits(const Seal *seal, const GByteArray *fields, const char *claimed)
{
    g_autofree char *right = seal_over(seal, fields);
    guint8 difference = 0;

    if (strlen(claimed) != SEAL_LENGTH)
        return FALSE;
    for (guint i = 0; i < SEAL_LENGTH; i++)
        difference |= (guint8)(right[i] ^ claimed[i]);
    return difference == 0;
}
