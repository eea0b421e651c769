/* guard.h - notices that the history is not what the relay wrote (XE13, XE15)
 *
 * At start, once a day, and as soon as another program has written to the database, the rows
 * of every account are compared with their seals and their sum (warrant.h). What differs is
 * logged, and recorded as "history-changed". */
#pragma once

#include "relay/request.h"

/* Begins to look. guard_stop ends it, in the middle of a look too, and frees. */
Guard *guard_start(Relay *relay);
void guard_stop(Guard *guard);

/* {} answers faults aa{sv} with account and fault (s), of the accounts that are the peer's.
 * Outside the writer. */
gboolean guard_verify(Request *request, GError **error);

/* {account?} of an admin: takes the history of that account as it is (warrant_accept), and
 * records what was wrong with it as "history-accepted". Answers account and faults (as).
 * REQUEST_NOT_FOUND when nothing was. In the writer. */
gboolean guard_accept(Request *request, GError **error);

/* In a writer job that judges: a row says that the human wrote to the address, and is not the
 * relay's. Logged and recorded. */
gboolean guard_report(Db *db, const char *account, const char *address, gint64 now,
                      GError **error);
