/* The database and the thread that writes it: what is committed stays, what failed is undone,
 * and trouble is never taken for an answer (XF5). */
#include "store/db.h"

#include <glib/gstdio.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/error.h"
#include "store/approval-sql.h"
#include "store/audit-sql.h"
#include "store/warrant-sql.h"
#include "store/history-sql.h"
#include "store/keep-sql.h"
#include "store/lost-sql.h"
#include "store/owed-sql.h"
#include "store/pace-sql.h"
#include "store/queue-sql.h"
#include "store/sent-sql.h"
#include "tests/unit/scratch.h"

static const Sql put = {"put", "INSERT INTO list (account, address, seen) VALUES (?1, ?2, 1)"};
static const Sql put_swapped = {
    "put_swapped", "INSERT INTO list (address, account, seen) VALUES (?2, ?1, 1)"};
static const Sql read_all = {"read_all", "SELECT account, address FROM list ORDER BY address"};
static const Sql read_address = {"read_address",
                                 "SELECT address FROM list WHERE account = ?1"};
static const Sql orphan = {
    "orphan", "INSERT INTO move (item, number, at, from_state, to_state, who, why)"
              " VALUES ('nobody', 1, 1, 'held', 'draft', 'x', 'y')"};
static const Sql echo = {"echo", "SELECT ?1, ?2, ?3"};
static const Sql broken = {"broken", "SELECT nonsense FROM nowhere"};
static const Sql quoted = {"quoted", "SELECT \"nonsense\" FROM list"};

static void
put_row(Db *db, const char *address)
{
    g_autoptr(GError) error = NULL;

    g_assert_cmpint(db_run(db, &put, &error, "ss", "a", address), ==, 1);
    g_assert_no_error(error);
}

static sqlite3 *
open_beside(const Scratch *scratch)
{
    sqlite3 *handle = NULL;

    g_assert_cmpint(sqlite3_open(scratch->path, &handle), ==, SQLITE_OK);
    return handle;
}

static void
execute_beside(sqlite3 *handle, const char *text)
{
    g_assert_cmpint(sqlite3_exec(handle, text, NULL, NULL, NULL), ==, SQLITE_OK);
}

static void
test_mode(void)
{
    Scratch scratch;
    GStatBuf status;

    scratch_open(&scratch);
    put_row(scratch.db, "x@example.com");
    g_assert_cmpint(g_stat(scratch.path, &status), ==, 0);
    g_assert_cmpint(status.st_mode & 0777, ==, 0600);
    /* One that somebody opened up is closed again. */
    g_assert_cmpint(g_chmod(scratch.path, 0666), ==, 0);
    scratch_reopen(&scratch);
    g_assert_cmpint(g_stat(scratch.path, &status), ==, 0);
    g_assert_cmpint(status.st_mode & 0777, ==, 0600);
    scratch_close(&scratch);
}

static void
test_settings(void)
{
    static const struct {
        Sql sql;
        gint64 value;
    } rows[] = {{{"", "PRAGMA synchronous"}, 2},
                {{"", "PRAGMA foreign_keys"}, 1},
                {{"", "PRAGMA trusted_schema"}, 0},
                {{"", "PRAGMA cell_size_check"}, 1},
                {{"", "PRAGMA busy_timeout"}, 2000}};
    g_autoptr(GError) error = NULL;
    Scratch scratch;

    scratch_open(&scratch);
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        gint64 value = -1;

        g_test_message("%s", rows[i].sql.text);
        db_integer(scratch.db, &rows[i].sql, -1, &value, &error, "");
        g_assert_no_error(error);
        g_assert_cmpint(value, ==, rows[i].value);
    }
    scratch_close(&scratch);
}

static void
test_reopen_keeps(void)
{
    Scratch scratch;

    scratch_open(&scratch);
    put_row(scratch.db, "x@example.com");
    scratch_reopen(&scratch);
    g_assert_cmpint(scratch_count_rows(scratch.db), ==, 1);
    scratch_close(&scratch);
}

static void
test_newer_version(void)
{
    g_autoptr(GError) error = NULL;
    Scratch scratch;
    sqlite3 *beside = NULL;

    scratch_open(&scratch);
    db_close(g_steal_pointer(&scratch.db));
    beside = open_beside(&scratch);
    execute_beside(beside, "INSERT INTO schema_version (version) VALUES (999)");
    sqlite3_close(beside);
    g_assert_null(db_open(scratch.path, &error));
    g_assert_error(error, EXEAT_ERROR, ERROR_INTEGRITY);
    scratch_close(&scratch);
}

