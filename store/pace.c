#include "store/pace.h"

#include "store/pace-sql.h"

enum { HOUR = 3600, DAY_HOURS = 24 };

static gboolean
count_since(Db *db, const char *login, gint64 hour, guint *count_out, guint64 *bytes_out,
            GError **error)
{
    g_autoptr(Rows) rows = db_query(db, &pace_since, error, "si", login, hour);
    gboolean found = FALSE;

    if (!rows_one(rows, &found, error))
        return FALSE;
    *count_out = found ? (guint)CLAMP(rows_integer(rows, 0), 0, G_MAXUINT) : 0;
    *bytes_out = found ? (guint64)MAX(rows_integer(rows, 1), 0) : 0;
    return TRUE;
}

gboolean
pace_count(Db *db, const char *login, gint64 now, Pace *pace_out, GError **error)
{
    gint64 hour = now / HOUR;
    guint64 unused;

    return count_since(db, login, hour, &pace_out->hour, &unused, error) &&
           count_since(db, login, hour - DAY_HOURS + 1, &pace_out->day, &pace_out->bytes,
                       error);
}

gboolean
pace_add(Db *db, const char *login, guint64 bytes, gint64 now, GError **error)
{
    gint64 hour = now / HOUR;

    return db_run(db, &pace_raise, error, "sii", login, hour, (gint64)bytes) >= 0 &&
           db_run(db, &pace_forget, error, "si", login, hour - DAY_HOURS) >= 0;
}
