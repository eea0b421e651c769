/* record.h - keeps the record whole, and notices when it is not
 *
 * At start and every second the database is compared with what stands beside it (witness.h):
 * items that were handed on since become uncertain, every approval is void, and the gap stays
 * to be seen in the audit record (XC12, XE6, XE14). A clock that goes back voids every
 * approval (XC11). The newest entry of the record is logged at start, at the end and every
 * hour, and given to the command audit-anchor, so that it is known elsewhere too (XE5, XE11).
 */
#pragma once

#include "relay/relay.h"

#include "store/queue.h"

/* Opens key, database and witness in the relay's folder, starts the writer, and compares.
 * ERROR_CONFIG when the key does not belong to the relay alone, or not to the database;
 * ERROR_INTEGRITY; ERROR_TEMP. */
gboolean record_start(Relay *relay, GError **error);

/* In a writer job, before authority is used: ERROR_TEMP while the clock stands behind a time
 * that was seen and record_tick has not dealt with it yet. */
gboolean record_clock_stands(Relay *relay, gint64 now, GError **error);

/* In a writer job that uses an item's authority: notes it outside the database. */
gboolean record_hand_over(Relay *relay, const Item *item, gint64 now, GError **error);

/* In a writer job that takes authority away: before anybody is answered, that it did is synced
 * outside the database, so that an older copy put back after a power cut is noticed, too. */
void record_make_firm(Relay *relay);

/* In a writer job: number of the newest audit entry that was ever noted. */
gint64 record_known(Relay *relay);

/* Every second, from the schedule. */
void record_tick(Relay *relay);

/* At the end, while the writer still runs. */
void record_end(Relay *relay);
