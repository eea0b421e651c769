/* tries.h - how often a user's password was wrong, kept over a restart
 *
 * After TRIES_FREE wrong ones there is a pause of a minute, which doubles with every further
 * one, up to an hour. A try is counted before it is made, so that who ends the process in the
 * middle has had one. Writer's thread only. Errors: ERROR_TEMP. */
#pragma once

#include "store/db.h"

#define TRIES_FREE 5

/* Counts a try of a user. *pause_out: seconds until one may be made, 0 when this one may; in a
 * pause none is counted. */
gboolean tries_take(Db *db, gint64 uid, gint64 now, gint64 *pause_out, GError **error);

/* It was right. */
gboolean tries_forget(Db *db, gint64 uid, GError **error);
