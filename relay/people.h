/* people.h - what approvers and admins ask
 *
 * Writer jobs over a Request whose rights are known. An item of an account that is not the
 * peer's gets the answer of an item that does not exist (XC18). Every decision is an audit
 * entry. */
#pragma once

#include "relay/request.h"

/* {all b} answers items aa{sv}: what people should look at, the most urgent first, or
 * everything in order of creation. */
gboolean people_list(Request *request, GError **error);

/* {id s} answers everything known of the item, and records that it was shown. */
gboolean people_show(Request *request, GError **error);

/* {id s, reason s} */
gboolean people_reject(Request *request, GError **error);

/* {id s} */
gboolean people_veto(Request *request, GError **error);

/* {id s, state s}: what became of an uncertain item, "sent" or "failed"; only a person who
 * looked can tell. */
gboolean people_resolve(Request *request, GError **error);

/* Answers version, started, accounts, next_due, jobs, commits, next_hop, halts (stop.h),
 * reload_failed, reload_error (reload.h), hold_target. */
gboolean people_status(Request *request, GError **error);

/* The item that the request names by its id, if it is one of the peer's; NULL with error
 * otherwise. The caller frees. */
Item *people_item(Request *request, GError **error);

/* REQUEST_CONFLICT when the item is in neither state; verb: "approved", for the sentence. */
gboolean people_is_state(const Item *item, State first, State second, const char *verb,
                         GError **error);

/* Moves the item from its state, in the peer's name. REQUEST_CONFLICT when it is not in that
 * state any more. */
gboolean people_move(Request *request, const Item *item, State to, const char *why,
                     GError **error);

/* REQUEST_CONFLICT when the digest that was shown, or its beginning, is not the item's. */
gboolean people_digest_matches(const Item *item, const char *prefix, GError **error);

/* Answers {state s}. */
void people_answer_state(Request *request, State state);

/* Whether the peer may know of the account. */
gboolean people_may_know(const Request *request, const char *account);

#define DIGEST_PREFIX 8
