/* witness.h - what is known of the database outside of it
 *
 * Two files in the relay's folder tell when the database is an older copy of itself.
 * "audit.head" names the newest entry of the audit record and the latest time that was seen.
 * It is written after each commit, so it may lag behind, but never runs ahead: an entry that
 * it names and the table does not have was taken away (XE6, XE11, XE14, XC12). "handovers.log"
 * has a line for each item that was handed on, synced before the commit that says so. A commit
 * without a line cannot be; a line without a commit is harmless, since nobody was answered.
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

/* Notes that an item is handed on; synced when this returns. */
gboolean witness_hand_over(Witness *witness, const char *item, const char *digest, gint64 now,
                           GError **error);

/* The ids of all items that were ever handed on (set of char *). The caller unrefs. */
GHashTable *witness_handed_over(Witness *witness, GError **error);
