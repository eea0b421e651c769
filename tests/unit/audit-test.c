/* The audit record in its table: one chain, whoever writes, and a clock that cannot lie. */
#include "store/audit.h"

#include "store/writer.h"
#include "tests/unit/scratch.h"

enum { WRITERS = 16, ENTRIES = 50 };

static gboolean
append(Db *db, gint64 now, GError **error)
{
    const AuditEntry entry = {.kind = "moved", .account = "owner", .who = "relay"};

    return audit_append(db, &entry, now, error);
}

static void
append_well(Db *db, gint64 now)
{
    g_autoptr(GError) error = NULL;

    append(db, now, &error);
    g_assert_no_error(error);
}

typedef struct {
    const Seal *seal;
    ChainHead head;
    guint faults;
    guint clocks;
} Walk;

static gboolean
follow(const ChainEntry *entry, const char *seal, gpointer data)
{
    Walk *walk = data;
    g_autofree char *fault = chain_follow(walk->seal, &walk->head, entry, seal);

    walk->faults += fault != NULL;
    walk->clocks += g_str_equal(entry->kind, "clock");
    return TRUE;
}

static Walk
walk_all(Db *db)
{
    g_autoptr(GError) error = NULL;
    Walk walk = {.seal = db_seal(db)};

    audit_walk(db, 0, 100000, follow, &walk, &error);
    g_assert_no_error(error);
    return walk;
}

/* Sequence decides; a time that goes back by more than jitter is an entry (XE12). */
static void
test_clock(void)
{
    Scratch scratch;

    scratch_open(&scratch);
    append_well(scratch.db, 1000);
    append_well(scratch.db, 1000 - AUDIT_JITTER);
    g_assert_cmpuint(walk_all(scratch.db).clocks, ==, 0);
    append_well(scratch.db, 900);
    append_well(scratch.db, 900 - AUDIT_JITTER - 1);
    append_well(scratch.db, 900 - AUDIT_JITTER);
    g_assert_cmpuint(walk_all(scratch.db).clocks, ==, 1);
    g_assert_cmpuint(walk_all(scratch.db).faults, ==, 0);
    g_assert_cmpint(walk_all(scratch.db).head.seq, ==, 6);
    scratch_close(&scratch);
}

static void
test_head(void)
{
    static const Sql cut = {"cut", "DELETE FROM audit WHERE seq > 2"};
    const AuditEntry loss = {.kind = CHAIN_LOSS, .who = "relay"};
    g_autoptr(GError) error = NULL;
    ChainHead head;
    gboolean has = FALSE;
    gint64 at;
    Scratch scratch;

    scratch_open(&scratch);
    g_assert_true(audit_head(scratch.db, &head, &at, &error));
    g_assert_cmpint(head.seq, ==, 0);
    g_assert_true(audit_has(scratch.db, &head, &has, &error) && has);
    for (guint i = 0; i < 4; i++)
        append_well(scratch.db, 1000 + i);
    g_assert_true(audit_head(scratch.db, &head, &at, &error));
    g_assert_cmpint(head.seq, ==, 4);
    g_assert_cmpint(at, ==, 1003);
    g_assert_true(audit_has(scratch.db, &head, &has, &error) && has);
    /* The tail is cut: the rest is whole, and only the head knows (XE6). */
    g_assert_cmpint(db_run(scratch.db, &cut, &error, ""), ==, 2);
    g_assert_cmpuint(walk_all(scratch.db).faults, ==, 0);
    g_assert_true(audit_has(scratch.db, &head, &has, &error) && !has);
    /* Going on after it leaves the gap to be seen. */
    g_assert_true(audit_append_after(scratch.db, &head, &loss, 1004, &error));
    append_well(scratch.db, 1005);
    g_assert_cmpuint(walk_all(scratch.db).faults, ==, 1);
    g_assert_cmpint(walk_all(scratch.db).head.seq, ==, 6);
    scratch_close(&scratch);
}

typedef struct {
    Writer *writer;
    Db *db;
} Shared;

static gboolean
append_job(gpointer data, GError **error)
{
    return append(((Shared *)data)->db, 1000, error);
}

static gpointer
write_many(gpointer data)
{
    g_autoptr(GError) error = NULL;

    for (guint i = 0; i < ENTRIES; i++) {
        writer_run(((Shared *)data)->writer, append_job, data, &error);
        g_assert_no_error(error);
    }
    return NULL;
}

/* Many at once: the chain never forks, and no entry is lost (XE7). */
static void
test_many(void)
{
    GThread *threads[WRITERS];
    Scratch scratch;

    scratch_open(&scratch);
    Shared shared = {writer_start(scratch.db), scratch.db};
    for (guint i = 0; i < WRITERS; i++)
        threads[i] = g_thread_new("writer", write_many, &shared);
    for (guint i = 0; i < WRITERS; i++)
        g_thread_join(threads[i]);
    writer_stop(shared.writer);
    scratch.db = NULL;
    scratch_reopen(&scratch);
    g_assert_cmpuint(walk_all(scratch.db).faults, ==, 0);
    g_assert_cmpint(walk_all(scratch.db).head.seq, ==, WRITERS * ENTRIES);
    scratch_close(&scratch);
}

/* An entry of a transaction that was undone leaves no gap (XE8, XE10). */
static void
test_undone(void)
{
    g_autoptr(GError) error = NULL;
    Scratch scratch;

    scratch_open(&scratch);
    append_well(scratch.db, 1000);
    g_assert_true(db_begin(scratch.db, &error));
    append_well(scratch.db, 1001);
    db_rollback(scratch.db);
    append_well(scratch.db, 1002);
    g_assert_cmpuint(walk_all(scratch.db).faults, ==, 0);
    g_assert_cmpint(walk_all(scratch.db).head.seq, ==, 2);
    scratch_close(&scratch);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/audit/clock/XE12", test_clock);
    g_test_add_func("/audit/head/XE6", test_head);
    g_test_add_func("/audit/many/XE7", test_many);
    g_test_add_func("/audit/undone/XE10", test_undone);
    return g_test_run();
}
