/* observe.h - what a human sent, or what came in for an account
 *
 * Errors: ERROR_PROTOCOL for arguments that make no sense, ERROR_TEMP else. */
#pragma once

#include "relay/request.h"

/* login, client (s), envelope, extract (v). The second is the writer job: it teaches the
 * history, stops what is delayed in the conversation (world.h), and answers nothing. */
gboolean observe_read(Request *request, GError **error);
gboolean observe_message(Request *request, GError **error);
