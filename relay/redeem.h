/* redeem.h - a message at the door: may these bytes pass for this ticket?
 *
 * Errors: ERROR_PROTOCOL for arguments that make no sense, ERROR_TEMP else. */
#pragma once

#include "relay/request.h"

/* ticket, queue-id (s), envelope (v), and the bytes. The second is the writer job; it answers
 * as submissions_submit does: "pass" once for the right bytes, "keep" when the same bytes
 * passed before (nothing more may leave), else "refuse". */
gboolean redeem_read(Request *request, GError **error);
gboolean redeem_ticket(Request *request, GError **error);
