#include "store/db-log.h"

#include <string.h>

#define NAME "exeat"

/* Some thirty pages. */
enum { ROOM = 128 * 1024 };

/* The log: what is gathered stands right before the file of SQLite's own VFS. */
typedef struct {
    sqlite3_file base;
    guint8 *bytes; /* NULL until something is written */
    sqlite3_int64 start;
    int length;
} Log;

static sqlite3_file *
real(sqlite3_file *file)
{
    return (sqlite3_file *)((Log *)file + 1);
}

/* What cannot be written is given up, and the transaction with it: nobody was told of it. */
static int
flush(sqlite3_file *file)
{
    Log *log = (Log *)file;
    int length = log->length;

    log->length = 0;
    return length == 0
               ? SQLITE_OK
               : real(file)->pMethods->xWrite(real(file), log->bytes, length, log->start);
}

/* For what is no part of a commit: there a full disk would be reason to SQLite to undo one
 * statement alone, and pages of others are among what was gathered. */
static int
flush_between(sqlite3_file *file)
{
    int result = flush(file);

    return result == SQLITE_FULL ? SQLITE_IOERR_WRITE : result;
}

static int
write_bytes(sqlite3_file *file, const void *bytes, int length, sqlite3_int64 offset)
{
    Log *log = (Log *)file;
    gboolean follows = log->length > 0 && offset == log->start + log->length;

    if (!follows || length > ROOM - log->length) {
        int result = flush(file);

        if (result != SQLITE_OK)
            return result;
        log->start = offset;
    }
    if (length > ROOM)
        return real(file)->pMethods->xWrite(real(file), bytes, length, offset);
    if (log->bytes == NULL)
        log->bytes = g_malloc(ROOM);
    memcpy(log->bytes + log->length, bytes, (gsize)length);
    log->length += length;
    return SQLITE_OK;
}

static int
read_bytes(sqlite3_file *file, void *bytes, int length, sqlite3_int64 offset)
{
    int result = flush_between(file);

    return result == SQLITE_OK ? real(file)->pMethods->xRead(real(file), bytes, length, offset)
                               : result;
}

static int
truncate_file(sqlite3_file *file, sqlite3_int64 size)
{
    int result = flush_between(file);

    return result == SQLITE_OK ? real(file)->pMethods->xTruncate(real(file), size) : result;
}

static int
sync_file(sqlite3_file *file, int flags)
{
    int result = flush(file);

    return result == SQLITE_OK ? real(file)->pMethods->xSync(real(file), flags) : result;
}

static int
measure(sqlite3_file *file, sqlite3_int64 *size_out)
{
    int result = flush_between(file);

    return result == SQLITE_OK ? real(file)->pMethods->xFileSize(real(file), size_out)
                               : result;
}

static int
close_file(sqlite3_file *file)
{
    int flushed = flush(file);
    int closed = real(file)->pMethods->xClose(real(file));

    g_free(((Log *)file)->bytes);
    return flushed != SQLITE_OK ? flushed : closed;
}

static int
lock_file(sqlite3_file *file, int level)
{
    return real(file)->pMethods->xLock(real(file), level);
}

static int
unlock_file(sqlite3_file *file, int level)
{
    return real(file)->pMethods->xUnlock(real(file), level);
}

static int
check_lock(sqlite3_file *file, int *locked_out)
{
    return real(file)->pMethods->xCheckReservedLock(real(file), locked_out);
}

static int
control(sqlite3_file *file, int operation, void *argument)
{
    return real(file)->pMethods->xFileControl(real(file), operation, argument);
}

static int
sector_size(sqlite3_file *file)
{
    return real(file)->pMethods->xSectorSize(real(file));
}

static int
characteristics(sqlite3_file *file)
{
    return real(file)->pMethods->xDeviceCharacteristics(real(file));
}

static const sqlite3_io_methods methods = {
    .iVersion = 1,
    .xClose = close_file,
    .xRead = read_bytes,
    .xWrite = write_bytes,
    .xTruncate = truncate_file,
    .xSync = sync_file,
    .xFileSize = measure,
    .xLock = lock_file,
    .xUnlock = unlock_file,
    .xCheckReservedLock = check_lock,
    .xFileControl = control,
    .xSectorSize = sector_size,
    .xDeviceCharacteristics = characteristics,
};

/* Every other file is as SQLite's own VFS opens it. */
static int
open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *flags_out)
{
    sqlite3_vfs *own = sqlite3_vfs_find(NULL);

    (void)vfs;
    if (!(flags & SQLITE_OPEN_WAL))
        return own->xOpen(own, name, file, flags, flags_out);
    *(Log *)file = (Log){0};
    int result = own->xOpen(own, name, real(file), flags, flags_out);
    if (result == SQLITE_OK)
        file->pMethods = &methods;
    return result;
}

const char *
db_log_vfs(void)
{
    static sqlite3_vfs vfs;
    static gsize once;

    if (g_once_init_enter(&once)) {
        vfs = *sqlite3_vfs_find(NULL);
        vfs.zName = NAME;
        vfs.pNext = NULL;
        vfs.szOsFile += (int)sizeof(Log);
        vfs.xOpen = open_file;
        g_assert(sqlite3_vfs_register(&vfs, FALSE) == SQLITE_OK);
        g_once_init_leave(&once, 1);
    }
    return NAME;
}
