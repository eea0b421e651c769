/* config-private.h - within lib/config*.c */
#pragma once

#include "lib/config.h"
#include "lib/keyfile.h"

#define ACCOUNT_PREFIX "account "

/* The line where a key of an account stands, or would stand. */
guint config_line(const KeyFile *file, const Account *account, const char *key);

/* Checks what no key can be checked for alone: who owns a login or an address, who may decide.
 * Fills in a notices-from that was not given. */
gboolean config_check(Config *config, const KeyFile *file, GError **error);
