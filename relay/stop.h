/* stop.h - the stop switch, and accounts switched off
 *
 * A stop freezes what is delayed or approved until somebody starts again; what has come due by
 * then, or was approved before, waits for a person once more (XF8). Suspending or revoking an
 * account takes the authority of all that is pending at once (E38, E47). Only admins set and
 * lift; a human may pull the stop of the own account by mail (A2). The jobs of the verbs are
 * writer jobs over a Request; so are the others, under the errors of halt.h. */
#pragma once

#include "relay/request.h"
#include "store/halt.h"

/* {account s ("" for everything), why s} answers halt, account (s) and, when something has
 * lost its authority, held (u). REQUEST_CONFLICT when it is so already. */
gboolean stop_begin(Request *request, GError **error);
gboolean stop_suspend(Request *request, GError **error);
gboolean stop_revoke(Request *request, GError **error);

/* {account s} the same, halt being empty: lifts a stop; a suspension or revocation. */
gboolean stop_end(Request *request, GError **error);
gboolean stop_resume(Request *request, GError **error);

/* What a halt makes of the verdict on a new submission: kept as held whatever the rules say,
 * or refused when the agent is revoked. One that is no message of its login stays refused. */
gboolean stop_judge(Db *db, Item *item, GError **error);

/* A message of a human login to the account's stop-address whose subject begins with the word
 * stop: stops the account. *stopped_out tells whether it was one. The login is the proof; the
 * message grants nothing, so no word of it can start anything. */
gboolean stop_observe(Request *request, const Account *account, char *const *recipients,
                      gboolean *stopped_out, GError **error);

/* REQUEST_CONFLICT when a halt stands on the account. */
gboolean stop_allows(Request *request, const char *account, GError **error);

/* aa{sv} of account, halt, why, who (s), since (x): those that the peer may know about.
 * Floating. */
GVariant *stop_view(const Request *request, const GPtrArray *halts);
