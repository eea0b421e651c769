#include "store/pace.h"

#include "store/pace-sql.h"

enum { HOUR = 3600, DAY_HOURS = 24 };

static gboolean
count_since(Db *db, const char *login, gint64 hour, guint *count_out, GError **error)
{
    gint64 count = 0;

    if (!db_integer(db, &pace_since, 0, &count, error, "si", login, hour))
        return FALSE;
    *count_out = (guint)CLAMP(count, 0, G_MAXUINT);
    return TRUE;
}

gboolean
pace_count(Db *db, const char *login, gint64 now, guint *hour_out, guint *day_out,
           GError **error)
{
    gint64 hour = now / HOUR;

    return count_since(db, login, hour, hour_out, error) &&
           count_since(db, login, hour - DAY_HOURS + 1, day_out, error);
}

gboolean
pace_add(Db *db, const char *login, gint64 now, GError **error)
{
    gint64 hour = now / HOUR;

    return db_run(db, &pace_raise, error, "si", login, hour) >= 0 &&
           db_run(db, &pace_forget, error, "si", login, hour - DAY_HOURS) >= 0;
}
