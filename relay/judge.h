/* judge.h - from a message and the history to facts, and from facts to a verdict
 *
 * The only judge. Looks at the envelope, the extract and the history, never at what the agent
 * claims (A5). Runs inside a writer job, so that counters are read and counted in one
 * transaction. Errors: ERROR_TEMP; a message that is odd is a verdict, never an error. */
#pragma once

#include "lib/config.h"
#include "store/queue.h"

/* Fills in facts, recipients, conversation, tier, line, reason, policy version and due of an
 * item whose login, envelope, extract, claims, size and id are set. Used for a new submission
 * and again when a delayed one is about to leave; counters leave the item itself out. */
gboolean judge_item(Db *db, const Config *config, const Account *account, Item *item,
                    gint64 now, GError **error);

/* FALSE for what was refused before any rule was asked. */
gboolean judge_has_facts(const Item *item);

/* Facts are kept without the message they were taken from: this lends them what text and list
 * conditions look at. They live as long as the item and the array *lent_out, which the caller
 * frees. */
void judge_lend(const Item *item, Facts *facts_out, const char ***lent_out);
