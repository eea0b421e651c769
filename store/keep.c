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
keep_begin(Db *db, const char *item, const char *account, guint64 size, GError **error)
{
    return db_run(db, &kept_add, error, "ssi", item, account, (gint64)size) >= 0 &&
           db_run(db, &kept_sum_change, error, "si", account, (gint64)size) >= 0;
}

gboolean
keep_finished(Db *db, const char *item, const char *account, guint64 size, gint64 now,
              GError **error)
{
    return db_run(db, &kept_add_finished, error, "ssii", item, account, (gint64)size, now) >=
               0 &&
           db_run(db, &kept_sum_change, error, "si", account, (gint64)size) >= 0;
}

gboolean
keep_finish(Db *db, const char *item, gint64 now, GError **error)
{
    return db_run(db, &kept_finish, error, "si", item, now) >= 0;
}

gboolean
keep_next(Db *db, const char *account, gint64 before, guint64 limit, char **item_out,
          GError **error)
{
    guint64 bytes = 0;
    g_autoptr(Rows) rows = NULL;
    gboolean found = FALSE;

    if (!keep_sum(db, account, &bytes, error))
        return FALSE;
    rows = db_query(db, &kept_next, error, "s", account);
    if (rows == NULL || !rows_one(rows, &found, error))
        return FALSE;
    gboolean may_go = found && (rows_integer(rows, 1) < before || bytes > limit);
    *item_out = may_go ? g_strdup(rows_text(rows, 0)) : NULL;
    return TRUE;
}

/* *account_out is NULL when nothing was kept. */
static gboolean
drop_row(Db *db, const char *item, char **account_out, gint64 *size_out, GError **error)
{
    g_autoptr(Rows) rows = db_query(db, &kept_drop, error, "s", item);
    gboolean found = FALSE;

    if (rows == NULL || !rows_one(rows, &found, error))
        return FALSE;
    *account_out = found ? g_strdup(rows_text(rows, 0)) : NULL;
    *size_out = found ? rows_integer(rows, 1) : 0;
    return TRUE;
}

gboolean
keep_drop(Db *db, const char *item, GError **error)
{
    g_autofree char *account = NULL;
    gint64 size = 0;

    if (!drop_row(db, item, &account, &size, error))
        return FALSE;
    return account == NULL || (db_run(db, &kept_pieces_drop, error, "s", item) >= 0 &&
                               db_run(db, &kept_sum_change, error, "si", account, -size) >= 0);
}
