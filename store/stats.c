#include "store/stats.h"

#include "store/stats-sql.h"

typedef struct {
    const char *account;
    gint64 since;
    gint64 until;
} Span;

static void
approver_free(gpointer data)
{
    StatsApprover *approver = data;

    g_free(approver->who);
    g_free(approver->decisions);
    g_free(approver);
}

static void
fired_free(gpointer data)
{
    StatsFired *fired = data;

    g_free(fired->file);
    g_free(fired->reason);
    g_free(fired);
}

void
stats_free(Stats *stats)
{
    g_free(stats->week);
    g_ptr_array_unref(stats->approvers);
    g_ptr_array_unref(stats->fired);
    g_free(stats);
}

static Stats *
stats_new(guint weeks)
{
    Stats *stats = g_new0(Stats, 1);

    stats->weeks = weeks;
    stats->week = g_new0(StatsWeek, weeks);
    stats->approvers = g_ptr_array_new_with_free_func(approver_free);
    stats->fired = g_ptr_array_new_with_free_func(fired_free);
    for (guint i = 0; i < STATS_TIERS; i++)
        stats->waits[i] = -1;
    return stats;
}

/* Called with each row of a query. */
typedef void (*Take)(gpointer target, Rows *rows);

/* Takes the rows, which may be NULL. */
static gboolean
take_rows(Rows *taken, Take take, gpointer target, GError **error)
{
    g_autoptr(Rows) rows = taken;

    while (rows_next(rows))
        take(target, rows);
    return rows_end(rows, error);
}

static gboolean
ask(Db *db, const Sql *sql, const Span *span, Take take, gpointer target, GError **error)
{
    return take_rows(db_query(db, sql, error, "sii", span->account, span->since, span->until),
                     take, target, error);
}

static guint
clamp_week(const Stats *stats, gint64 week)
{
    return (guint)CLAMP(week, 0, (gint64)stats->weeks - 1);
}

static void
take_tier(gpointer target, Rows *rows)
{
    Stats *stats = target;
    Tier tier;

    if (tier_find(rows_text(rows, 1), &tier))
        stats->week[clamp_week(stats, rows_integer(rows, 0))].tiers[tier] +=
            (guint)rows_integer(rows, 2);
}

static void
take_recipients(gpointer target, Rows *rows)
{
    Stats *stats = target;
    StatsWeek *week = &stats->week[clamp_week(stats, rows_integer(rows, 0))];

    week->recipients += (guint)rows_integer(rows, 1);
    week->novel += (guint)rows_integer(rows, 2);
}

static void
take_wait(gpointer target, Rows *rows)
{
    GArray **waits = target;
    gint64 wait = MAX(rows_integer(rows, 1), 0);
    Tier tier;

    if (tier_find(rows_text(rows, 0), &tier))
        g_array_append_val(waits[tier], wait);
}

/* The rows come in order, so the one in the middle is the median. */
static gboolean
find_waits(Db *db, const Span *span, Stats *stats, GError **error)
{
    GArray *waits[STATS_TIERS];

    for (guint i = 0; i < STATS_TIERS; i++)
        waits[i] = g_array_new(FALSE, FALSE, sizeof(gint64));
    gboolean good = ask(db, &stats_waits, span, take_wait, waits, error);
    for (guint i = 0; i < STATS_TIERS; i++) {
        if (waits[i]->len > 0)
            stats->waits[i] = g_array_index(waits[i], gint64, (waits[i]->len - 1) / 2);
        g_array_unref(waits[i]);
    }
    return good;
}

static void
take_decisions(gpointer target, Rows *rows)
{
    Stats *stats = target;
    const char *who = rows_text(rows, 0);
    GPtrArray *approvers = stats->approvers;
    StatsApprover *approver =
        approvers->len > 0 ? g_ptr_array_index(approvers, approvers->len - 1) : NULL;

    if (approver == NULL || g_strcmp0(approver->who, who) != 0) {
        approver = g_new0(StatsApprover, 1);
        approver->who = g_strdup(who);
        approver->decisions = g_new0(guint, stats->weeks);
        g_ptr_array_add(approvers, approver);
    }
    approver->decisions[clamp_week(stats, rows_integer(rows, 1))] +=
        (guint)rows_integer(rows, 2);
}

/* The characters of the text that was shown, as its audit entry tells. */
static guint
read_characters(const char *details)
{
    g_autoptr(GVariant) content =
        g_variant_parse(G_VARIANT_TYPE_VARDICT, details, NULL, NULL, NULL);
    guint32 characters = 0;

    if (content != NULL)
        g_variant_lookup(content, "characters", "u", &characters);
    return characters;
}

static void
take_approval(gpointer target, Rows *rows)
{
    Stats *stats = target;
    const char *details = rows_text(rows, 2);
    gint64 took = rows_integer(rows, 0) - rows_integer(rows, 1);

    stats->approvals++;
    if (details == NULL || took < 0 ||
        took < STATS_GLANCE + read_characters(details) / STATS_READING)
        stats->hurried++;
}

static void
take_fired(gpointer target, Rows *rows)
{
    Stats *stats = target;
    StatsFired *fired = g_new0(StatsFired, 1);

    fired->file = g_strdup(rows_text(rows, 0));
    fired->line = (guint)rows_integer(rows, 1);
    fired->reason = g_strdup(rows_text(rows, 2));
    fired->items = (guint)rows_integer(rows, 3);
    g_ptr_array_add(stats->fired, fired);
}

static gboolean
find_fired(Db *db, const Span *span, const char *policy, Stats *stats, GError **error)
{
    return take_rows(db_query(db, &stats_fired, error, "siis", span->account, span->since,
                              span->until, policy),
                     take_fired, stats, error);
}

Stats *
stats_collect(Db *db, const char *account, gint64 now, guint weeks, const char *policy,
              GError **error)
{
    const Span span = {account, now + 1 - (gint64)weeks * STATS_WEEK, now + 1};
    g_autoptr(Stats) stats = stats_new(weeks);

    if (!ask(db, &stats_tiers, &span, take_tier, stats, error) ||
        !ask(db, &stats_recipients, &span, take_recipients, stats, error) ||
        !find_waits(db, &span, stats, error) ||
        !ask(db, &stats_decisions, &span, take_decisions, stats, error) ||
        !ask(db, &stats_approvals, &span, take_approval, stats, error) ||
        !find_fired(db, &span, policy, stats, error))
        return NULL;
    return g_steal_pointer(&stats);
}

gboolean
stats_count_held(Db *db, const char *account, gint64 now, guint *held_out, GError **error)
{
    gint64 held = 0;

    if (!db_integer(db, &stats_held, 0, &held, error, "sii", account, now + 1 - STATS_WEEK,
                    now + 1))
        return FALSE;
    *held_out = (guint)held;
    return TRUE;
}
