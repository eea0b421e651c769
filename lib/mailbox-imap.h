/* mailbox-imap.h - the folders of an IMAP server as a mailbox
 *
 * Only heads are fetched, and the whole of a message when somebody wants it. Roles are those
 * the server tells, else those of the names. Unlike a path, a server can fail as a whole; the
 * error says how far the reading had come. */
#pragma once

#include "lib/imap.h"
#include "lib/mailbox.h"

/* Connects, and reads the folder that the address names; without one all of them, but for
 * views of messages that lie elsewhere. Errors: those of imap.h; ERROR_CONFIG when there is no
 * such folder. */
Mailbox *mailbox_open_imap(const ImapServer *server, GError **error);
