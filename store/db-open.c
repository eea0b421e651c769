#include "store/db.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/error.h"
#include "store/db-log.h"
#include "store/db-private.h"
#include "store/schema-sql.h"
#include "store/schema.h"

#define BUSY_TIMEOUT_MS 2000

static const char *const suffixes[DB_FILES] = {"", "-wal", "-shm"};

static gboolean
fail(const char *path, GError **error)
{
    g_set_error(error, EXEAT_ERROR, ERROR_TEMP, "%s: %s", path, g_strerror(errno));
    return FALSE;
}

/* SQLite creates with the umask; the log files beside it inherit the mode. An existing file is
 * not opened here: closing it would drop the locks that another handle of ours holds on it. */
static gboolean
create_file(const char *path, GError **error)
{
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    if (fd >= 0)
        close(fd);
    else if (errno != EEXIST)
        return fail(path, error);
    return chmod(path, 0600) == 0 || fail(path, error);
}

static gboolean
use_wal(Db *db, GError **error)
{
    g_autoptr(Rows) rows = db_query(db, &connection_wal, error, "");
    gboolean found = FALSE;

    if (!rows_one(rows, &found, error))
        return FALSE;
    if (found && g_strcmp0(rows_text(rows, 0), "wal") == 0)
        return TRUE;
    g_set_error(error, EXEAT_ERROR, ERROR_TEMP,
                "database: its file system cannot hold a write-ahead log");
    return FALSE;
}

