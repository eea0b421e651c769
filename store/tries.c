#include "store/tries.h"

#include "store/tries-sql.h"

/* Seconds. */
enum { PAUSE_FIRST = 60, PAUSE_MOST = 3600 };

/* Until when no further one may be made, if this one is wrong. */
static gint64
find_end(gint64 wrong, gint64 now)
{
    if (wrong < TRIES_FREE)
        return now;
    return now + MIN(PAUSE_FIRST << MIN(wrong - TRIES_FREE, 6), PAUSE_MOST);
}

gboolean
tries_take(Db *db, gint64 uid, gint64 now, gint64 *pause_out, GError **error)
{
    g_autoptr(Rows) rows = db_query(db, &tries_find, error, "i", uid);
    gboolean found = FALSE;

    if (!rows_one(rows, &found, error))
        return FALSE;
    gint64 wrong = found ? rows_integer(rows, 0) : 0;
    gint64 until = found ? rows_integer(rows, 1) : 0;
    /* A clock that was ahead for a while makes no pause longer than the longest. */
    gint64 pause = CLAMP(until - now, 0, PAUSE_MOST);
    if (pause == 0 &&
        db_run(db, &tries_put, error, "iii", uid, wrong + 1, find_end(wrong + 1, now)) < 0)
        return FALSE;
    *pause_out = pause;
    return TRUE;
}

gboolean
tries_forget(Db *db, gint64 uid, GError **error)
{
    return db_run(db, &tries_remove, error, "i", uid) >= 0;
}
