/* owed.h - submissions whose clients were told to come again
 *
 * Whoever got a 451 for what is kept is owed the end of it. Written in the transaction of the
 * item. Writer's thread only. Errors: ERROR_TEMP. */
#pragma once

#include "store/queue.h"

/* Seconds for which a client may ask again, having lost the answer that was the end: longer
 * than Postfix waits before it tries again. */
#define OWED_AGAIN (2 * 60 * 60)

/* The item's client is told to come again. lasting: the message had an id of its own, so the
 * same bytes are the same message for ever; else only until OWED_AGAIN after its client was
 * told the end. */
gboolean owed_add(Db *db, const Item *item, gboolean lasting, GError **error);

/* The item of the account that is owed for that submission key; *id_out NULL when none. */
gboolean owed_find(Db *db, const char *account, const char *key, gint64 now, char **id_out,
                   GError **error);

/* The client hears the end now. *first_out: for the first time. */
gboolean owed_tell(Db *db, const char *id, gint64 now, gboolean *first_out, GError **error);
