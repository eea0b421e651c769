#include "relay/trace.h"

#include <errno.h>
#include <string.h>

#include "lib/error.h"
#include "lib/pread.h"
#include "lib/sum.h"

#define FIELD "Received"

enum { PIECE = 64 * 1024 };

/* Fills the buffer as far as the file goes. */
static gboolean
read_at(int fd, char *buffer, guint64 offset, guint64 file, gsize *length_out, GError **error)
{
    gssize length = pread_most(fd, buffer, PIECE, offset, file);

    if (length < 0) {
        g_set_error(error, EXEAT_ERROR, ERROR_TEMP, "pread: %s", g_strerror(errno));
        return FALSE;
    }
    *length_out = (gsize)length;
    return TRUE;
}

/* The line from here on, its end included; 0 when it has no end. */
static gsize
line_length(const char *line, const char *end)
{
    const char *feed = memchr(line, '\n', (gsize)(end - line));

    return feed != NULL ? (gsize)(feed - line) + 1 : 0;
}

static gboolean
is_trace(const char *line, gsize length)
{
    return length > strlen(FIELD) && g_ascii_strncasecmp(line, FIELD, strlen(FIELD)) == 0 &&
           strchr(": \t", line[strlen(FIELD)]) != NULL;
}

/* Adds the head without its trace. Returns the head's length, 0 when there is no trace or no
 * end of the head. */
static gsize
add_head(Sum *sum, const char *head, gsize size)
{
    const char *line = head, *end = head + size;
    gboolean trace = FALSE, any = FALSE;
    gsize length;

    while ((length = line_length(line, end)) > 0 && *line != '\n' && *line != '\r') {
        if (*line != ' ' && *line != '\t')
            trace = is_trace(line, length);
        any |= trace;
        if (!trace)
            sum_add(sum, line, length);
        line += length;
    }
    return any && length > 0 ? (gsize)(line - head) : 0;
}

static gboolean
add_rest(Sum *sum, int fd, guint64 offset, guint64 file, GError **error)
{
    char buffer[PIECE];
    gsize length;

    do {
        if (!read_at(fd, buffer, offset, file, &length, error))
            return FALSE;
        sum_add(sum, buffer, length);
        offset += length;
    } while (length == PIECE);
    return TRUE;
}

char *
trace_sum(int fd, guint64 size, GError **error)
{
    char head[PIECE];
    g_autoptr(Sum) sum = sum_new();
    gsize read;

    if (!read_at(fd, head, 0, size, &read, error))
        return NULL;
    gsize length = add_head(sum, head, read);
    if (length == 0)
        return g_strdup("");
    return add_rest(sum, fd, length, size, error) ? sum_end(g_steal_pointer(&sum)) : NULL;
}
