/* reload.h - the configuration and its policies, read again
 *
 * On SIGHUP, or when an admin asks and wants to hear how it went. All or nothing: a file that
 * cannot be used changes nothing (XF10), and is told in the log and the status until one can.
 */
#pragma once

#include "relay/request.h"

/* ERROR_CONFIG, POLICY_ERROR or ERROR_TEMP: what was read before stays in force. */
gboolean reload_now(Relay *relay, GError **error);

/* A writer job over the relay: the audit entry with mode and policy version of each account,
 * at the start and after each reload. */
gboolean reload_record(gpointer relay, GError **error);

/* Answers reloaded x. Outside the writer. */
gboolean reload_ask(Request *request, GError **error);

/* Adds reload_failed x (0: the last one was fine) and reload_error s. */
void reload_describe(Relay *relay, GVariantDict *status);
