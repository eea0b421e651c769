/* sent.h - how many items left, or will leave, without a person since a time
 *
 * Every second in which items were submitted has its number, and every longer span of seconds:
 * a window is made of both, so that it costs the same however much went through it. All times
 * are those of submission, and counts are exact. Who changes an item tells it (queue.c). Same
 * transaction; errors: ERROR_TEMP. */
#pragma once

#include "store/db.h"

/* One more (by 1) or one less (by -1) that was created then; and for each of its recipients
 * (address: normal form). */
gboolean sent_change(Db *db, const char *account, gint64 created, gint by, GError **error);
gboolean sent_change_to(Db *db, const char *account, const char *address, gint64 created,
                        gint by, GError **error);

/* Those created at or after a time; address: to one recipient, NULL for all. */
gboolean sent_count(Db *db, const char *account, const char *address, gint64 since,
                    guint *count_out, GError **error);

/* Distinct recipients of those. */
gboolean sent_count_reached(Db *db, const char *account, gint64 since, guint *count_out,
                            GError **error);

/* Whether the recipient is one of those. */
gboolean sent_reached(Db *db, const char *account, const char *address, gint64 since,
                      gboolean *reached_out, GError **error);
