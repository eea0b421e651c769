/* What strangers made us store goes again: by age, and what is too much (XE18). */
#include "tests/unit/observe.h"

enum { DAY = 24 * 3600 };

/* Steps until nothing is left to do; how many did something. */
static guint
prune(Db *db, gint64 expired, guint limit)
{
    g_autoptr(GError) error = NULL;
    gboolean more = TRUE;
    guint steps = 0;

    for (;; steps++) {
        history_prune(db, ME, expired, limit, &more, &error);
        g_assert_no_error(error);
        if (!more)
            return steps;
    }
}

static gboolean
is_thread(Db *db, const char *id)
{
    const char *const ids[] = {id, NULL};
    g_autoptr(GError) error = NULL;
    gint64 conversation = 0;
    gboolean mine = FALSE;

    history_conversation(db, ME, ids, &conversation, &mine, NULL, &error);
    g_assert_no_error(error);
    return mine;
}

static void
test_mentions(void)
{
    Scratch scratch;

    scratch_open(&scratch);
    observe_received(scratch.db, "<m1@x>", NULL, EVIL, NORA, 1 * DAY);
    observe_received(scratch.db, "<m2@x>", NULL, EVIL, LEE, 1 * DAY);
    observe_received(scratch.db, "<m3@x>", NULL, EVIL, LEE, 5 * DAY); /* named again */
    prune(scratch.db, 1 * DAY, 100);
    g_assert_true(look_up(scratch.db, NORA).mentioned);
    prune(scratch.db, 1 * DAY + 1, 100);
    g_assert_false(look_up(scratch.db, NORA).mentioned);
    g_assert_true(look_up(scratch.db, LEE).mentioned);
    prune(scratch.db, 6 * DAY, 100);
    g_assert_false(look_up(scratch.db, LEE).mentioned);
    scratch_close(&scratch);
}

/* Ids of conversations in which the human wrote stay, all others go. */
static void
test_ids(void)
{
    Scratch scratch;

    scratch_open(&scratch);
    observe_received(scratch.db, "<n1@x>", NULL, NORA, NULL, 1 * DAY);
    observe_human(scratch.db, "<o1@x>", "<n1@x>", NORA, 1 * DAY);
    observe_received(scratch.db, "<n2@x>", "<o1@x>", NORA, NULL, 1 * DAY);
    observe_received(scratch.db, "<e1@x>", NULL, EVIL, NULL, 1 * DAY);
    g_assert_cmpuint(prune(scratch.db, 9 * DAY, 100), >, 0);
    g_assert_cmpuint(prune(scratch.db, 9 * DAY, 100), ==, 0);
    g_assert_true(is_thread(scratch.db, "<n1@x>"));
    g_assert_true(is_thread(scratch.db, "<n2@x>"));
    g_assert_true(is_thread(scratch.db, "<o1@x>"));
    g_assert_false(is_thread(scratch.db, "<e1@x>"));
    /* An id that was let go is back when the human answers its message. */
    observe_human(scratch.db, "<o2@x>", "<e1@x>", EVIL, 9 * DAY);
    g_assert_true(is_thread(scratch.db, "<e1@x>"));
    scratch_close(&scratch);
}

/* One who names addresses by the thousand pushes out his own only. */
static void
test_flood_of_mentions(void)
{
    Scratch scratch;

    scratch_open(&scratch);
    db_begin(scratch.db, NULL);
    observe_received(scratch.db, "<m1@x>", NULL, LEE, NORA, 1000);
    for (guint i = 0; i < 3000; i++) {
        g_autofree char *name = g_strdup_printf("a%u@example.net", i);
        observe_received(scratch.db, "<e@x>", NULL, EVIL, name, 2000 + i);
    }
    observe_received(scratch.db, "<m2@x>", NULL, LEE, LEE "x", 9000);
    db_commit(scratch.db, NULL);
    g_assert_cmpuint(prune(scratch.db, 0, 100), >, 1);
    g_assert_true(look_up(scratch.db, NORA).mentioned);
    g_assert_true(look_up(scratch.db, LEE "x").mentioned);
    g_assert_false(look_up(scratch.db, "a2901@example.net").mentioned);
    g_assert_true(look_up(scratch.db, "a2902@example.net").mentioned);
    g_assert_true(look_up(scratch.db, "a2999@example.net").mentioned);
    scratch_close(&scratch);
}

