/* supersede.h - a message that takes the place of an earlier one of the same agent
 *
 * By its Message-ID with other bytes, or by naming the item in Agent-Supersedes. Naming one is
 * a claim, and no claim makes anything laxer (A5): the new message is judged while the old one
 * still waits, and leaves no earlier than that would have. */
#pragma once

#include "relay/request.h"

/* Part of the writer job of a submission that was judged and not refused. What it names and
 * what still waits becomes superseded, its approvals void; the item of the request may become
 * delayed, or later due. What has no effect is told to the audit record alone, and in the same
 * words for an item that is another's and for none (XC18). ERROR_TEMP. */
gboolean supersede_take(Request *request, GError **error);

/* What became of the item that another one names, if both are of the same login: adds
 * instead_of, instead_state and instead_why (s), so that a reviewer sees what was rejected
 * before (B21). In a writer job. */
gboolean supersede_describe(Request *request, const Item *item, GVariantDict *dict,
                            GError **error);
