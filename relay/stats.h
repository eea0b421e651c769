/* stats.h - whether the rules still fit, in numbers (A33, A35, D16)
 *
 * Everything is counted from the records at the moment somebody asks. */
#pragma once

#include "relay/request.h"

/* {weeks u, account s: "" for all the peer may know} answers hold_target u and accounts
 * aa{sv}: name, held u (in the last week), weeks aa{sv} (since x, tiers a{su}, recipients,
 * novel u), waits a{sx} (median seconds by tier, for those that have one), approvers aa{sv}
 * (who s, decisions au, by week), approvals, hurried u, decided u (items that a line of the
 * policy in force decided) and silent aa{sv} (file s, line u, tier s, reason s: lines that
 * decided none). REQUEST_USAGE, REQUEST_NOT_FOUND. Outside the writer. */
gboolean stats_ask(Request *request, GError **error);

/* Once a day, from the schedule: warns of each account that held more than the target. next:
 * when the next look is due, 0 at first. */
void stats_watch(Relay *relay, gint64 *next);
