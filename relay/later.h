/* later.h - answer = later: who submits what is kept hears 451 until its end is known
 *
 * The reply names the item and is the same for what is delayed, a draft or held (XF21). The
 * client's retries, the same login, envelope and bytes, meet the same item: 250 once it was
 * sent, with nothing sent again, 550 once it will not be. Parts of the writer job of a
 * submission. Errors: ERROR_TEMP. */
#pragma once

#include "relay/request.h"

/* Answers for the item of the request, which was stored and waits. account: its own. */
gboolean later_answer(Request *request, const Account *account, GError **error);

/* Answers a client that comes again. *found_out FALSE: nothing is owed to it. */
gboolean later_find(Request *request, const Account *account, gboolean *found_out,
                    GError **error);
