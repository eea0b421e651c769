/* The thread that writes: jobs share commits, but not failures; trouble is never taken for an
 * answer (XF5). */
#include "store/writer.h"

#include <sqlite3.h>
#include <string.h>

#include "lib/error.h"
#include "tests/unit/scratch.h"

static const Sql put = {"put",
                        "INSERT INTO list (account, address, seen) VALUES ('a', ?1, 1)"};
static const Sql orphan = {
    "orphan", "INSERT INTO move (item, number, at, from_state, to_state, who, why)"
              " VALUES ('nobody', 1, 1, 'held', 'draft', 'x', 'y')"};

static void
execute_beside(sqlite3 *handle, const char *text)
{
    g_assert_cmpint(sqlite3_exec(handle, text, NULL, NULL, NULL), ==, SQLITE_OK);
}

/* A job adds a row; then fails if told so. */
typedef struct {
    Db *db;
    const char *address;
    gboolean fails;
} Work;

static gboolean
run_work(gpointer data, GError **error)
{
    Work *work = data;

    if (db_run(work->db, &put, error, "s", work->address) < 0)
        return FALSE;
    if (!work->fails)
        return TRUE;
    g_set_error(error, EXEAT_ERROR, ERROR_INTEGRITY, "told to fail");
    return FALSE;
}

/* Keeps the thread until all callers are on their way, so that their jobs share commits. */
typedef struct {
    GMutex mutex;
    GCond changed;
    guint arrived;
    guint expected;
} Gate;

static gboolean
run_gate(gpointer data, G_GNUC_UNUSED GError **error)
{
    Gate *gate = data;

    g_mutex_lock(&gate->mutex);
    while (gate->arrived < gate->expected)
        g_cond_wait(&gate->changed, &gate->mutex);
    g_mutex_unlock(&gate->mutex);
    return TRUE;
}

static void
arrive(Gate *gate)
{
    g_mutex_lock(&gate->mutex);
    gate->arrived++;
    g_cond_signal(&gate->changed);
    g_mutex_unlock(&gate->mutex);
}

typedef struct {
    Writer *writer;
    Gate *gate; /* NULL when none */
    WriterJob job;
    gpointer data;
    GError *error;
} Call;

static gpointer
make_call(gpointer data)
{
    Call *call = data;

    if (call->gate != NULL)
        arrive(call->gate);
    writer_run(call->writer, call->job, call->data, &call->error);
    return NULL;
}

static void
run_many(Writer *writer, Db *db, Gate *gate, guint count, guint failing)
{
    g_autofree GThread **threads = g_new0(GThread *, count);
    g_autofree Work *work = g_new0(Work, count);
    g_autofree Call *calls = g_new0(Call, count);
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);

    for (guint i = 0; i < count; i++) {
        g_ptr_array_add(names, g_strdup_printf("%u@example.com", i));
        work[i] = (Work){.db = db, .address = names->pdata[i], .fails = i % failing == 0};
        calls[i] = (Call){.writer = writer, .gate = gate, .job = run_work, .data = &work[i]};
        threads[i] = g_thread_new("caller", make_call, &calls[i]);
    }
    for (guint i = 0; i < count; i++) {
        g_thread_join(threads[i]);
        if (work[i].fails)
            g_assert_error(calls[i].error, EXEAT_ERROR, ERROR_INTEGRITY);
        else
            g_assert_no_error(calls[i].error);
        g_clear_error(&calls[i].error);
    }
}

static void
stop_and_reopen(Scratch *scratch, Writer *writer)
{
    writer_stop(writer);
    scratch->db = NULL;
    scratch_reopen(scratch);
}

/* A failing job undoes itself and nobody else, alone and among others. */
static void
test_failing_job(void)
{
    static const struct {
        const char *name;
        guint jobs;
        guint failing; /* every n-th, from the first */
        gint64 kept;
    } rows[] = {{"one, failing", 1, 1, 0},
                {"many, every third failing", 60, 3, 40},
                {"many, all failing", 20, 1, 0}};

    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        Scratch scratch;
        Writer *writer = NULL;

        g_test_message("%s", rows[i].name);
        scratch_open(&scratch);
        writer = writer_start(scratch.db);
        run_many(writer, scratch.db, NULL, rows[i].jobs, rows[i].failing);
        stop_and_reopen(&scratch, writer);
        g_assert_cmpint(scratch_count_rows(scratch.db), ==, rows[i].kept);
        scratch_close(&scratch);
    }
}

