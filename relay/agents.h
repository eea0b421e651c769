/* agents.h - what an agent's own users may ask, and how a conversation is called off
 *
 * Writer jobs over a Request. An item is named by its id or, since that is what an agent
 * knows, by its Message-ID in angle brackets. Items of other accounts do not exist (XC18).
 * What an agent is told names no rule and tells a draft from a held message by nothing (XF21).
 */
#pragma once

#include "relay/request.h"

/* {id s} answers id, state, reason (s). state is "waiting" until it is decided. reason is the
 * reviewer's sentence, the next hop's reply to what failed, or that of a refusal; else "". */
gboolean agents_outcome(Request *request, GError **error);

/* {id s, why s} withdraws an item that waits, and answers state. Approvals of it are void. */
gboolean agents_withdraw(Request *request, GError **error);

/* {id s} calls off all that waits of the conversation of an item (E39): an agent withdraws, an
 * approver rejects or vetoes. Answers items aa{sv}, of the whole conversation: id, subject,
 * outcome ("cancelled", "left", "may have left", "is leaving", "did not leave") (s), when (x,
 * 0 unless it left), to (as). */
gboolean agents_cancel(Request *request, GError **error);
