/* explain.h - why an item was judged so, line by line, and what would change it (A21, A22)
 *
 * Thresholds are not for the agent: approvers alone may ask (XF21). */
#pragma once

#include "relay/request.h"

/* {id s, suppose as: "FACT=VALUE"} answers id, account, mode, judged ({policy s, tier s, line
 * u, reason s}: when it was submitted), and under the policy in force policy s, tier s, line
 * u, file s, reason s, approvals u, lines aa{sv} (kind, file, reason, tier, truth s, line,
 * approvals u, decides, floor b, conditions aa{sv} of text, value, truth s) and nearest aa{sv}
 * (fact, from, to, tier, reason s). REQUEST_CONFLICT for what was refused without being
 * judged. A writer job. */
gboolean explain_ask(Request *request, GError **error);
