/* keep.h - the bytes of messages: how many are kept, and for how long
 *
 * An item's bytes and texts are kept while it waits and for a time after; then they are let
 * go, and the record, its digest and the audit remain. Writer's thread only. Errors:
 * ERROR_TEMP. */
#pragma once

#include "store/db.h"

/* Bytes of messages that an account keeps. */
gboolean keep_sum(Db *db, const char *account, guint64 *bytes_out, GError **error);

/* Bytes and texts of a new item were stored, of that size together; the item has it, too. */
gboolean keep_begin(Db *db, const char *account, guint64 size, GError **error);

/* The item waits no more. One of which nothing is kept is left alone. */
gboolean keep_finish(Db *db, const char *item, gint64 now, GError **error);

/* An item, the caller's to free, and when it stopped waiting. */
typedef struct {
    char *item;
    gint64 finished;
} Kept;

/* The next item whose bytes may go: finished before that time, or the longest finished while
 * the account keeps more than limit bytes; its item is NULL when there is none. */
gboolean keep_next(Db *db, const char *account, gint64 before, guint64 limit, Kept *kept_out,
                   GError **error);

/* Lets go of an item's bytes; its texts are queue_drop_texts' business. */
gboolean keep_drop(Db *db, const char *account, const Kept *kept, GError **error);