static void
test_shares_commits(void)
{
    Gate gate = {.expected = 100};
    Call call = {.job = run_gate, .data = &gate};
    GThread *holder = NULL;
    guint64 jobs = 0, commits = 0;
    Scratch scratch;

    scratch_open(&scratch);
    call.writer = writer_start(scratch.db);
    holder = g_thread_new("holder", make_call, &call);
    run_many(call.writer, scratch.db, &gate, gate.expected, 7);
    g_thread_join(holder);
    writer_counts(call.writer, &jobs, &commits);
    g_assert_cmpuint(jobs, ==, 101);
    g_assert_cmpuint(commits, <, jobs);
    stop_and_reopen(&scratch, call.writer);
    g_assert_cmpint(scratch_count_rows(scratch.db), ==, 85);
    scratch_close(&scratch);
}

/* Somebody else holds the database longer than we wait: an error, and all is well later. */
static void
test_locked(void)
{
    g_autoptr(GError) error = NULL;
    Work work = {.address = "x@example.com"};
    Writer *writer = NULL;
    sqlite3 *beside = NULL;
    Scratch scratch;

    scratch_open(&scratch);
    work.db = scratch.db;
    g_assert_cmpint(sqlite3_open(scratch.path, &beside), ==, SQLITE_OK);
    execute_beside(beside, "BEGIN IMMEDIATE");
    writer = writer_start(scratch.db);
    g_assert_false(writer_run(writer, run_work, &work, &error));
    g_assert_error(error, EXEAT_ERROR, ERROR_TEMP);
    g_assert_nonnull(strstr(error->message, "locked"));
    g_clear_error(&error);

    execute_beside(beside, "ROLLBACK");
    g_assert_cmpint(sqlite3_close(beside), ==, SQLITE_OK);
    g_assert_true(writer_run(writer, run_work, &work, &error));
    g_assert_no_error(error);
    stop_and_reopen(&scratch, writer);
    g_assert_cmpint(scratch_count_rows(scratch.db), ==, 1);
    scratch_close(&scratch);
}

/* A row that only the commit finds wrong. */
static gboolean
run_bad_commit(gpointer data, GError **error)
{
    static const Sql defer = {"defer", "PRAGMA defer_foreign_keys = ON"};
    Work *work = data;

    return run_work(work, error) && db_run(work->db, &defer, error, "") >= 0 &&
           db_run(work->db, &orphan, error, "") >= 0;
}

static void
test_failing_commit(void)
{
    g_autoptr(GError) error = NULL;
    Work work = {.address = "x@example.com"};
    Writer *writer = NULL;
    guint64 jobs = 0, commits = 0;
    Scratch scratch;

    scratch_open(&scratch);
    work.db = scratch.db;
    writer = writer_start(scratch.db);
    g_assert_false(writer_run(writer, run_bad_commit, &work, &error));
    g_assert_error(error, EXEAT_ERROR, ERROR_TEMP);
    g_clear_error(&error);
    writer_counts(writer, &jobs, &commits);
    g_assert_cmpuint(commits, ==, 0);
    work.address = "y@example.com";
    g_assert_true(writer_run(writer, run_work, &work, &error));
    g_assert_no_error(error);
    stop_and_reopen(&scratch, writer);
    g_assert_cmpint(scratch_count_rows(scratch.db), ==, 1);
    scratch_close(&scratch);
}

/* Called in the writer's thread, so nobody may look at it before the caller goes on. */
static void
take_note(gpointer data)
{
    Work *noted = data;

    g_usleep(20000);
    noted->db = NULL;
}

/* What the witness notes of a commit is noted before anybody hears of the commit: what a crash
 * between both loses, nobody relied on (XC12). */
static void
test_watched(void)
{
    g_autoptr(GError) error = NULL;
    Work work = {.address = "x@example.com"};
    Work noted;
    Scratch scratch;

    scratch_open(&scratch);
    work.db = noted.db = scratch.db;
    Writer *writer = writer_start(scratch.db);
    const WriterWatch watch = {NULL, take_note, &noted};
    writer_watch(writer, &watch);
    g_assert_true(writer_run(writer, run_work, &work, &error));
    g_assert_null(noted.db);
    stop_and_reopen(&scratch, writer);
    scratch_close(&scratch);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/writer/failing-job", test_failing_job);
    g_test_add_func("/writer/shares-commits", test_shares_commits);
    g_test_add_func("/writer/locked/XF5", test_locked);
    g_test_add_func("/writer/failing-commit", test_failing_commit);
    g_test_add_func("/writer/watched/XC12", test_watched);
    return g_test_run();
}
