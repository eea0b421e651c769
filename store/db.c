#include "store/db.h"

#include <sqlite3.h>
#include <stdarg.h>
#include <string.h>

#include "lib/error.h"
#include "store/db-private.h"
#include "store/schema-sql.h"

#define STOCK_NUMBERS G_GINT64_CONSTANT(100)

struct _Rows {
    Db *db;
    const Sql *sql;
    sqlite3_stmt *statement;
    gboolean ended;
    GError *trouble; /* why it ended early */
};

gboolean
db_fail(Db *db, const char *what, GError **error)
{
    g_set_error(error, EXEAT_ERROR, ERROR_TEMP, "database, %s: %s (%d)", what,
                sqlite3_errmsg(db->handle), sqlite3_extended_errcode(db->handle));
    return FALSE;
}

gboolean
db_execute(Db *db, const Sql *sql, GError **error)
{
    if (sqlite3_exec(db->handle, sql->text, NULL, NULL, NULL) != SQLITE_OK)
        return db_fail(db, sql->name, error);
    return TRUE;
}

void
db_set_seal(Db *db, Seal *seal)
{
    g_assert(db->seal == NULL);
    db->seal = seal;
}

const Seal *
db_seal(Db *db)
{
    g_assert(db->seal != NULL);
    return db->seal;
}

gboolean
db_begin(Db *db, GError **error)
{
    g_assert(!db->begun);
    if (!db_follow(db, error) || db_run(db, &transaction_begin, error, "") < 0)
        return FALSE;
    db->begun = TRUE;
    db->doomed = FALSE;
    return TRUE;
}

gboolean
db_begin_reading(Db *db, GError **error)
{
    g_assert(!db->begun);
    return db_follow(db, error) && db_run(db, &transaction_read, error, "") >= 0;
}

/* A full disk or an I/O error makes SQLite undo the whole transaction by itself. What came
 * after would then stand alone, committed statement by statement: refuse it instead. */
static gboolean
check_transaction(Db *db, GError **error)
{
    if (!db->begun || (!db->doomed && !sqlite3_get_autocommit(db->handle)))
        return TRUE;
    g_set_error(error, EXEAT_ERROR, ERROR_TEMP,
                "database: the transaction was given up after an earlier failure");
    return FALSE;
}

gboolean
db_commit(Db *db, GError **error)
{
    g_assert(db->begun);
    if (!check_transaction(db, error) || db_run(db, &transaction_commit, error, "") < 0) {
        db_rollback(db);
        return FALSE;
    }
    db->begun = FALSE;
    return TRUE;
}

void
db_rollback(Db *db)
{
    if (!sqlite3_get_autocommit(db->handle))
        db_execute(db, &transaction_rollback, NULL);
    db->begun = FALSE;
    db->doomed = FALSE;
}

gboolean
db_savepoint(Db *db, GError **error)
{
    g_assert(db->begun);
    return db_run(db, &savepoint_set, error, "") >= 0;
}

gboolean
db_savepoint_release(Db *db, GError **error)
{
    return db_run(db, &savepoint_release, error, "") >= 0;
}

void
db_savepoint_undo(Db *db)
{
    if (!db_execute(db, &savepoint_undo, NULL))
        db->doomed = TRUE;
}

/* Takes the statement out of the cache, so that a query inside a query of the same name gets
 * one of its own. */
static sqlite3_stmt *
take_statement(Db *db, const Sql *sql, GError **error)
{
    gpointer idle = NULL;
    sqlite3_stmt *statement = NULL;

    if (!check_transaction(db, error))
        return NULL;
    if (g_hash_table_steal_extended(db->idle, sql, NULL, &idle))
        return idle;
    if (sqlite3_prepare_v3(db->handle, sql->text, -1, SQLITE_PREPARE_PERSISTENT, &statement,
                           NULL) != SQLITE_OK) {
        db_fail(db, sql->name, error);
        return NULL;
    }
    return statement;
}

static void
give_back_statement(Db *db, const Sql *sql, sqlite3_stmt *statement)
{
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    if (g_hash_table_contains(db->idle, sql))
        sqlite3_finalize(statement);
    else
        g_hash_table_insert(db->idle, (gpointer)sql, statement);
}

/* lifetime: SQLITE_STATIC when the arguments outlive the last step, else SQLITE_TRANSIENT. */
static int
bind_one(sqlite3_stmt *statement, int index, char letter, sqlite3_destructor_type lifetime,
         va_list *arguments)
{
    if (letter == 'i')
        return sqlite3_bind_int64(statement, index, va_arg(*arguments, gint64));
    if (letter == 's')
        return sqlite3_bind_text(statement, index, va_arg(*arguments, const char *), -1,
                                 lifetime);

    g_assert(letter == 'b');
    const void *bytes = va_arg(*arguments, const void *);
    gsize length = va_arg(*arguments, gsize);
    /* Without bytes there may be no pointer, which would read as NULL. */
    if (length == 0)
        return sqlite3_bind_zeroblob(statement, index, 0);
    return sqlite3_bind_blob64(statement, index, bytes, length, lifetime);
}

static gboolean
bind_all(sqlite3_stmt *statement, const char *format, sqlite3_destructor_type lifetime,
         va_list *arguments)
{
    g_assert_cmpuint(strlen(format), ==, sqlite3_bind_parameter_count(statement));
    for (guint i = 0; format[i] != '\0'; i++)
        if (bind_one(statement, (int)i + 1, format[i], lifetime, arguments) != SQLITE_OK)
            return FALSE;
    return TRUE;
}

