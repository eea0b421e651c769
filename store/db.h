/* db.h - the relay's database: the only home of sqlite3
 *
 * WAL, synchronous=FULL, foreign keys on, a schema version. Statements come from the .sql
 * files by name (build-aux/sql-embed.awk) and are prepared once. A Db belongs to one thread.
 * Errors: ERROR_TEMP for anything SQLite says; ERROR_INTEGRITY for a database of a newer
 * version. */
#pragma once

#include <glib.h>

#include "lib/seal.h"

typedef struct _Db Db;
typedef struct _Rows Rows;

/* One named statement of a .sql file, as the generated headers define them: its parameters $1,
 * $2, … are ?1, ?2, … in the text. */
typedef struct {
    const char *name;
    const char *text;
} Sql;

/* Opens or creates the file (mode 0600); brings its schema up to date in one transaction. */
Db *db_open(const char *path, GError **error);

/* A second handle, for another thread, that begins with db_begin_reading only. */
Db *db_open_reader(const char *path, GError **error);
void db_close(Db *db);

/* The file's path, as it was opened; from any thread, while the handle is open. */
const char *db_path(const Db *db);

/* Ends the query that runs now, with an error; from any thread, while the handle is open. */
void db_interrupt(Db *db);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Db, db_close)

/* What approvals and audit entries in it are sealed with. Set once, before the first of them;
 * it is the Db's from then on. */
void db_set_seal(Db *db, Seal *seal);
const Seal *db_seal(Db *db);

/* How often the database, its log or the index of that was removed while it was open, and was
 * written anew by db_begin (XE14). A file that somebody put in its place is left alone: then
 * db_begin fails. */
guint db_rewritten(Db *db);

/* Transactions: immediate, so that a writer knows at once. A savepoint is a transaction inside
 * it; undoing rolls back to it and forgets it. */
gboolean db_begin(Db *db, GError **error);
gboolean db_commit(Db *db, GError **error);
void db_rollback(Db *db);

/* What is read until db_rollback is of one moment; nobody has to wait. */
gboolean db_begin_reading(Db *db, GError **error);

gboolean db_savepoint(Db *db, GError **error);
gboolean db_savepoint_release(Db *db, GError **error);
void db_savepoint_undo(Db *db);

/* Runs SQL without parameters and rows, not prepared; several statements at once are fine. */
gboolean db_execute(Db *db, const Sql *sql, GError **error);

/* Runs a statement that returns no rows. format has a letter per parameter, in the order $1,
 * $2, …: s text (const char *, NULL is NULL), i integer (gint64), b blob (const void *,
 * gsize). Returns the number of rows changed, -1 on error. */
gint64 db_run(Db *db, const Sql *sql, GError **error, const char *format, ...);

/* Starts a query; NULL on error. Step with rows_next until it returns FALSE, then ask
 * rows_end, which tells the end from a failure: FALSE with error. Rows that are NULL have
 * none, and end with the error of db_query. Columns count from 0; text and blob are borrowed
 * until the next step; a NULL reads as NULL or 0. */
Rows *db_query(Db *db, const Sql *sql, GError **error, const char *format, ...);
gboolean rows_next(Rows *rows);
gboolean rows_end(Rows *rows, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* For a query of one row: steps once; *found_out tells whether there is one. */
gboolean rows_one(Rows *rows, gboolean *found_out, GError **error);
const char *rows_text(Rows *rows, int column);
gint64 rows_integer(Rows *rows, int column);
gconstpointer rows_blob(Rows *rows, int column, gsize *length_out);
void rows_free(Rows *rows);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Rows, rows_free)

/* A query for one integer: COUNT and the like; no row reads as otherwise. */
gboolean db_integer(Db *db, const Sql *sql, gint64 otherwise, gint64 *number_out,
                    GError **error, const char *format, ...);

/* A query for one text, which the caller frees; no row reads as NULL. */
gboolean db_text(Db *db, const Sql *sql, char **text_out, GError **error, const char *format,
                 ...);

/* A number that changes when others than this handle have written to the database. */
gboolean db_foreign_version(Db *db, gint64 *version_out, GError **error);

/* The next number of that kind, from 1; inside a transaction. */
gboolean db_next_number(Db *db, const char *kind, gint64 *number_out, GError **error);

/* Numbers of one kind, taken beforehand by whoever will need many. Zeroed memory has none. */
typedef struct {
    gint64 next, end;
} NumberStock;

/* The same from a stock, which is filled up when it is empty, and must not outlive the
 * transaction. What is left over at its end is nobody's number. stock may be NULL. */
gboolean db_stock_number(Db *db, const char *kind, NumberStock *stock, gint64 *number_out,
                         GError **error);
