/* server.h - a mail server named on the command line, and the password for it
 *
 * The password comes from a file, from EXEAT_IMAP_PASSWORD, or from whoever sits at the
 * terminal; never from the command line, which everybody on the host may read. */
#pragma once

#include "lib/mailbox.h"

/* TRUE for imaps:// and imap://. */
gboolean server_is_address(const char *word);

/* Connects to imaps://user@host/Folder (lib/imap.h) and reads its folders. password_file: NULL
 * to look elsewhere; its first line counts. ca_file: NULL for the system's. Errors: those of
 * mailbox_open_imap, and ERROR_CONFIG when there is no password to be had. */
Mailbox *server_open(const char *address, const char *password_file, const char *ca_file,
                     GError **error);