gint64
db_run(Db *db, const Sql *sql, GError **error, const char *format, ...)
{
    sqlite3_stmt *statement = take_statement(db, sql, error);
    gint64 changed = -1;
    va_list arguments;

    if (statement == NULL)
        return -1;
    va_start(arguments, format);
    if (bind_all(statement, format, SQLITE_STATIC, &arguments) &&
        sqlite3_step(statement) == SQLITE_DONE)
        changed = sqlite3_changes(db->handle);
    else
        db_fail(db, sql->name, error);
    va_end(arguments);
    give_back_statement(db, sql, statement);
    return changed;
}

static Rows *
query_start(Db *db, const Sql *sql, GError **error, const char *format, va_list *arguments)
{
    g_autoptr(Rows) rows = NULL;
    sqlite3_stmt *statement = take_statement(db, sql, error);

    if (statement == NULL)
        return NULL;
    rows = g_new0(Rows, 1);
    rows->db = db;
    rows->sql = sql;
    rows->statement = statement;
    if (!bind_all(statement, format, SQLITE_TRANSIENT, arguments)) {
        db_fail(db, sql->name, error);
        return NULL;
    }
    return g_steal_pointer(&rows);
}

Rows *
db_query(Db *db, const Sql *sql, GError **error, const char *format, ...)
{
    va_list arguments;
    Rows *rows = NULL;

    va_start(arguments, format);
    rows = query_start(db, sql, error, format, &arguments);
    va_end(arguments);
    return rows;
}

gboolean
rows_next(Rows *rows)
{
    int result;

    /* A step past the end would start the statement again. */
    if (rows == NULL || rows->ended)
        return FALSE;
    rows->ended = TRUE;
    if (!check_transaction(rows->db, &rows->trouble))
        return FALSE;
    result = sqlite3_step(rows->statement);
    rows->ended = result != SQLITE_ROW;
    if (rows->ended && result != SQLITE_DONE)
        db_fail(rows->db, rows->sql->name, &rows->trouble);
    return !rows->ended;
}

gboolean
rows_end(Rows *rows, GError **error)
{
    if (rows != NULL && rows->trouble != NULL)
        g_propagate_error(error, g_error_copy(rows->trouble));
    return rows != NULL && rows->trouble == NULL;
}

gboolean
rows_one(Rows *rows, gboolean *found_out, GError **error)
{
    *found_out = rows_next(rows);
    return rows_end(rows, error);
}

const char *
rows_text(Rows *rows, int column)
{
    return (const char *)sqlite3_column_text(rows->statement, column);
}

gint64
rows_integer(Rows *rows, int column)
{
    return sqlite3_column_int64(rows->statement, column);
}

gconstpointer
rows_blob(Rows *rows, int column, gsize *length_out)
{
    gconstpointer bytes = sqlite3_column_blob(rows->statement, column);

    *length_out = sqlite3_column_bytes(rows->statement, column);
    return bytes;
}

void
rows_free(Rows *rows)
{
    if (rows == NULL)
        return;
    give_back_statement(rows->db, rows->sql, rows->statement);
    g_clear_error(&rows->trouble);
    g_free(rows);
}

/* The rows, at the first one if *found_out. */
static Rows *
query_one(Db *db, const Sql *sql, gboolean *found_out, GError **error, const char *format,
          va_list *arguments)
{
    g_autoptr(Rows) rows = query_start(db, sql, error, format, arguments);

    if (!rows_one(rows, found_out, error))
        return NULL;
    return g_steal_pointer(&rows);
}

gboolean
db_integer(Db *db, const Sql *sql, gint64 otherwise, gint64 *number_out, GError **error,
           const char *format, ...)
{
    gboolean found = FALSE;
    va_list arguments;

    va_start(arguments, format);
    g_autoptr(Rows) rows = query_one(db, sql, &found, error, format, &arguments);
    va_end(arguments);
    if (rows == NULL)
        return FALSE;
    *number_out = found ? rows_integer(rows, 0) : otherwise;
    return TRUE;
}

gboolean
db_text(Db *db, const Sql *sql, char **text_out, GError **error, const char *format, ...)
{
    gboolean found = FALSE;
    va_list arguments;

    va_start(arguments, format);
    g_autoptr(Rows) rows = query_one(db, sql, &found, error, format, &arguments);
    va_end(arguments);
    if (rows == NULL)
        return FALSE;
    *text_out = found ? g_strdup(rows_text(rows, 0)) : NULL;
    return TRUE;
}

gboolean
db_foreign_version(Db *db, gint64 *version_out, GError **error)
{
    return db_integer(db, &foreign_version, 0, version_out, error, "");
}

/* The last of so many more numbers. */
static gboolean
raise_number(Db *db, const char *kind, gint64 count, gint64 *last_out, GError **error)
{
    return db_run(db, &counter_raise, error, "si", kind, count) >= 0 &&
           db_integer(db, &counter_read, 0, last_out, error, "s", kind);
}

gboolean
db_next_number(Db *db, const char *kind, gint64 *number_out, GError **error)
{
    return raise_number(db, kind, 1, number_out, error);
}

gboolean
db_stock_number(Db *db, const char *kind, NumberStock *stock, gint64 *number_out,
                GError **error)
{
    gint64 last = 0;

    if (stock == NULL)
        return db_next_number(db, kind, number_out, error);
    if (stock->next == stock->end) {
        if (!raise_number(db, kind, STOCK_NUMBERS, &last, error))
            return FALSE;
        *stock = (NumberStock){last + 1 - STOCK_NUMBERS, last + 1};
    }
    *number_out = stock->next++;
    return TRUE;
}
