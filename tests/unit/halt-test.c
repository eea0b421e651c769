/* What is switched off stays off until it is switched on, and is on record. */
#include "store/halt.h"

#include "tests/unit/items.h"
#include "tests/unit/scratch.h"

static gboolean
halt(Db *db, const char *account, HaltKind kind)
{
    const Halt halt = {.kind = kind,
                       .account = (char *)account,
                       .why = (char *)"it runs wild",
                       .who = (char *)"user root (0)",
                       .since = NOW};
    g_autoptr(GError) error = NULL;
    gboolean set = FALSE;

    halt_set(db, &halt, &set, &error);
    g_assert_no_error(error);
    return set;
}

static gboolean
lift(Db *db, const char *account, HaltKind kind)
{
    g_autoptr(GError) error = NULL;
    gboolean lifted = FALSE;

    halt_lift(db, kind, account, "user root (0)", NOW + 1, &lifted, &error);
    g_assert_no_error(error);
    return lifted;
}

/* What the account is under, as a sentence; "" for nothing. */
static char *
find(Db *db, const char *account)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(Halt) found = NULL;

    halt_find(db, account, &found, &error);
    g_assert_no_error(error);
    return found != NULL ? halt_describe(found) : g_strdup("");
}

static void
assert_found(Db *db, const char *account, const char *expected)
{
    g_autofree char *found = find(db, account);

    g_assert_cmpstr(found, ==, expected);
}

static void
test_stands(void)
{
    Scratch scratch;

    scratch_open(&scratch);
    assert_found(scratch.db, "owner", "");
    g_assert_true(halt(scratch.db, "owner", HALT_STOPPED));
    g_assert_false(halt(scratch.db, "owner", HALT_STOPPED));
    scratch_reopen(&scratch);
    assert_found(scratch.db, "owner", "stopped: it runs wild");
    assert_found(scratch.db, "second", "");
    g_assert_false(lift(scratch.db, "owner", HALT_SUSPENDED));
    g_assert_false(lift(scratch.db, "", HALT_STOPPED));
    g_assert_true(lift(scratch.db, "owner", HALT_STOPPED));
    assert_found(scratch.db, "owner", "");
    scratch_close(&scratch);
}

static void
test_strictest(void)
{
    Scratch scratch;

    scratch_open(&scratch);
    halt(scratch.db, "", HALT_STOPPED);
    assert_found(scratch.db, "owner", "stopped: it runs wild");
    halt(scratch.db, "owner", HALT_REVOKED);
    halt(scratch.db, "owner", HALT_SUSPENDED);
    assert_found(scratch.db, "owner", "revoked: it runs wild");
    assert_found(scratch.db, "second", "stopped: it runs wild");
    lift(scratch.db, "owner", HALT_REVOKED);
    assert_found(scratch.db, "owner", "suspended: it runs wild");
    lift(scratch.db, "owner", HALT_SUSPENDED);
    assert_found(scratch.db, "owner", "stopped: it runs wild");
    scratch_close(&scratch);
}

static void
test_list(void)
{
    g_autoptr(GError) error = NULL;
    Scratch scratch;

    scratch_open(&scratch);
    halt(scratch.db, "owner", HALT_SUSPENDED);
    halt(scratch.db, "", HALT_STOPPED);
    g_autoptr(GPtrArray) halts = halt_list(scratch.db, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(halts->len, ==, 2);
    const Halt *first = halts->pdata[0];
    g_assert_cmpstr(first->account, ==, "");
    g_assert_cmpstr(first->who, ==, "user root (0)");
    g_assert_cmpint(first->since, ==, NOW);
    scratch_close(&scratch);
}

/* What a stop freezes is not due; who waits for a person expires all the same. */
static void
test_due(void)
{
    static const struct {
        const char *account;
        const char *due;
    } rows[] = {{"second", "d a h"}, {"owner", "h"}, {"", "h"}};
    g_autoptr(GError) error = NULL;

    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(Item) delayed = make_item("d", "owner", STATE_DELAYED);
        g_autoptr(Item) approved = make_item("a", "owner", STATE_APPROVED);
        g_autoptr(Item) held = make_item("h", "owner", STATE_HELD);
        Scratch scratch;

        scratch_open(&scratch);
        held->expires = NOW;
        add(scratch.db, delayed);
        add(scratch.db, approved);
        add(scratch.db, held);
        halt(scratch.db, rows[i].account, HALT_STOPPED);
        assert_ids(queue_due(scratch.db, NOW, 10, NULL, NULL, &error), rows[i].due);
        scratch_close(&scratch);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/halt/stands/XF8", test_stands);
    g_test_add_func("/halt/strictest", test_strictest);
    g_test_add_func("/halt/list", test_list);
    g_test_add_func("/halt/due/A2", test_due);
    return g_test_run();
}