/* Nobody floods away that he named somebody the human writes to. */
static void
test_flood_over_correspondent(void)
{
    Scratch scratch;

    scratch_open(&scratch);
    db_begin(scratch.db, NULL);
    observe_human(scratch.db, "<k1@x>", NULL, NORA, 1000);
    observe_received(scratch.db, "<e@x>", NULL, EVIL, NORA, 1500);
    for (guint i = 0; i < 500; i++) {
        g_autofree char *name = g_strdup_printf("a%u@example.net", i);
        observe_received(scratch.db, "<e@x>", NULL, EVIL, name, 2000 + i);
    }
    db_commit(scratch.db, NULL);
    prune(scratch.db, 0, 100);
    g_assert_true(look_up(scratch.db, NORA).mentioned);
    g_assert_false(look_up(scratch.db, "a399@example.net").mentioned);
    g_assert_true(look_up(scratch.db, "a400@example.net").mentioned);
    prune(scratch.db, 1501, 100);
    g_assert_false(look_up(scratch.db, NORA).mentioned); /* it grows old like others */
    scratch_close(&scratch);
}

/* One text names more addresses than are kept: whom the human writes to is noted, wherever. */
static void
test_crowded_text(void)
{
    enum { NAMES = 3000 };
    g_autoptr(GError) error = NULL;
    g_auto(GStrv) names = g_new0(char *, NAMES + 3);
    Scratch scratch;

    scratch_open(&scratch);
    observe_human(scratch.db, "<k1@x>", NULL, NORA, 1000);
    for (guint i = 0; i < NAMES; i++)
        names[i] = g_strdup_printf("a%u@example.net", i);
    names[NAMES] = g_strdup(NORA);
    names[NAMES + 1] = g_strdup(LEE);
    history_observe(scratch.db,
                    &(Observation){.kind = OBSERVED_RECEIVED,
                                   .account = ME,
                                   .message_id = "<m1@x>",
                                   .sender = EVIL,
                                   .mentioned = (const char *const *)names},
                    2000, &error);
    g_assert_no_error(error);
    g_assert_true(look_up(scratch.db, names[0]).mentioned);
    g_assert_true(look_up(scratch.db, NORA).mentioned);
    g_assert_false(look_up(scratch.db, LEE).mentioned);
    g_assert_false(look_up(scratch.db, LEE).known);
    scratch_close(&scratch);
}

/* A flood of ids leaves the human's conversations alone, and is kept short inside one too. */
static void
test_flood_of_ids(void)
{
    Scratch scratch;

    scratch_open(&scratch);
    db_begin(scratch.db, NULL);
    observe_human(scratch.db, "<o1@x>", NULL, NORA, 1000);
    observe_received(scratch.db, "<n1@x>", "<o1@x>", NORA, NULL, 1001);
    for (guint i = 0; i < 200; i++) {
        g_autofree char *id = g_strdup_printf("<e%u@x>", i);
        observe_received(scratch.db, id, NULL, EVIL, NULL, 2000 + i);
    }
    db_commit(scratch.db, NULL);
    prune(scratch.db, 0, 100);
    g_assert_true(is_thread(scratch.db, "<n1@x>"));

    db_begin(scratch.db, NULL);
    for (guint i = 0; i < 300; i++) {
        g_autofree char *id = g_strdup_printf("<f%u@x>", i);
        observe_received(scratch.db, id, "<o1@x>", NORA, NULL, 3000 + i);
    }
    db_commit(scratch.db, NULL);
    prune(scratch.db, 0, 100);
    g_assert_true(is_thread(scratch.db, "<f299@x>"));
    g_assert_false(is_thread(scratch.db, "<f0@x>"));
    g_assert_true(is_thread(scratch.db, "<o1@x>")); /* the human's own */
    scratch_close(&scratch);
}

static void
test_flood_of_lists(void)
{
    g_autoptr(GError) error = NULL;
    Scratch scratch;

    scratch_open(&scratch);
    for (guint i = 0; i < 30; i++) {
        g_autofree char *name = g_strdup_printf("l%u@example.net", i);
        const char *const lists[] = {name, NULL};
        const Observation observation = {
            .kind = OBSERVED_RECEIVED, .account = ME, .lists = lists};
        history_observe(scratch.db, &observation, 1000 + i, &error);
        g_assert_no_error(error);
    }
    prune(scratch.db, 9 * DAY, 10); /* they do not expire */
    g_assert_false(look_up(scratch.db, "l19@example.net").list);
    g_assert_true(look_up(scratch.db, "l20@example.net").list);
    scratch_close(&scratch);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/history-prune/mentions", test_mentions);
    g_test_add_func("/history-prune/ids", test_ids);
    g_test_add_func("/history-prune/flood-of-mentions XE18", test_flood_of_mentions);
    g_test_add_func("/history-prune/flood-over-correspondent XE18 XB28",
                    test_flood_over_correspondent);
    g_test_add_func("/history-prune/crowded-text XB28", test_crowded_text);
    g_test_add_func("/history-prune/flood-of-ids XE18", test_flood_of_ids);
    g_test_add_func("/history-prune/flood-of-lists XE18", test_flood_of_lists);
    return g_test_run();
}
