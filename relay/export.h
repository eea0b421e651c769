/* export.h - an item as it would leave, for somebody who wants to check it himself
 *
 * What the action digest is computed from (digest.h), and nothing else. */
#pragma once

#include "relay/request.h"

/* {id s} answers account, digest, sender (s), sender_parameters as, recipients aa{sv} with
 * address s and parameters as, and the bytes as a descriptor. It is recorded as shown. */
gboolean export_item(Request *request, GError **error);
