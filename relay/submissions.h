/* submissions.h - what the milter asks: submit, redeem, observe
 *
 * The read functions check the arguments outside the writer and hash the bytes there; the
 * others are writer jobs. Errors: ERROR_PROTOCOL for arguments that make no sense, ERROR_TEMP
 * else. */
#pragma once

#include "relay/requests.h"

/* login, client, queue-id, key (s), envelope, extract (v), claims (a{ss}), and the bytes as a
 * descriptor. Answers action ("pass", "keep", "refuse"), item, text (s). */
gboolean submissions_read_submit(Request *request, GError **error);
gboolean submissions_submit(Request *request, GError **error);

/* ticket, queue-id (s), envelope (v), and the bytes. Answers as submit does: "pass" once for
 * the right bytes, "keep" when the same bytes passed before (nothing more may leave), else
 * "refuse". */
gboolean submissions_read_redeem(Request *request, GError **error);
gboolean submissions_redeem(Request *request, GError **error);

/* login, client (s), envelope, extract (v). Teaches the history; answers nothing. */
gboolean submissions_read_observe(Request *request, GError **error);
gboolean submissions_observe(Request *request, GError **error);

/* One log line for a submission that was decided. */
void submissions_log(const Request *request);
