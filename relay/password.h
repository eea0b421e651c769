/* password.h - an approver's own password, where the user alone proves too little
 *
 * For an account with approver-confirm = password: there the agent may run as the approver's
 * user, so the kernel's word names both. Hashes are scrypt (RFC 7914), one at a time, since
 * each takes 32 MiB. After some wrong ones of a user there is a pause (tries.h); each is in
 * the audit record. */
#pragma once

#include "relay/request.h"

/* The read step of a verb that may carry {password s}: sets request->confirmed when it is the
 * peer's. REQUEST_DENIED when it is not, or was tried too often. The password is wiped from
 * the request. */
gboolean password_check(Request *request, GError **error);

/* REQUEST_PASSWORD when the account wants one and the request had none. */
gboolean password_suffices(const Request *request, const Account *account, GError **error);

/* {user s, password s} answers line s, for the file. The read step makes the line, the writer
 * job records that it was made. */
gboolean password_read_new(Request *request, GError **error);
gboolean password_make(Request *request, GError **error);
