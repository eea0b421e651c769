#include "store/piece.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "lib/error.h"
#include "lib/pread.h"
#include "lib/sum.h"
#include "store/queue-sql.h"

/* What one row holds, and all that we hold in memory of a large message. */
#define PIECE_BYTES (256 * 1024)

static gboolean
fail_damaged(const char *item, GError **error)
{
    g_set_error(error, EXEAT_ERROR, ERROR_INTEGRITY,
                "item %s: the bytes are not those recorded", item);
    return FALSE;
}

static gboolean
fail_io(const char *item, GError **error)
{
    g_set_error(error, EXEAT_ERROR, ERROR_TEMP, "item %s: %s", item, g_strerror(errno));
    return FALSE;
}

static gboolean
add_piece(Db *db, const char *item, gint64 number, const char *bytes, gsize length,
          GError **error)
{
    g_autofree char *sha256 = sum_of(bytes, length);

    return db_run(db, &piece_add, error, "sisb", item, number, sha256, bytes, length) >= 0;
}

gboolean
piece_store(Db *db, const char *item, int fd, guint64 size, GError **error)
{
    /* A byte more than it should have, to see that there are none. */
    gsize room = (gsize)MIN(size + 1, PIECE_BYTES);
    g_autofree char *buffer = g_malloc(room);
    guint64 stored = 0;
    gsize length = room;

    for (gint64 number = 0; length == room; number++) {
        gssize got = pread_most(fd, buffer, room, stored, size);

        if (got < 0)
            return fail_io(item, error);
        length = (gsize)got;
        stored += length;
        if (stored > size)
            return fail_damaged(item, error);
        if (length > 0 && !add_piece(db, item, number, buffer, length, error))
            return FALSE;
    }
    return stored == size || fail_damaged(item, error);
}

static gboolean
write_all(int fd, const char *bytes, gsize length)
{
    while (length > 0) {
        ssize_t written = write(fd, bytes, length);

        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return FALSE;
        bytes += written;
        length -= written;
    }
    return TRUE;
}

/* Writes the piece of the row if it is the one expected and undamaged. */
static gboolean
copy_piece(const char *item, Rows *rows, gint64 number, int fd, gsize *length_out,
           GError **error)
{
    gconstpointer bytes = rows_blob(rows, 2, length_out);
    g_autofree char *sha256 = sum_of(bytes, *length_out);

    if (rows_integer(rows, 0) != number || g_strcmp0(rows_text(rows, 1), sha256) != 0)
        return fail_damaged(item, error);
    return write_all(fd, bytes, *length_out) || fail_io(item, error);
}

gboolean
piece_copy(Db *db, const char *item, int fd, guint64 size, GError **error)
{
    g_autoptr(Rows) rows = db_query(db, &piece_load, error, "s", item);
    guint64 copied = 0;

    for (gint64 number = 0; rows_next(rows); number++) {
        gsize length = 0;

        if (!copy_piece(item, rows, number, fd, &length, error))
            return FALSE;
        copied += length;
    }
    if (!rows_end(rows, error))
        return FALSE;
    return copied == size || fail_damaged(item, error);
}
