/* A conversation that was handed back stays locked, by whatever id it is reached. */
#include "store/lock.h"

#include "tests/unit/observe.h"

#define NOW 1000

static gboolean
lock(Db *db, const char *const *ids)
{
    g_autoptr(GError) error = NULL;
    gboolean is_new = FALSE;

    lock_set(db, ME, ids, "item", "agent login a", NOW, &is_new, &error);
    g_assert_no_error(error);
    return is_new;
}

static gboolean
lift(Db *db, const char *const *ids)
{
    g_autoptr(GError) error = NULL;
    gboolean was = FALSE;

    lock_lift(db, ME, ids, "item", "user alice (1001)", NOW, &was, &error);
    g_assert_no_error(error);
    return was;
}

static gboolean
holds(Db *db, const char *account, const char *id)
{
    const char *const ids[] = {"<unheard@of>", id, NULL};
    g_autoptr(GError) error = NULL;
    gboolean locked = FALSE;

    lock_holds(db, account, ids, &locked, &error);
    g_assert_no_error(error);
    return locked;
}

#define IDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void
test_conversation(void)
{
    Scratch scratch;

    scratch_open(&scratch);
    observe_human(scratch.db, "<1@me>", NULL, NORA, NOW);
    observe_received(scratch.db, "<2@nora>", "<1@me>", NORA, NULL, NOW);
    observe_human(scratch.db, "<other@me>", NULL, NORA, NOW);
    g_assert_false(holds(scratch.db, ME, "<1@me>"));
    g_assert_true(lock(scratch.db, IDS("<3@agent>", "<2@nora>")));
    g_assert_false(lock(scratch.db, IDS("<3@agent>")));
    observe_received(scratch.db, "<4@nora>", "<2@nora>", NORA, NULL, NOW);
    scratch_reopen(&scratch);
    g_assert_true(holds(scratch.db, ME, "<1@me>"));
    g_assert_true(holds(scratch.db, ME, "<2@nora>"));
    g_assert_true(holds(scratch.db, ME, "<3@agent>"));
    g_assert_true(holds(scratch.db, ME, "<4@nora>"));
    g_assert_false(holds(scratch.db, ME, "<other@me>"));
    g_assert_false(holds(scratch.db, "second", "<1@me>"));
    g_assert_true(lift(scratch.db, IDS("<4@nora>")));
    g_assert_false(holds(scratch.db, ME, "<3@agent>"));
    g_assert_false(lift(scratch.db, IDS("<4@nora>")));
    scratch_close(&scratch);
}

/* Of a conversation that nobody has seen, the ids alone are locked. */
static void
test_unknown(void)
{
    Scratch scratch;

    scratch_open(&scratch);
    g_assert_true(lock(scratch.db, IDS("<1@agent>", "<0@nora>")));
    g_assert_true(holds(scratch.db, ME, "<0@nora>"));
    observe_received(scratch.db, "<0@nora>", NULL, NORA, NULL, NOW);
    g_assert_true(holds(scratch.db, ME, "<0@nora>"));
    scratch_close(&scratch);
}

/* What was submitted to a locked conversation, and kept, leads there too. */
static void
test_grows(void)
{
    Scratch scratch;

    scratch_open(&scratch);
    g_assert_true(lock(scratch.db, IDS("<1@agent>")));
    g_assert_false(lock(scratch.db, IDS("<2@agent>", "<1@agent>")));
    g_assert_true(holds(scratch.db, ME, "<2@agent>"));
    g_assert_true(lift(scratch.db, IDS("<2@agent>")));
    g_assert_false(holds(scratch.db, ME, "<1@agent>"));
    scratch_close(&scratch);
}

/* Two locks that one message names end together. */
static void
test_two(void)
{
    Scratch scratch;

    scratch_open(&scratch);
    g_assert_true(lock(scratch.db, IDS("<1@agent>")));
    g_assert_true(lock(scratch.db, IDS("<2@agent>")));
    g_assert_true(lift(scratch.db, IDS("<3@agent>", "<1@agent>", "<2@agent>")));
    g_assert_false(holds(scratch.db, ME, "<1@agent>"));
    g_assert_false(holds(scratch.db, ME, "<2@agent>"));
    scratch_close(&scratch);
}

/* An id that is none, or longer than a line, is not kept. */
static void
test_odd_ids(void)
{
    g_autofree char *longest = g_strnfill(HISTORY_ID_BYTES_MAX + 1, 'x');
    Scratch scratch;

    scratch_open(&scratch);
    g_assert_true(lock(scratch.db, IDS("", longest, "<1@agent>")));
    g_assert_false(holds(scratch.db, ME, ""));
    g_assert_false(holds(scratch.db, ME, longest));
    g_assert_true(holds(scratch.db, ME, "<1@agent>"));
    scratch_close(&scratch);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/lock/conversation/B5", test_conversation);
    g_test_add_func("/lock/unknown", test_unknown);
    g_test_add_func("/lock/grows/XB16", test_grows);
    g_test_add_func("/lock/two", test_two);
    g_test_add_func("/lock/odd-ids", test_odd_ids);
    return g_test_run();
}
