/* witness.h - what is known of the database outside of it
 *
 * Two files in the relay's folder tell when the database is an older copy of itself.
 * "audit.head" names the newest entry of the audit record and the latest time that was seen.
 * It is written after each commit and before anybody is answered, so it never runs ahead, and
 * lags behind by nothing that anybody was told: an entry that it names and the table does not
 * have was taken away (XE6, XE11, XE14, XC12). "handovers.log" has a line for each item that
 * was handed on, synced before the commit that says so: time, item, digest, when the item
 * expires, number and seal of the newest entry, so that after a power cut, too, the head is
 * not older than that. A commit without a line cannot be; a line without a commit is harmless,
 * since nobody was answered. The log is kept as long as an older database could take the item
 * for one that waits, which none does once it has expired.
 * Writer's thread only. Errors: ERROR_TEMP; ERROR_INTEGRITY for a head that cannot be read. */
#pragma once

#include "lib/chain.h"

typedef struct _Witness Witness;

/* Opens both files, making them when they are missing. */
Witness *witness_open(const char *folder, GError **error);
void witness_free(Witness *witness);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Witness, witness_free)

/* The newest entry as last written; empty when the file is new. */
const ChainHead *witness_head(const Witness *witness);

/* The latest time seen; 0 when the file is new. */
gint64 witness_seen(const Witness *witness);

/* Writes both. They survive the end of the process at once, a power cut after witness_sync,
 * which happens by itself once a second at most. */
gboolean witness_write(Witness *witness, const ChainHead *head, gint64 seen, GError **error);
gboolean witness_sync(Witness *witness, GError **error);

/* Notes that an item, which expires at that time, is handed on; synced when this returns. */
gboolean witness_hand_over(Witness *witness, const char *item, const char *digest,
                           gint64 expires, gint64 now, GError **error);

/* All items that were handed on and not let go of: id to action digest. The caller unrefs. */
GHashTable *witness_handed_over(Witness *witness, GError **error);

/* Lets go of items that expired before that time, in a file written anew beside the log: whole
 * or not at all, whenever the process ends. */
gboolean witness_prune(Witness *witness, gint64 expired, GError **error);