static gboolean
set_up(Db *db, GError **error)
{
    sqlite3_extended_result_codes(db->handle, 1);
    sqlite3_busy_timeout(db->handle, BUSY_TIMEOUT_MS);
    sqlite3_db_config(db->handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(db->handle, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
    sqlite3_db_config(db->handle, SQLITE_DBCONFIG_DQS_DDL, 0, NULL);
    return db_execute(db, &connection_settings, error) && use_wal(db, error);
}

static void
note_file(Db *db, guint i)
{
    struct stat status;

    if (stat(db->paths[i], &status) != 0)
        status = (struct stat){0};
    db->seen[i].device = status.st_dev;
    db->seen[i].number = status.st_ino;
}

/* Opens what is there now. On success the handle that was is the caller's to close. */
static gboolean
open_handle(Db *db, GError **error)
{
    sqlite3 *before = db->handle;
    gboolean opened =
        sqlite3_open_v2(db->paths[0], &db->handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
                        db_log_vfs()) == SQLITE_OK;

    if (!opened)
        db_fail(db, db->paths[0], error);
    db->opening = TRUE;
    opened = opened && set_up(db, error) && schema_migrate(db, error);
    db->opening = FALSE;
    if (!opened) {
        g_hash_table_remove_all(db->idle);
        sqlite3_close(db->handle);
        db->handle = before;
        return FALSE;
    }
    for (guint i = 0; i < DB_FILES; i++)
        note_file(db, i);
    return TRUE;
}

static void
finalize(gpointer statement)
{
    sqlite3_finalize(statement);
}

static Db *
db_new(const char *path, gboolean reader)
{
    Db *db = g_new0(Db, 1);

    /* Nobody reads SQLite's count of its memory, and it takes a lock for every allocation.
     * Only the first call of a process counts. */
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    /* What a job of a batch changed is kept for its undoing, in memory. A threshold for
     * writing it to a file would be taken as a whole for every job, and given back to the
     * system. */
    sqlite3_config(SQLITE_CONFIG_STMTJRNL_SPILL, -1);
    db->idle = g_hash_table_new_full(NULL, NULL, NULL, finalize);
    db->reader = reader;
    for (guint i = 0; i < DB_FILES; i++)
        db->paths[i] = g_strconcat(path, suffixes[i], NULL);
    return db;
}

Db *
db_open(const char *path, GError **error)
{
    g_autoptr(Db) db = db_new(path, FALSE);

    return create_file(path, error) && open_handle(db, error) ? g_steal_pointer(&db) : NULL;
}

Db *
db_open_reader(const char *path, GError **error)
{
    g_autoptr(Db) db = db_new(path, TRUE);

    return open_handle(db, error) ? g_steal_pointer(&db) : NULL;
}

void
db_close(Db *db)
{
    if (db == NULL)
        return;
    g_hash_table_unref(db->idle);
    sqlite3_close(db->handle);
    seal_free(db->seal);
    for (guint i = 0; i < DB_FILES; i++)
        g_free(db->paths[i]);
    g_free(db);
}

const char *
db_path(const Db *db)
{
    return db->paths[0];
}

void
db_interrupt(Db *db)
{
    sqlite3_interrupt(db->handle);
}

guint
db_rewritten(Db *db)
{
    return db->rewritten;
}

typedef enum { FILES_STAND, FILES_GONE, FILES_OTHER } FilesState;

/* Other: the database is another file. */
static gboolean
look(Db *db, FilesState *state_out, GError **error)
{
    FilesState state = FILES_STAND;

    for (guint i = 0; i < DB_FILES; i++) {
        struct stat status = {0};

        if (stat(db->paths[i], &status) != 0 && errno != ENOENT)
            return fail(db->paths[i], error);
        if (status.st_ino == db->seen[i].number && status.st_dev == db->seen[i].device)
            continue;
        state = i == 0 && status.st_ino != 0 ? FILES_OTHER : MAX(state, FILES_GONE);
    }
    *state_out = state;
    return TRUE;
}

static gboolean
sync_path(const char *path, GError **error)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    gboolean done = fd >= 0 && fsync(fd) == 0;

    if (!done)
        fail(path, error);
    if (fd >= 0)
        close(fd);
    return done;
}

/* A log that is left would be played into the new file: it goes first. */
static gboolean
put_in_place(Db *db, const char *fresh, GError **error)
{
    g_autofree char *folder = g_path_get_dirname(fresh);

    for (guint i = 1; i < DB_FILES; i++)
        if (unlink(db->paths[i]) != 0 && errno != ENOENT)
            return fail(db->paths[i], error);
    if (rename(fresh, db->paths[0]) != 0)
        return fail(db->paths[0], error);
    note_file(db, 0);
    return sync_path(folder, error);
}

/* What SQLite has open is whole as long as it is open. Another process that opens what is left
 * by name would see less, and would damage it. */
static gboolean
write_anew(Db *db, GError **error)
{
    g_autofree char *fresh = g_strconcat(db->paths[0], ".new", NULL);

    if (unlink(fresh) != 0 && errno != ENOENT)
        return fail(fresh, error);
    if (db_run(db, &copy_whole, error, "s", fresh) < 0 || !sync_path(fresh, error) ||
        (chmod(fresh, 0600) != 0 && !fail(fresh, error)))
        return FALSE;
    return put_in_place(db, fresh, error);
}

static gboolean
open_again(Db *db, GError **error)
{
    sqlite3 *before = db->handle;

    g_hash_table_remove_all(db->idle);
    if (!open_handle(db, error))
        return FALSE;
    sqlite3_close(before);
    return TRUE;
}

gboolean
db_follow(Db *db, GError **error)
{
    FilesState state = FILES_STAND;

    if (db->opening)
        return TRUE;
    if (!look(db, &state, error))
        return FALSE;
    switch (state) {
    case FILES_STAND:
        return TRUE;
    case FILES_GONE:
        if (db->reader)
            break;
        if (!write_anew(db, error) || !open_again(db, error))
            return FALSE;
        db->rewritten++;
        return TRUE;
    case FILES_OTHER:
        if (db->reader)
            return open_again(db, error);
        break;
    }
    g_set_error(error, EXEAT_ERROR, ERROR_TEMP, "%s was removed or replaced while it is open",
                db->paths[0]);
    return FALSE;
}
