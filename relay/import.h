/* import.h - what an admin brings from mailboxes: exeat import
 *
 * A command that runs as the admin reads the mailboxes; the relay parses nothing. Each batch
 * is one writer job. A message of the human's that was seen before counts once, so an import
 * may be repeated (XE17). Every folder leaves an audit entry with its path, digest and counts;
 * one that takes several batches also leaves one at its begin, so that no import can end
 * without a trace. */
#pragma once

#include "relay/request.h"

/* {account s} answers account s, addresses as. Without account: the only one there is. */
gboolean import_account(Request *request, GError **error);

/* {account s, addresses as} answers addresses as: those the human has never written to. */
gboolean import_novel(Request *request, GError **error);

/* {account s, path s, begins b, lessons a(…) of LESSON_TYPE, summary a{sv}} answers
 * correspondents t, conversations t: how many are new. summary comes with the last batch of a
 * folder: sha256 s, sent t, received t, skipped t. */
gboolean import_learn(Request *request, GError **error);
