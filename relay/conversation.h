/* conversation.h - the items of one conversation, also of one in which the human never wrote
 *
 * Items are tied by the ids they have and name, and by the conversations these lead to
 * (history.h), whoever wrote in them. An item that names ids of several conversations is tied
 * to others by its own id alone (case T7). Runs inside a writer job. */
#pragma once

#include "store/queue.h"

/* Ids of the items, that one among them, those that wait first; at most limit. The caller
 * frees the array (element free function set). ERROR_TEMP. */
GPtrArray *conversation_items(Db *db, const Item *item, guint limit, GError **error);
