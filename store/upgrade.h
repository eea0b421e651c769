/* upgrade.h - which version of the program wrote the database last
 *
 * Another one may mean something else by what was approved (XF19). Writer's thread only.
 * Errors: ERROR_TEMP. */
#pragma once

#include "store/db.h"

/* Notes the version that writes from here on. *before_out: the one that did, NULL when it is
 * the same or nobody did. The caller frees. */
gboolean upgrade_note(Db *db, const char *version, char **before_out, GError **error);
