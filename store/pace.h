/* pace.h - how many messages each login has brought lately
 *
 * Counted by the hour of the clock; hours that are more than a day old are forgotten. Whatever
 * lies in the future, after a clock went back, counts as well. Writer's thread only. Errors:
 * ERROR_TEMP. */
#pragma once

#include "store/db.h"

/* How many in this hour, and in the last 24 hours of the clock. */
gboolean pace_count(Db *db, const char *login, gint64 now, guint *hour_out, guint *day_out,
                    GError **error);

/* One more. */
gboolean pace_add(Db *db, const char *login, gint64 now, GError **error);