static void
test_unopenable(void)
{
    static const struct {
        const char *name;
        const char *file; /* in the folder */
        const char *content;
    } rows[] = {{"no such folder", "none/db", NULL},
                {"no database", "text", "This is a text, not a database, and long enough."}};
    Scratch scratch;

    scratch_open(&scratch);
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *path = g_build_filename(scratch.folder, rows[i].file, NULL);
        g_autoptr(GError) error = NULL;

        g_test_message("%s", rows[i].name);
        if (rows[i].content != NULL)
            g_assert_true(g_file_set_contents(path, rows[i].content, -1, NULL));
        g_assert_null(db_open(path, &error));
        g_assert_error(error, EXEAT_ERROR, ERROR_TEMP);
    }
    scratch_close(&scratch);
}

static void
test_parameters(void)
{
    static const char bytes[] = {'a', '\0', 'b'};
    g_autoptr(GError) error = NULL;
    g_autoptr(Rows) rows = NULL;
    gsize length = 0;
    Scratch scratch;

    scratch_open(&scratch);
    rows = db_query(scratch.db, &echo, &error, "sib", "text", G_MININT64, bytes, sizeof bytes);
    g_assert_no_error(error);
    g_assert_true(rows_next(rows));
    g_assert_cmpstr(rows_text(rows, 0), ==, "text");
    g_assert_cmpint(rows_integer(rows, 1), ==, G_MININT64);
    gconstpointer read = rows_blob(rows, 2, &length);
    g_assert_cmpmem(read, length, bytes, sizeof bytes);
    g_assert_false(rows_next(rows));
    g_assert_false(rows_next(rows));
    g_assert_true(rows_end(rows, &error));
    g_assert_no_error(error);
    g_clear_pointer(&rows, rows_free);

    rows = db_query(scratch.db, &echo, &error, "sss", NULL, NULL, NULL);
    g_assert_true(rows_next(rows));
    g_assert_null(rows_text(rows, 0));
    g_assert_cmpint(rows_integer(rows, 1), ==, 0);
    g_clear_pointer(&rows, rows_free);
    scratch_close(&scratch);
}

/* ?2 is the second argument wherever it stands. */
static void
test_parameter_order(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(Rows) rows = NULL;
    Scratch scratch;

    scratch_open(&scratch);
    g_assert_cmpint(db_run(scratch.db, &put_swapped, &error, "ss", "account", "address"), ==,
                    1);
    rows = db_query(scratch.db, &read_all, &error, "");
    g_assert_true(rows_next(rows));
    g_assert_cmpstr(rows_text(rows, 0), ==, "account");
    g_assert_cmpstr(rows_text(rows, 1), ==, "address");
    g_clear_pointer(&rows, rows_free);
    scratch_close(&scratch);
}

/* A query inside a query of the same name: neither disturbs the other. */
/* Rows that end early are not taken for all of them. */
static void
test_early_end(void)
{
    static const Sql overflowing = {
        "overflowing", "SELECT abs(column1) FROM (VALUES (-1), (-9223372036854775807 - 1))"};
    g_autoptr(GError) error = NULL;
    g_autoptr(Rows) rows = NULL;
    Scratch scratch;

    scratch_open(&scratch);
    rows = db_query(scratch.db, &overflowing, &error, "");
    g_assert_true(rows_next(rows));
    g_assert_cmpint(rows_integer(rows, 0), ==, 1);
    g_assert_false(rows_next(rows));
    g_assert_false(rows_next(rows));
    g_assert_false(rows_end(rows, &error));
    g_assert_error(error, EXEAT_ERROR, ERROR_TEMP);
    g_assert_nonnull(strstr(error->message, "overflowing"));
    g_clear_error(&error);
    g_assert_false(rows_end(rows, NULL));
    g_clear_pointer(&rows, rows_free);

    g_assert_false(rows_next(NULL));
    g_assert_false(rows_end(NULL, &error));
    scratch_close(&scratch);
}

static void
test_nested_query(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(Rows) outer = NULL;
    guint seen = 0;
    Scratch scratch;

    scratch_open(&scratch);
    put_row(scratch.db, "x@example.com");
    put_row(scratch.db, "y@example.com");
    outer = db_query(scratch.db, &read_address, &error, "s", "a");
    while (rows_next(outer)) {
        g_autoptr(Rows) inner = db_query(scratch.db, &read_address, &error, "s", "a");

        while (rows_next(inner))
            seen++;
        g_assert_true(rows_end(inner, &error));
    }
    g_assert_true(rows_end(outer, &error));
    g_assert_cmpuint(seen, ==, 4);
    g_clear_pointer(&outer, rows_free);
    scratch_close(&scratch);
}

