/* approve.h - a person lets an item leave
 *
 * Writer jobs over a Request whose rights are known, for the digest that the person was shown.
 * The item goes with that person's approval, and no longer by a rule. */
#pragma once

#include "relay/request.h"

/* {id s, digest s}: what waits for a person. digest is a prefix of at least DIGEST_PREFIX
 * digits of the one shown. Answers state s; the item's own while more approvals are needed. */
gboolean approve_item(Request *request, GError **error);

/* The same for what is delayed: it leaves without waiting for its due time. */
gboolean approve_now(Request *request, GError **error);
