/* audits.h - the audit record, as people read it
 *
 * An approver sees the entries of the accounts that are his, an admin all (A20-A26). Long
 * records are read and verified a piece at a time, so that no question holds up the mail. */
#pragma once

#include "relay/request.h"

/* {after x, since x, account s, kind s, item s, tier s, approver s, word s, confirmed b}, all
 * optional: entries numbered higher than after that fit all the others. Answers entries aa{sv}
 * with seq, at (x), kind, account, item, who, details, seal (s; details as recorded), content
 * (a{sv}: details parsed), for a submission also action (a{sv}: A24); and next x: where to go
 * on, 0 when that was all. */
gboolean audits_search(Request *request, GError **error);

/* {after x} answers faults aa{sv} with seq x and fault s, next x as above, and when that is 0
 * head x, seal s (the newest entry) and known x (the newest that was ever noted). */
gboolean audits_verify(Request *request, GError **error);

/* Records that a request was turned down, and why (XC1, XC2, XC6). So that nobody can fill the
 * disk, some a minute are enough. */
void audits_refusal(Request *request, const char *verb, const GError *refusal);