static void
test_statement_errors(void)
{
    static const Sql *const statements[] = {&broken, &quoted, &orphan};
    Scratch scratch;

    scratch_open(&scratch);
    for (gsize i = 0; i < G_N_ELEMENTS(statements); i++) {
        g_autoptr(GError) error = NULL;

        g_assert_cmpint(db_run(scratch.db, statements[i], &error, ""), ==, -1);
        g_assert_error(error, EXEAT_ERROR, ERROR_TEMP);
        g_assert_nonnull(strstr(error->message, statements[i]->name));
    }
    scratch_close(&scratch);
}

static void
test_transactions(void)
{
    g_autoptr(GError) error = NULL;
    Scratch scratch;

    scratch_open(&scratch);
    g_assert_true(db_begin(scratch.db, &error));
    put_row(scratch.db, "undone@example.com");
    db_rollback(scratch.db);
    g_assert_cmpint(scratch_count_rows(scratch.db), ==, 0);

    g_assert_true(db_begin(scratch.db, &error));
    put_row(scratch.db, "kept@example.com");
    g_assert_true(db_savepoint(scratch.db, &error));
    put_row(scratch.db, "undone@example.com");
    db_savepoint_undo(scratch.db);
    g_assert_true(db_savepoint(scratch.db, &error));
    put_row(scratch.db, "also-kept@example.com");
    g_assert_true(db_savepoint_release(scratch.db, &error));
    g_assert_true(db_commit(scratch.db, &error));
    g_assert_no_error(error);
    scratch_reopen(&scratch);
    g_assert_cmpint(scratch_count_rows(scratch.db), ==, 2);
    scratch_close(&scratch);
}

static void
check_plan(sqlite3 *handle, const Sql *sql, const char *search)
{
    g_autofree char *text = g_strconcat("EXPLAIN QUERY PLAN ", sql->text, NULL);
    sqlite3_stmt *statement = NULL;
    gboolean found = FALSE;

    g_assert_cmpint(sqlite3_prepare_v2(handle, text, -1, &statement, NULL), ==, SQLITE_OK);
    while (sqlite3_step(statement) == SQLITE_ROW) {
        const char *step = (const char *)sqlite3_column_text(statement, 3);

        g_test_message("%s: %s", sql->name, step);
        found = found || strstr(step, search) != NULL;
        /* "wanted" is one row of parameters, "excess" has a limit. */
        if (g_str_has_prefix(step, "SCAN ") && strcmp(step, "SCAN CONSTANT ROW") != 0 &&
            strcmp(step, "SCAN wanted") != 0 && strcmp(step, "SCAN excess") != 0 &&
            strcmp(step, search) != 0)
            g_assert_nonnull(strstr(step, "INDEX"));
        g_assert_null(strstr(step, "FOR ORDER BY"));
    }
    g_assert_true(found);
    sqlite3_finalize(statement);
}

/* What one message costs must not grow with what is stored: everything is searched by an index
 * (XE18), or walked along one in order. */
