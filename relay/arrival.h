/* arrival.h - what the milter hands over, and what it is answered
 *
 * The read functions fill in the item of a request from its arguments, outside the writer.
 * Errors: ERROR_PROTOCOL for arguments that make no sense, ERROR_TEMP else. */
#pragma once

#include "relay/request.h"

/* The envelope, claims and texts, all in one go, and the extract where there is to be one. */
gboolean arrival_read(Request *request, gboolean extract, GError **error);

/* Account, size and digest, from the descriptor that came with the request. */
gboolean arrival_read_bytes(Request *request, const char *account, GError **error);

/* Answers action ("pass", "keep", "refuse", "later"), item ("" for none) and text, for the
 * client. */
void arrival_answer(Request *request, const char *action, const char *item, const char *text);

/* The same for "refuse", with a status (RFC 3463). */
void arrival_refuse(Request *request, const char *item, const char *status, const char *text);

/* Answers that it may go on. What no person approved says so where the account wants that. */
void arrival_pass(Request *request, const Item *item);
