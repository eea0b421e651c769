/* history.h - what people ask about addresses, and what an admin says of them
 *
 * Writer jobs over a Request whose rights are known. An account that is not the peer's does
 * not exist for it. */
#pragma once

#include "relay/request.h"

/* {address s, account s} answers entries aa{sv}, one for each account the peer may know about,
 * or for the one named; after each, one for the correspondent it could be taken for. */
gboolean history_ask(Request *request, GError **error);

/* {address s, account s} of an admin; account may be missing when there is one. Answers
 * account, address. The audit entry names who. */
gboolean history_ask_vouch(Request *request, GError **error);
gboolean history_ask_forget(Request *request, GError **error);

/* The account that an admin's request names, or the only one there is; borrowed. NULL with
 * error: REQUEST_NOT_FOUND, REQUEST_USAGE. */
const Account *history_account(const Request *request, GError **error);

/* Reason * of each judged recipient by its normal form; empty when the account is no longer
 * configured. */
GHashTable *history_reasons(Request *request, const Item *item, GError **error);
