/* lost.h - what was handed on by items that this copy of the database does not have
 *
 * When an older copy was put back, the journal beside it still names them (witness.h). Who
 * submits one of them again may not know that it left. Writer's thread only. Errors:
 * ERROR_TEMP. */
#pragma once

#include "store/db.h"

/* An action digest that was handed on, and the item that it was. Again is no error. */
gboolean lost_add(Db *db, const char *digest, const char *item, GError **error);

/* *item_out NULL: no lost item had that digest. The caller frees. */
gboolean lost_find(Db *db, const char *digest, char **item_out, GError **error);
