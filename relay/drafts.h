/* drafts.h - what waits, in the mailbox of the person whose name it bears (B14, B15)
 *
 * What is held, drafted or delayed lies in the folder for drafts within seconds, and is taken
 * out when it ends. A draft that was there and is not any more means that the person does not
 * want it: deleted, moved, or edited, which replaces it. What is delayed leaves only after a
 * look, at its due time, that finds the draft in its place: a mailbox that cannot be looked at
 * stops it. A message that was sent from another program, and lies among what was sent, ends
 * its item. Nothing in a mailbox approves anything.
 *
 * Each mailbox has one connection and one turn at a time, in a thread of its own; the database
 * is only touched in short jobs. */
#pragma once

#include "relay/request.h"

Drafts *drafts_start(Relay *relay);

/* Ends the threads; what is under way is finished first, at most an answer's time. */
void drafts_stop(Drafts *drafts);
void drafts_free(Drafts *drafts);

/* Whether the item may leave only after a look into a mailbox. */
gboolean drafts_guard(const Config *config, const Item *item);

/* An item that drafts_guard names is due: have a look, and give it to the sender if it may
 * leave. Any thread; again and again is once. */
void drafts_ask(Drafts *drafts, const Item *item);

/* Whether that was asked, and the look is still to come or under way. Any thread. */
gboolean drafts_asked(Drafts *drafts, const Config *config, const char *id,
                      const char *account);

/* Whether the item may leave: no mailbox guards it, or somebody just had that look. The look
 * is good for one attempt. Any thread. */
gboolean drafts_permit(Relay *relay, const Config *config, const Item *item);

/* Adds what "show" tells of an item's draft: draft_since (x, 0: not there) and draft_place
 * (s), and draft_trouble (s): why the mailbox cannot be used, "" when it can. In a writer job.
 */
gboolean drafts_describe(const Request *request, const Item *item, GVariantDict *dict,
                         GError **error);

/* Mailboxes that cannot be used, of the accounts that the peer may know: floating aa{sv} of
 * account, error (s) and since (x). Any thread. */
GVariant *drafts_view(const Request *request);
