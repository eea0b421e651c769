/* pace.h - how many messages each login has brought lately
 *
 * Counted by the hour of the clock; hours that are more than a day old are forgotten. Whatever
 * lies in the future, after a clock went back, counts as well. Writer's thread only. Errors:
 * ERROR_TEMP. */
#pragma once

#include "store/db.h"

typedef struct {
    guint hour;    /* messages in this hour */
    guint day;     /* in the last 24 hours of the clock */
    guint64 bytes; /* of their records, in these 24 */
} Pace;

gboolean pace_count(Db *db, const char *login, gint64 now, Pace *pace_out, GError **error);

/* One more, whose record has so many bytes. */
gboolean pace_add(Db *db, const char *login, guint64 bytes, gint64 now, GError **error);
