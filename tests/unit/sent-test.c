/* What left by itself, counted by spans of time, is what a look at every item counts, whatever
 * became of the items since (XB14, XB15). */
#include "store/sent.h"

#include "tests/unit/items.h"
#include "tests/unit/scratch.h"

enum { DAY = 86400, ITEMS = 400, PEOPLE = 6, MOVES = 800, LOOKS = 60 };

#define WHERE                                                                                 \
    " account = ?1 AND created >= ?2 AND automatic = 1 AND state IN"                          \
    " ('released', 'delayed', 'sending', 'committing', 'uncertain', 'sent')"

static const Sql all = {"all", "SELECT COUNT(*) FROM item WHERE" WHERE};
static const Sql to_one = {"to_one", "SELECT COUNT(*) FROM item JOIN recipient ON item = id"
                                     " WHERE address = ?3 AND" WHERE};
static const Sql reached = {"reached", "SELECT COUNT(DISTINCT address)"
                                       " FROM item JOIN recipient ON item = id WHERE" WHERE};
static const Sql empty_rows = {"empty_rows", "SELECT COUNT(*) FROM sent WHERE items < 1"};

static char *
person(guint number)
{
    return g_strdup_printf("person%u@example.org", number);
}

/* Most of them close together, so that numbers of one second go up and down. */
static gint64
draw_time(void)
{
    return g_test_rand_bit() ? g_test_rand_int_range(0, 3 * DAY)
                             : DAY + g_test_rand_int_range(0, 2500);
}

static char *
draw_account(void)
{
    return g_strdup(g_test_rand_int_range(0, 4) == 0 ? "other" : "owner");
}

static void
add_drawn(Db *db, guint number)
{
    g_autofree char *id = g_strdup_printf("%u", number);
    g_autofree char *account = draw_account();
    g_autoptr(Item) item = make_item(id, account, g_test_rand_int_range(0, STATE_COUNT));
    guint people = g_test_rand_int_range(0, 1 << PEOPLE);

    item->automatic = g_test_rand_int_range(0, 4) != 0;
    item->created = draw_time();
    for (guint i = 0; i < PEOPLE; i++) {
        g_autofree char *address = person(i);

        if (people & (1u << i))
            add_recipient(item, address);
    }
    add(db, item);
}

static void
move_drawn(Db *db)
{
    g_autofree char *id = g_strdup_printf("%u", (guint)g_test_rand_int_range(0, ITEMS));
    g_autoptr(Item) item = load(db, id);
    State to = g_test_rand_int_range(0, STATE_COUNT);

    if (state_may_become(item->state, to))
        g_assert_cmpint(move(db, id, item->state, to), ==, MOVE_DONE);
}

static void
look(Db *db)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *account = draw_account();
    g_autofree char *address = person(g_test_rand_int_range(0, PEOPLE));
    gint64 since = draw_time(), expected = -1;
    guint found = 999;

    db_integer(db, &all, -1, &expected, &error, "si", account, since);
    g_assert_true(sent_count(db, account, NULL, since, &found, &error));
    g_assert_cmpint(found, ==, expected);
    db_integer(db, &to_one, -1, &expected, &error, "sis", account, since, address);
    g_assert_true(sent_count(db, account, address, since, &found, &error));
    g_assert_cmpint(found, ==, expected);
    gboolean any = FALSE;
    g_assert_true(sent_reached(db, account, address, since, &any, &error));
    g_assert_cmpint(any, ==, expected > 0);
    db_integer(db, &reached, -1, &expected, &error, "si", account, since);
    g_assert_true(sent_count_reached(db, account, since, &found, &error));
    g_assert_cmpint(found, ==, expected);
    g_assert_no_error(error);
}

static void
test_as_counted(void)
{
    g_autoptr(GError) error = NULL;
    Scratch scratch;

    scratch_open(&scratch);
    g_assert_true(db_begin(scratch.db, &error));
    for (guint i = 0; i < ITEMS; i++)
        add_drawn(scratch.db, i);
    for (guint i = 0; i < LOOKS; i++)
        look(scratch.db);
    for (guint i = 0; i < MOVES; i++)
        move_drawn(scratch.db);
    for (guint i = 0; i < LOOKS; i++)
        look(scratch.db);
    g_assert_cmpint(count(scratch.db, &empty_rows), ==, 0);
    g_assert_true(db_commit(scratch.db, &error));
    scratch_close(&scratch);
}

/* The first and the last second of a span. */
static void
test_edges(void)
{
    static const gint64 times[] = {0, 1, 1023, 1024, 1025, 2047, 2048};
    g_autoptr(GError) error = NULL;
    Scratch scratch;

    scratch_open(&scratch);
    for (gsize i = 0; i < G_N_ELEMENTS(times); i++)
        g_assert_true(sent_change(scratch.db, "owner", times[i], 1, &error));
    for (gsize i = 0; i < G_N_ELEMENTS(times); i++) {
        guint found = 999;

        g_assert_true(sent_count(scratch.db, "owner", NULL, times[i], &found, &error));
        g_assert_cmpuint(found, ==, G_N_ELEMENTS(times) - i);
    }
    guint found = 999;
    g_assert_true(sent_count(scratch.db, "owner", NULL, -5, &found, &error));
    g_assert_cmpuint(found, ==, G_N_ELEMENTS(times));
    g_assert_true(sent_count(scratch.db, "owner", NULL, 2049, &found, &error));
    g_assert_cmpuint(found, ==, 0);
    g_assert_no_error(error);
    scratch_close(&scratch);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/sent/as-counted/XB14", test_as_counted);
    g_test_add_func("/sent/edges", test_edges);
    return g_test_run();
}
