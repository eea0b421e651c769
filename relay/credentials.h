/* credentials.h - what proves to a server who we are
 *
 * Read when it is needed, so that a changed password needs no reload. */
#pragma once

#include "lib/secret.h"

/* The first line of the password file, of the token file or of what the token command prints,
 * never empty; the caller clears and frees it. What a command printed is used again for the
 * same user until fresh, which says that the server did not take it. ERROR_CONFIG for a file
 * with a wrong owner or mode, ERROR_TEMP when there is none to be had now. Any thread. */
char *credentials_fetch(const Secret *secret, const char *user, gboolean fresh,
                        GError **error);
