/* world.h - what happens outside while an item is delayed
 *
 * A message that was seen stops what is delayed in its conversation: the item becomes a draft
 * in the transaction of the observation, and its last move says why. Whoever can name an id of
 * the conversation can do so; all he gets is that a person looks. Runs inside a writer job. */
#pragma once

#include "lib/extract.h"
#include "store/db.h"

/* The reason of an item that the human sent. */
#define WORLD_SENT "sent by the human"

typedef enum { WORLD_RECEIVED, WORLD_HUMAN } WorldSide;

/* side: who wrote the message, the other side or the account's human. A report that a message
 * could not be delivered (RFC 3464) also stops what is delayed to the same recipients.
 * ERROR_TEMP. */
gboolean world_answered(Db *db, const char *account, WorldSide side, const Extract *extract,
                        gint64 now, GError **error);

/* The human sent a message; when it is one that waits here, told by item, the id that a draft
 * of it carries ("" when none), or by its Message-ID, it will not leave again. login: the
 * human's. ERROR_TEMP. */
gboolean world_sent(Db *db, const char *account, const char *item, const char *login,
                    const Extract *extract, gint64 now, GError **error);
