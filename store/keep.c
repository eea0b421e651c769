#include "store/keep.h"

#include "store/keep-sql.h"

gboolean
keep_sum(Db *db, const char *account, guint64 *bytes_out, GError **error)
{
    gint64 bytes = 0;

    if (!db_integer(db, &kept_sum, 0, &bytes, error, "s", account))
        return FALSE;
    *bytes_out = (guint64)MAX(bytes, 0);
    return TRUE;
}

gboolean
keep_begin(Db *db, const char *account, guint64 size, GError **error)
{
    return db_run(db, &kept_sum_change, error, "si", account, (gint64)size) >= 0;
}

gboolean
keep_finish(Db *db, const char *item, gint64 now, GError **error)
{
    return db_run(db, &kept_finish, error, "si", item, now) >= 0;
}

gboolean
keep_next(Db *db, const char *account, gint64 before, guint64 limit, Kept *kept_out,
          GError **error)
{
    guint64 bytes = 0;
    g_autoptr(Rows) rows = NULL;
    gboolean found = FALSE;

    if (!keep_sum(db, account, &bytes, error))
        return FALSE;
    rows = db_query(db, &kept_next, error, "s", account);
    if (!rows_one(rows, &found, error))
        return FALSE;
    gint64 finished = found ? rows_integer(rows, 1) : 0;
    gboolean may_go = found && (finished < before || bytes > limit);
    *kept_out = (Kept){may_go ? g_strdup(rows_text(rows, 0)) : NULL, finished};
    return TRUE;
}

gboolean
keep_drop(Db *db, const char *account, const Kept *kept, GError **error)
{
    gint64 size = 0;

    return db_integer(db, &kept_size, 0, &size, error, "s", kept->item) &&
           db_run(db, &kept_clear, error, "s", kept->item) >= 0 &&
           db_run(db, &kept_pieces_drop, error, "s", kept->item) >= 0 &&
           db_run(db, &kept_drop, error, "sis", account, kept->finished, kept->item) >= 0 &&
           db_run(db, &kept_sum_change, error, "si", account, -size) >= 0;
}
