#include "relay/send-private.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/error.h"

#define FIELD "Auto-Submitted"

static gboolean
fail(GError **error)
{
    g_set_error(error, EXEAT_ERROR, ERROR_TEMP, "the message cannot be marked: %s",
                g_strerror(errno));
    return FALSE;
}

static gboolean
write_all(int fd, const char *bytes, gsize length, GError **error)
{
    while (length > 0) {
        ssize_t written = write(fd, bytes, length);
        if (written < 0 && errno != EINTR)
            return fail(error);
        if (written > 0) {
            bytes += written;
            length -= written;
        }
    }
    return TRUE;
}

/* The length of the line, its end included. */
static gsize
line_length(const char *line, const char *end)
{
    const char *feed = memchr(line, '\n', end - line);

    return feed != NULL ? feed - line + 1 : end - line;
}

/* RFC 5322, 4.5.8: blanks may stand before the colon. */
static gboolean
is_field(const char *line, gsize length)
{
    gsize at = strlen(FIELD);

    if (length <= at || g_ascii_strncasecmp(line, FIELD, at) != 0)
        return FALSE;
    while (at < length && (line[at] == ' ' || line[at] == '\t'))
        at++;
    return at < length && line[at] == ':';
}

static gboolean
is_blank(const char *line, gsize length)
{
    return length == 0 || line[0] == '\n' ||
           (length > 1 && line[0] == '\r' && line[1] == '\n');
}

static gboolean
copy(const char *bytes, gsize size, int out, GError **error)
{
    const char *line = bytes, *end = bytes + size;
    gboolean ours = FALSE;

    while (line < end) {
        gsize length = line_length(line, end);

        if (is_blank(line, length))
            break;
        if (line[0] != ' ' && line[0] != '\t')
            ours = is_field(line, length);
        if (!ours && !write_all(out, line, length, error))
            return FALSE;
        line += length;
    }
    return write_all(out, line, end - line, error);
}

int
send_unmarked(int fd, GError **error)
{
    struct stat status;
    int out = memfd_create("message", MFD_CLOEXEC);
    gboolean good = out >= 0 && fstat(fd, &status) == 0;
    void *bytes = MAP_FAILED;

    if (good && status.st_size > 0)
        bytes = mmap(NULL, status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (!good || bytes == MAP_FAILED)
        good = fail(error);
    else
        good = copy(bytes, status.st_size, out, error);
    if (bytes != MAP_FAILED)
        munmap(bytes, status.st_size);
    if (!good && out >= 0)
        close(out);
    return good ? out : -1;
}