static void
test_plans(void)
{
    static const struct {
        const Sql *sql;
        const char *search; /* what one step of the plan must say */
    } rows[] = {
        {&address_look_up, "correspondent USING PRIMARY KEY"},
        {&message_find, "AND id=?"},
        {&message_mark_automatic, "AND id=?"},
        {&participant_find, "address=?"},
        {&participant_letters, "participant_letters (account=? AND address=?"},
        {&conversation_is_mine,
         "participant USING PRIMARY KEY (account=? AND conversation=?)"},
        {&correspondent_find, "address=?"},
        {&correspondent_exists, "address=?"},
        {&warrant_newest, "audit_history (account=?"},
        {&correspondent_like, "skeleton=?"},
        {&domain_find, "name=?"},
        {&domain_key_find, "word=?"},
        {&mention_tell, "address=?"},
        {&mention_drop, "mention_age (account=? AND last_seen<?"},
        {&mention_drop_of, "mention_sender (account=? AND aimed=? AND last_sender=?"},
        {&mention_excess, "COVERING INDEX mention_sender (account=? AND aimed=?"},
        {&received_set_apart, "message_received (account=? AND needed=? AND seen<?"},
        {&received_drop, "message_received (account=? AND needed=? AND seen<?"},
        {&received_excess, "message_received (account=? AND needed=?"},
        {&needed_drop, "message_received (account=? AND needed=?"},
        {&list_drop, "list_age (account=?"},
        {&list_excess, "list_age (account=?"},
        {&approval_open, "approval_item (item=?"},
        {&approval_open_all, "SCAN approval USING INDEX approval_item"},
        {&approval_use, "id=?"},
        {&approval_void_one, "id=?"},
        {&audit_newest, "SCAN audit"},
        {&audit_of_item, "audit_item (item=?"},
        {&audit_page, "rowid>?"},
        {&audit_seal_at, "rowid=?"},
        {&ticket_count_used, "item=?"},
        {&ticket_find, "id=?"},
        {&ticket_use, "id=?"},
        {&ticket_void_unused, "item=?"},
        {&item_load, "id=?"},
        {&item_move, "id=?"},
        {&item_next, "SEARCH item"},
        {&item_set_aside, "id=?"},
        {&extract_set, "item_extract USING INTEGER PRIMARY KEY"},
        {&item_attempt, "id=?"},
        {&item_size, "id=?"},
        {&piece_load, "item=?"},
        {&move_add, "item=?"},
        {&move_load, "item=?"},
        {&tally_load, "account=?"},
        {&find_key, "submission_key=?"},
        {&find_message, "message_id=?"},
        {&list_message, "message_id=?"},
        {&list_conversation, "item_conversation (account=? AND conversation=?"},
        {&list_conversation, "message_own (account=? AND conversation=?"},
        {&list_all, "SCAN item"},
        {&list_account, "item_created (account=?)"},
        {&list_agenda, "SEARCH item USING INDEX item_waiting_"},
        {&list_agenda, "item_failed (account=?"},
        {&list_state, "item_waiting_state (state=?)"},
        {&list_due, "timer<?"},
        {&delayed_in_conversation, "item_waiting_conversation (account=? AND conversation=?)"},
        {&delayed_to_address, "item_waiting_conversation (account=?"},
        {&delayed_to_address, "item=? AND address=?"},
        {&delayed_after, "item_waiting_state (state=? AND rowid>?)"},
        {&next_due, "item_timer"},
        {&automatic_in_conversation,
         "COVERING INDEX item_conversation (account=? AND conversation=? AND automatic=?"},
        {&automatic_itself, "id=?"},
        {&pending_find, "conversation=?"},
        {&kept_next, "kept USING PRIMARY KEY (account=?)"},
        {&kept_drop, "account=? AND finished=? AND item=?"},
        {&lost_look_up, "digest=?"},
        {&pace_since, "login=? AND hour>?"},
        {&pace_forget, "login=? AND hour<?"},
        {&owed_look_up, "account=? AND submission_key=?"},
        {&owed_note, "item=?"},
        {&owed_drop, "owed_told (told<?"},
        {&sent_lower, "account=? AND name=? AND width=? AND start=?"},
        {&sent_drop, "account=? AND name=? AND width=? AND start=?"},
        {&sent_sum, "account=? AND name=? AND width=? AND start>?)"},
        {&sent_sum, "account=? AND name=? AND width=? AND start>? AND start<?)"},
        {&sent_last, "account=? AND name=? AND width=?"},
    };
    Scratch scratch;
    sqlite3 *beside = NULL;

    scratch_open(&scratch);
    beside = open_beside(&scratch);
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++)
        check_plan(beside, rows[i].sql, rows[i].search);
    sqlite3_close(beside);
    scratch_close(&scratch);
}

/* SQLite ends a transaction by itself when the disk is full (XE9); ROLLBACK as a statement
 * does the same. What follows must not slip in alone. */
static void
test_transaction_lost(void)
{
    static const Sql lose = {"lose", "ROLLBACK"};
    g_autoptr(GError) error = NULL;
    Scratch scratch;

    scratch_open(&scratch);
    g_assert_true(db_begin(scratch.db, &error));
    put_row(scratch.db, "x@example.com");
    g_assert_cmpint(db_run(scratch.db, &lose, &error, ""), >=, 0);
    g_assert_cmpint(db_run(scratch.db, &put, &error, "ss", "a", "late@example.com"), ==, -1);
    g_assert_error(error, EXEAT_ERROR, ERROR_TEMP);
    g_clear_error(&error);
    g_assert_false(db_commit(scratch.db, &error));
    g_assert_error(error, EXEAT_ERROR, ERROR_TEMP);
    g_clear_error(&error);
    g_assert_cmpint(scratch_count_rows(scratch.db), ==, 0);
    g_assert_true(db_begin(scratch.db, &error));
    put_row(scratch.db, "next@example.com");
    g_assert_true(db_commit(scratch.db, &error));
    g_assert_cmpint(scratch_count_rows(scratch.db), ==, 1);
    scratch_close(&scratch);
}

