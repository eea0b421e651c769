/* verbs.h - who may ask what
 *
 * One table: what a peer must be, how its arguments are read, and the job that answers. An
 * account that is not the peer's does not exist for it (XC18). */
#pragma once

#include "relay/request.h"

/* Finds out what the peer may do, and answers. Errors: REQUEST_ERROR; those of the handlers.
 */
gboolean verbs_answer(Request *request, const char *name, GError **error);
