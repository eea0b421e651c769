/* imap-name.h - names of mail folders as IMAP and Maildir write them
 *
 * Modified UTF-7 (RFC 3501, 5.1.3): ASCII without control characters, whatever the name holds.
 * "Entw&APw-rfe" is "Entwürfe". The caller frees. */
#pragma once

#include <glib.h>

char *imap_name_encode(const char *name);

/* NULL when it is not of that form. */
char *imap_name_decode(const char *wire);