/* A full database: the page limit stands for the disk (XE9, XF4). */
static void
test_full(void)
{
    static const Sql limit = {"limit", "PRAGMA max_page_count = 1"};
    static const Sql put_large = {"put_large", "INSERT INTO list (account, address, seen)"
                                               " VALUES ('a', hex(zeroblob(1000000)), 1)"};
    g_autoptr(GError) error = NULL;
    gint64 pages = 0;
    Scratch scratch;

    scratch_open(&scratch);
    g_assert_true(db_integer(scratch.db, &limit, 0, &pages, &error, ""));
    g_assert_true(db_begin(scratch.db, &error));
    g_assert_cmpint(db_run(scratch.db, &put_large, &error, ""), ==, -1);
    g_assert_error(error, EXEAT_ERROR, ERROR_TEMP);
    g_assert_nonnull(strstr(error->message, "full"));
    db_rollback(scratch.db);
    g_assert_cmpint(scratch_count_rows(scratch.db), ==, 0);
    scratch_close(&scratch);
}

/* What is open is written anew, and a reader goes on with that (XE14). */
static void
test_removed(void)
{
    g_autoptr(GError) error = NULL;
    Scratch scratch;

    scratch_open(&scratch);
    g_assert_true(db_begin(scratch.db, &error));
    put_row(scratch.db, "x@example.com");
    g_assert_true(db_commit(scratch.db, &error));
    g_autoptr(Db) reader = db_open_reader(scratch.path, &error);
    g_assert_no_error(error);
    g_assert_cmpint(g_unlink(scratch.path), ==, 0);
    g_assert_false(db_begin_reading(reader, &error));
    g_assert_error(error, EXEAT_ERROR, ERROR_TEMP);
    g_clear_error(&error);
    g_assert_true(db_begin(scratch.db, &error));
    g_assert_true(db_commit(scratch.db, &error));
    g_assert_cmpuint(db_rewritten(scratch.db), ==, 1);
    g_assert_true(db_begin_reading(reader, &error));
    g_assert_cmpint(scratch_count_rows(reader), ==, 1);
    db_rollback(reader);
    scratch_reopen(&scratch);
    g_assert_cmpint(scratch_count_rows(scratch.db), ==, 1);
    g_clear_pointer(&reader, db_close);
    scratch_close(&scratch);
}

/* Numbers only grow, whoever takes them, and none comes twice; a stock is for one kind. */
static void
test_numbers(void)
{
    g_autoptr(GError) error = NULL;
    NumberStock stock = {0}, other = {0};
    gint64 last = 0, number = 0, before = 0;
    Scratch scratch;

    scratch_open(&scratch);
    g_assert_true(db_begin(scratch.db, &error));
    g_assert_true(db_next_number(scratch.db, "a", &last, &error));
    g_assert_cmpint(last, ==, 1);
    for (guint i = 0; i < 1000; i++) {
        g_assert_true(db_stock_number(scratch.db, "a", &stock, &number, &error));
        g_assert_cmpint(number, ==, last + 1);
        last = number;
    }
    g_assert_true(db_stock_number(scratch.db, "b", &other, &number, &error));
    g_assert_cmpint(number, ==, 1);
    g_assert_true(db_stock_number(scratch.db, "a", NULL, &before, &error));
    g_assert_cmpint(before, >, last);
    g_assert_true(db_next_number(scratch.db, "a", &number, &error));
    g_assert_cmpint(number, ==, before + 1);
    g_assert_true(db_commit(scratch.db, &error));
    g_assert_no_error(error);
    scratch_close(&scratch);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/db/mode", test_mode);
    g_test_add_func("/db/settings", test_settings);
    g_test_add_func("/db/reopen-keeps", test_reopen_keeps);
    g_test_add_func("/db/newer-version", test_newer_version);
    g_test_add_func("/db/unopenable", test_unopenable);
    g_test_add_func("/db/parameters", test_parameters);
    g_test_add_func("/db/parameter-order", test_parameter_order);
    g_test_add_func("/db/nested-query", test_nested_query);
    g_test_add_func("/db/early-end", test_early_end);
    g_test_add_func("/db/statement-errors", test_statement_errors);
    g_test_add_func("/db/transactions", test_transactions);
    g_test_add_func("/db/transaction-lost", test_transaction_lost);
    g_test_add_func("/db/numbers", test_numbers);
    g_test_add_func("/db/full/XE9", test_full);
    g_test_add_func("/db/removed/XE14", test_removed);
    g_test_add_func("/db/plans/XE18", test_plans);
    return g_test_run();
}
