/* replay.h - what another policy would have made of past items
 *
 * Judges the facts that were kept with each item again. Comes in pages: the writer only loads
 * the items of one, and they are judged outside it. */
#pragma once

#include "relay/request.h"

/* {since x, account s: "" for all the peer may know, name s and files a{ss}: a policy and what
 * it reads, by path; without them the policies in force; at s, after s: where the page before
 * ended, "" for the first} answers rows a(xssss) (created, id, tier then, tier now, reason
 * now), unjudged u (refused before any rule was asked), and at s, after s: "" at the end.
 * REQUEST_USAGE when the policy cannot be read. Outside the writer. */
gboolean replay_ask(Request *request, GError **error);
