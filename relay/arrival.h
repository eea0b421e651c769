/* arrival.h - what the milter hands over, and what it is answered
 *
 * The read functions fill in the item of a request from its arguments, outside the writer.
 * Errors: ERROR_PROTOCOL for arguments that make no sense, ERROR_TEMP else. */
#pragma once

#include "relay/request.h"

/* A text of the arguments, "" when it is missing. Borrowed. */
const char *arrival_text(const Request *request, const char *name);

gboolean arrival_read_envelope(Request *request, GError **error);
gboolean arrival_read_extract(Request *request, GError **error);

/* Account, size and digest, from the descriptor that came with the request. */
gboolean arrival_read_bytes(Request *request, const char *account, GError **error);

void arrival_read_claims(Request *request);

/* Answers action ("pass", "keep", "refuse", "later"), item ("" for none) and text, for the
 * client. */
void arrival_answer(Request *request, const char *action, const char *item, const char *text);

/* The same for "refuse", with a status (RFC 3463). */
void arrival_refuse(Request *request, const char *item, const char *status, const char *text);

/* Answers that it may go on. What no person approved says so where the account wants that. */
void arrival_pass(Request *request, const Item *item);
