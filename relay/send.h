/* send.h - how an item leaves
 *
 * Sending begins with a look at the authority and a fresh ticket (state sending). The
 * authority is looked at again and used up at the point of no return (committing): at a gated
 * door when the milter redeems the ticket, elsewhere right before the final dot. What happens
 * after that point is never tried again (E40). */
#pragma once

#include "relay/relay.h"
#include "store/queue.h"

/* Starts the threads that transmit. */
Sender *sender_start(Relay *relay);

/* Ends them; what is under way is finished first. */
void sender_stop(Sender *sender);

/* Whether the sender would take an item now: it is neither under way nor waits for its turn,
 * and few others wait for the account's next hop. Any thread. */
gboolean sender_wants(Sender *sender, const Config *config, const char *id,
                      const char *account);

/* Sends an item soon; one that is under way already is left alone. A next hop has sessions of
 * its own, so a slow one keeps only its own mail waiting. Any thread. */
void sender_push(Sender *sender, const Config *config, const char *id, const char *account);

/* Now and then: ends connections that wait for nothing. */
void sender_tidy(Sender *sender);

/* The point of no return, as part of a writer job: the item must be in sending and its
 * authority valid; then the approval is consumed and the item is in committing. *why_out is
 * NULL when it may leave, else what is in the way (the caller frees). queue_id: where the mail
 * server has it, "" when not known; kept with the move. */
gboolean send_use_authority(Relay *relay, const Config *config, const char *id,
                            const char *queue_id, gint64 now, char **why_out, GError **error);

/* The authority has gone while the item waited: it waits for a person again, as a draft when
 * a rule says so, else held; or the human has sent it. tier, why: of authority_check. In a
 * writer job. */
gboolean send_back(Db *db, const Item *item, Tier tier, const char *why, gint64 now,
                   GError **error);

/* When an item that could not leave now is tried again: the more often it was tried, the
 * later, from 30 seconds to 15 minutes. */
gint64 send_next_try(const Item *item, gint64 now);

/* What left is history: the message's id joins its conversation. In a writer job. */
gboolean send_learn(Db *db, const Item *item, gint64 now, GError **error);

/* Once at start, as a writer job (data: the Relay): items caught in the middle by the end of
 * the last run. Nothing that may have left is sent again. */
gboolean send_recover(gpointer relay, GError **error);
