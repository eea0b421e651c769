/* submissions.h - an agent's message: what becomes of it
 *
 * Errors: ERROR_PROTOCOL for arguments that make no sense, ERROR_TEMP else. */
#pragma once

#include "relay/request.h"

/* login, client, queue-id, key (s), envelope, extract (v), claims (a{ss}), and the bytes as a
 * descriptor. The first checks them outside the writer and hashes the bytes there; the second
 * is the writer job. Answers action ("pass", "keep", "refuse", "later"), item, text (s). */
gboolean submissions_read_submit(Request *request, GError **error);
gboolean submissions_submit(Request *request, GError **error);

/* One log line for a submission that was decided. */
void submissions_log(const Request *request);
