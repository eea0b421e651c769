/* The numbers of some weeks. */
#include "store/stats.h"

#include "store/audit.h"
#include "tests/unit/items.h"
#include "tests/unit/scratch.h"

#define TODAY ((gint64)100 * STATS_WEEK)
#define ALICE "user alice (1001)"

static void
add_item(Db *db, const char *id, Tier tier, gint64 created, const char *policy)
{
    g_autoptr(Item) item = make_item(id, "owner", STATE_HELD);

    item->tier = tier;
    item->line = 3;
    item->created = created;
    set(&item->reason, "because");
    set(&item->policy, policy);
    add_recipient(item, "known@example.org");
    add_recipient(item, "novel@example.org");
    ((ItemRecipient *)item->recipients->pdata[0])->known = TRUE;
    add(db, item);
}

static void
show(Db *db, const char *id, const char *who, guint characters, gint64 now)
{
    g_autoptr(GError) error = NULL;
    GVariantDict details;

    g_variant_dict_init(&details, NULL);
    g_variant_dict_insert(&details, "characters", "u", characters);
    const AuditEntry entry = {.kind = "shown",
                              .account = "owner",
                              .item = id,
                              .who = who,
                              .details = g_variant_dict_end(&details)};
    audit_append(db, &entry, now, &error);
    g_assert_no_error(error);
}

static void
decide(Db *db, const char *id, State to, gint64 now)
{
    g_autoptr(GError) error = NULL;
    Move done;

    queue_move(db, id, STATE_HELD, to, ALICE, "because", now, &done, &error);
    g_assert_no_error(error);
}

static Stats *
collect(Db *db, guint weeks)
{
    g_autoptr(GError) error = NULL;
    Stats *stats = stats_collect(db, "owner", TODAY, weeks, "p1", &error);

    g_assert_no_error(error);
    return stats;
}

static void
test_weeks(void)
{
    g_autoptr(GError) error = NULL;
    Scratch scratch;
    guint held;

    scratch_open(&scratch);
    add_item(scratch.db, "now", TIER_HOLD, TODAY, "p1");
    add_item(scratch.db, "recent", TIER_DRAFT, TODAY + 1 - STATS_WEEK, "p1");
    add_item(scratch.db, "before", TIER_HOLD, TODAY - STATS_WEEK, "p2");
    add_item(scratch.db, "old", TIER_HOLD, TODAY - 2 * STATS_WEEK, "p1");
    add_item(scratch.db, "future", TIER_HOLD, TODAY + 1, "p1");
    g_autoptr(Stats) stats = collect(scratch.db, 2);
    g_assert_cmpuint(stats->week[0].tiers[TIER_HOLD], ==, 1);
    g_assert_cmpuint(stats->week[1].tiers[TIER_HOLD], ==, 1);
    g_assert_cmpuint(stats->week[1].tiers[TIER_DRAFT], ==, 1);
    g_assert_cmpuint(stats->week[1].recipients, ==, 4);
    g_assert_cmpuint(stats->week[1].novel, ==, 2);
    g_assert_cmpuint(stats->fired->len, ==, 1);
    g_assert_cmpuint(((StatsFired *)stats->fired->pdata[0])->items, ==, 2);
    stats_count_held(scratch.db, "owner", TODAY, &held, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(held, ==, 1);
    scratch_close(&scratch);
}

static void
test_waits(void)
{
    static const struct {
        const char *id;
        gint64 wait;
    } items[] = {{"a", 50}, {"b", 10}, {"c", 1000}, {"d", 20}};
    Scratch scratch;

    scratch_open(&scratch);
    for (gsize i = 0; i < G_N_ELEMENTS(items); i++) {
        add_item(scratch.db, items[i].id, TIER_HOLD, TODAY - 2000, "p1");
        decide(scratch.db, items[i].id, STATE_REJECTED, TODAY - 2000 + items[i].wait);
    }
    add_item(scratch.db, "waits", TIER_HOLD, TODAY - 9000, "p1");
    add_item(scratch.db, "draft", TIER_DRAFT, TODAY - 9000, "p1");
    g_autoptr(Stats) stats = collect(scratch.db, 1);
    g_assert_cmpint(stats->waits[TIER_HOLD], ==, 20);
    g_assert_cmpint(stats->waits[TIER_DRAFT], ==, -1);
    g_assert_cmpuint(stats->approvers->len, ==, 1);
    const StatsApprover *alice = stats->approvers->pdata[0];
    g_assert_cmpstr(alice->who, ==, ALICE);
    g_assert_cmpuint(alice->decisions[0], ==, 4);
    g_assert_cmpuint(stats->approvals, ==, 0);
    scratch_close(&scratch);
}

/* What nobody can have read: 100 characters take two seconds, and two more to begin. */
static const struct {
    const char *name;
    const char *shown_to; /* NULL: to nobody */
    gint64 shown;         /* seconds before the approval */
    guint characters;
    guint hurried;
} HURRIED[] = {
    {"read", ALICE, 4, 100, 0},      {"a second too fast", ALICE, 3, 100, 1},
    {"short", ALICE, 2, 0, 0},       {"at once", ALICE, 0, 0, 1},
    {"never shown", NULL, 0, 0, 1},  {"to another", "user bob (1002)", 99, 0, 1},
    {"afterwards", ALICE, -9, 0, 1},
};

static void
test_hurried(gconstpointer data)
{
    gsize i = GPOINTER_TO_SIZE(data);
    Scratch scratch;

    scratch_open(&scratch);
    add_item(scratch.db, "a", TIER_HOLD, TODAY - 1000, "p1");
    if (HURRIED[i].shown_to != NULL)
        show(scratch.db, "a", HURRIED[i].shown_to, HURRIED[i].characters,
             TODAY - HURRIED[i].shown);
    decide(scratch.db, "a", STATE_APPROVED, TODAY);
    g_autoptr(Stats) stats = collect(scratch.db, 1);
    g_assert_cmpuint(stats->approvals, ==, 1);
    g_assert_cmpuint(stats->hurried, ==, HURRIED[i].hurried);
    scratch_close(&scratch);
}

/* Looked at again just before deciding: the first look counts. */
static void
test_shown_twice(void)
{
    Scratch scratch;

    scratch_open(&scratch);
    add_item(scratch.db, "a", TIER_HOLD, TODAY - 1000, "p1");
    show(scratch.db, "a", ALICE, 900, TODAY - 60);
    show(scratch.db, "a", ALICE, 900, TODAY);
    decide(scratch.db, "a", STATE_APPROVED, TODAY);
    g_autoptr(Stats) stats = collect(scratch.db, 1);
    g_assert_cmpuint(stats->hurried, ==, 0);
    scratch_close(&scratch);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/stats/weeks/A35", test_weeks);
    g_test_add_func("/stats/waits", test_waits);
    for (gsize i = 0; i < G_N_ELEMENTS(HURRIED); i++) {
        g_autofree char *path = g_strdup_printf("/stats/hurried/%s/A33", HURRIED[i].name);
        g_test_add_data_func(path, GSIZE_TO_POINTER(i), test_hurried);
    }
    g_test_add_func("/stats/shown-twice", test_shown_twice);
    return g_test_run();
}
