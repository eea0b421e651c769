#include "lib/trusted.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/error.h"

#define MEBIBYTE     (1024 * 1024)
#define OTHERS_WRITE (S_IWGRP | S_IWOTH)
#define OTHERS_ANY   (S_IRWXG | S_IRWXO)

/* A secret may belong to the relay's user while root has the files checked. */
static gboolean
is_owner(uid_t owner, mode_t others)
{
    return owner == 0 || owner == geteuid() || (others == OTHERS_ANY && geteuid() == 0);
}

/* others: the bits of the mode that must not be set. */
static gboolean
check_status(const char *path, const struct stat *status, mode_t others, GError **error)
{
    g_autofree char *found = NULL;
    const char *expected = NULL;

    if (!S_ISREG(status->st_mode)) {
        found = g_strdup("a folder or device");
        expected = "a regular file";
    } else if (!is_owner(status->st_uid, others)) {
        found = g_strdup_printf("owner %u", (guint)status->st_uid);
        expected = "root or the user who reads it";
    } else if ((status->st_mode & others) != 0) {
        found = g_strdup_printf("mode %04o", (guint)status->st_mode & 07777);
        expected = others == OTHERS_WRITE ? "a file that only its owner may write"
                                          : "a file that only its owner may read";
    }
    if (expected == NULL)
        return TRUE;
    g_set_error(error, EXEAT_ERROR, ERROR_CONFIG, "%s: found %s, expected %s", path, found,
                expected);
    return FALSE;
}

/* To the end, not to the size of fstat: the file may grow meanwhile. most: in MiB. */
static GString *
read_all(int fd, const char *path, guint most, GError **error)
{
    g_autoptr(GString) text = g_string_new(NULL);
    char piece[8192];

    for (;;) {
        ssize_t length = read(fd, piece, sizeof piece);
        if (length == 0)
            return g_steal_pointer(&text);
        if (length < 0 && errno == EINTR)
            continue;
        if (length < 0) {
            g_set_error(error, EXEAT_ERROR, ERROR_TEMP, "%s: %s", path, g_strerror(errno));
            return NULL;
        }
        g_string_append_len(text, piece, length);
        if (text->len > (gsize)most * MEBIBYTE) {
            g_set_error(error, EXEAT_ERROR, ERROR_CONFIG,
                        "%s: found more than %u MiB, expected less", path, most);
            return NULL;
        }
    }
}

static gboolean
check_text(const GString *text, const char *path, GError **error)
{
    const char *end;
    guint line = 1;

    if (g_utf8_validate(text->str, (gssize)text->len, &end))
        return TRUE;
    for (const char *at = text->str; at < end; at++)
        line += *at == '\n';
    g_set_error(error, EXEAT_ERROR, ERROR_CONFIG,
                "%s:%u: found a byte that is not UTF-8, expected text", path, line);
    return FALSE;
}

static char *
read_checked(const char *path, mode_t others, guint most, GError **error)
{
    g_autoptr(GString) text = NULL;
    struct stat status;
    /* O_NONBLOCK: opening a FIFO would wait for a writer. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

    if (fd < 0 || fstat(fd, &status) != 0)
        g_set_error(error, EXEAT_ERROR, ERROR_CONFIG, "%s: %s", path, g_strerror(errno));
    else if (check_status(path, &status, others, error))
        text = read_all(fd, path, most, error);
    if (fd >= 0)
        close(fd);
    if (text == NULL || !check_text(text, path, error))
        return NULL;
    return g_string_free(g_steal_pointer(&text), FALSE);
}

char *
trusted_read(const char *path, GError **error)
{
    return read_checked(path, OTHERS_WRITE, 1, error);
}

char *
trusted_read_table(const char *path, GError **error)
{
    return read_checked(path, OTHERS_WRITE, 16, error);
}

char *
trusted_read_secret(const char *path, GError **error)
{
    return read_checked(path, OTHERS_ANY, 1, error);
}

gboolean
trusted_check(const char *path, GError **error)
{
    g_autofree char *text = *path != '\0' ? trusted_read(path, error) : NULL;

    return *path == '\0' || text != NULL;
}

gboolean
trusted_check_secret(const char *path, GError **error)
{
    g_autofree char *text = *path != '\0' ? trusted_read_secret(path, error) : NULL;

    return *path == '\0' || text != NULL;
}
