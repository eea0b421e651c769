#include "store/sent.h"

#include "store/sent-sql.h"

/* Seconds of the longer spans: of these and of single seconds, few make a day. */
#define SPAN G_GINT64_CONSTANT(1024)

/* What is counted beside the items to an address: all of them, and addresses by the time of
 * the last item to each. No normal form of an address looks like these. */
#define ALL     ""
#define REACHED "*"

#define NEVER G_GINT64_CONSTANT(-1)

static const gint64 widths[] = {1, SPAN};

static gint64
start_of(gint64 when, gint64 width)
{
    return when - when % width;
}

static gboolean
change_one(Db *db, const char *account, const char *name, gint64 width, gint64 start, gint by,
           GError **error)
{
    if (by > 0)
        return db_run(db, &sent_raise, error, "ssii", account, name, width, start) >= 0;
    gint64 dropped = db_run(db, &sent_drop, error, "ssii", account, name, width, start);

    return dropped > 0 || (dropped == 0 && db_run(db, &sent_lower, error, "ssii", account,
                                                  name, width, start) >= 0);
}

static gboolean
change(Db *db, const char *account, const char *name, gint64 when, gint by, GError **error)
{
    if (by > 0)
        return db_run(db, &sent_raise_both, error, "ssiii", account, name, when, SPAN,
                      start_of(when, SPAN)) >= 0;
    for (guint i = 0; i < G_N_ELEMENTS(widths); i++)
        if (!change_one(db, account, name, widths[i], start_of(when, widths[i]), by, error))
            return FALSE;
    return TRUE;
}

gboolean
sent_change(Db *db, const char *account, gint64 created, gint by, GError **error)
{
    return change(db, account, ALL, created, by, error);
}

static gboolean
find_last(Db *db, const char *account, const char *address, gint64 *last_out, GError **error)
{
    return db_integer(db, &sent_last, NEVER, last_out, error, "ss", account, address);
}

/* An address that was reached last at one time is reached last at another. */
static gboolean
move_reached(Db *db, const char *account, gint64 from, gint64 to, GError **error)
{
    for (guint i = 0; i < G_N_ELEMENTS(widths); i++) {
        gint64 width = widths[i];
        gboolean leaves = from != NEVER, comes = to != NEVER;

        if (leaves && comes && start_of(from, width) == start_of(to, width))
            continue;
        if ((leaves &&
             !change_one(db, account, REACHED, width, start_of(from, width), -1, error)) ||
            (comes && !change_one(db, account, REACHED, width, start_of(to, width), 1, error)))
            return FALSE;
    }
    return TRUE;
}

gboolean
sent_change_to(Db *db, const char *account, const char *address, gint64 created, gint by,
               GError **error)
{
    gint64 before, after;

    if (!find_last(db, account, address, &before, error) ||
        !change(db, account, address, created, by, error))
        return FALSE;
    after = MAX(before, created);
    return (by > 0 || find_last(db, account, address, &after, error)) &&
           move_reached(db, account, before, after, error);
}

static gboolean
sum_since(Db *db, const char *account, const char *name, gint64 since, guint *count_out,
          GError **error)
{
    gint64 from = MAX(since, 0), whole = start_of(from + SPAN - 1, SPAN), count = 0;

    if (!db_integer(db, &sent_sum, 0, &count, error, "ssiii", account, name, SPAN, from,
                    whole))
        return FALSE;
    *count_out = (guint)CLAMP(count, 0, G_MAXUINT);
    return TRUE;
}

gboolean
sent_count(Db *db, const char *account, const char *address, gint64 since, guint *count_out,
           GError **error)
{
    return sum_since(db, account, address != NULL ? address : ALL, since, count_out, error);
}

gboolean
sent_count_reached(Db *db, const char *account, gint64 since, guint *count_out, GError **error)
{
    return sum_since(db, account, REACHED, since, count_out, error);
}

gboolean
sent_reached(Db *db, const char *account, const char *address, gint64 since,
             gboolean *reached_out, GError **error)
{
    gint64 last;

    if (!find_last(db, account, address, &last, error))
        return FALSE;
    *reached_out = last != NEVER && last >= since;
    return TRUE;
}
