#include "store/history.h"

#include "store/history-sql.h"

/* Rows that one statement removes: tens of milliseconds. */
#define STEP G_GINT64_CONSTANT(2000)

/* Adds what a statement removed. FALSE: it failed. */
static gboolean
add_up(gint64 removed, gint64 *sum)
{
    *sum += MAX(removed, 0);
    return removed >= 0;
}

/* Those that a conversation of the human needs are set apart, so that each is looked at once.
 */
static gboolean
drop_received(Db *db, const char *account, gint64 before, gint64 most, gint64 *sum,
              GError **error)
{
    gint64 apart = db_run(db, &received_set_apart, error, "sii", account, before, most);

    return add_up(apart, sum) &&
           add_up(db_run(db, &received_drop, error, "sii", account, before, most - apart),
                  sum);
}

static gboolean
limit_received(Db *db, const char *account, guint limit, gint64 *sum, GError **error)
{
    gint64 excess = 0, needed_excess = 0;

    return db_integer(db, &received_excess, 0, &excess, error, "siii", account, (gint64)0,
                      (gint64)limit, STEP) &&
           drop_received(db, account, G_MAXINT64, excess, sum, error) &&
           db_integer(db, &received_excess, 0, &needed_excess, error, "siii", account,
                      (gint64)1, (gint64)limit, STEP) &&
           add_up(db_run(db, &needed_drop, error, "si", account, needed_excess), sum);
}

/* Of whoever named the most addresses last, NULL when nobody did. */
static gboolean
find_loudest(Db *db, const char *account, char **sender_out, GError **error)
{
    return db_text(db, &mention_loudest, sender_out, error, "s", account);
}

static gboolean
limit_mentions(Db *db, const char *account, guint limit, gint64 *sum, GError **error)
{
    gint64 excess = 0;
    g_autofree char *sender = NULL;

    if (!db_integer(db, &mention_excess, 0, &excess, error, "sii", account, (gint64)limit,
                    STEP))
        return FALSE;
    if (excess == 0)
        return TRUE;
    return find_loudest(db, account, &sender, error) &&
           add_up(db_run(db, &mention_drop_of, error, "ssi", account, sender, excess), sum);
}

static gboolean
limit_lists(Db *db, const char *account, guint limit, gint64 *sum, GError **error)
{
    gint64 excess = 0;

    return db_integer(db, &list_excess, 0, &excess, error, "sii", account, (gint64)limit,
                      STEP) &&
           add_up(db_run(db, &list_drop, error, "si", account, excess), sum);
}

gboolean
history_prune(Db *db, const char *account, gint64 expired, guint limit, gboolean *more_out,
              GError **error)
{
    gint64 sum = 0;

    if (!add_up(db_run(db, &mention_drop, error, "sii", account, expired, STEP), &sum) ||
        !drop_received(db, account, expired, STEP, &sum, error) ||
        !limit_mentions(db, account, limit, &sum, error) ||
        !limit_received(db, account, limit, &sum, error) ||
        !limit_lists(db, account, limit, &sum, error))
        return FALSE;
    *more_out = sum > 0;
    return TRUE;
}
