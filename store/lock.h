/* lock.h - conversations that were handed back to the human (B5)
 *
 * A lock holds the ids of messages and the conversations (history.h) to which they lead, those
 * of received mail included: a message that names one of these ids, or another id of such a
 * conversation, is in it. What is submitted to a locked conversation adds its ids, so that
 * nothing that was kept leads out of it. A lock stands until somebody takes it away, across
 * restarts. It only ever tightens, so an agent may set one.
 *
 * ids: what a message is called and names, as it says; the rest of a very long list counts as
 * little as it does for the history. Writer's thread only. Errors: ERROR_TEMP. */
#pragma once

#include "store/db.h"

/* Whether one of the ids is in a locked conversation. */
gboolean lock_holds(Db *db, const char *account, const char *const *ids, gboolean *holds_out,
                    GError **error);

/* Locks the conversation of the ids, or adds them to the lock it is under. *new_out: it was
 * not locked. Both of these are audit entries when they change something; item and who are for
 * the record. */
gboolean lock_set(Db *db, const char *account, const char *const *ids, const char *item,
                  const char *who, gint64 now, gboolean *new_out, GError **error);

/* Takes away every lock that the ids are under, as a whole. *was_out: there was one. */
gboolean lock_lift(Db *db, const char *account, const char *const *ids, const char *item,
                   const char *who, gint64 now, gboolean *was_out, GError **error);
