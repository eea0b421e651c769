/* evidence.h - the facts of a message, from its envelope, its extract and the history
 *
 * Each fact of exeat-policy(5) has its place here. Runs inside a writer job, so that counters
 * are read and counted in one transaction. Errors: ERROR_TEMP. */
#pragma once

#include "lib/config.h"
#include "store/queue.h"

/* Fills in facts and conversation of an item whose login, envelope, extract, claims, size, id
 * and distinct recipients are set, and of each recipient what the history says of it. Counters
 * leave the item itself out. What cannot be told stays unknown; facts were zeroed before. */
gboolean evidence_gather(Db *db, const Config *config, const Account *account, Item *item,
                         gint64 now, GError **error);
