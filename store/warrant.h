/* warrant.h - what the history vouches with is sealed (XE13, XE15)
 *
 * Two kinds of rows help a message: that an address is a correspondent, and that it takes part
 * in a conversation, which is the human's for it. Each carries a seal (seal.h) over
 * what it says, so that a row made or changed by who does not have the key says nothing. That
 * rows are missing, or old ones came back, shows by the account's sum: their number, and the
 * sum of their seals as numbers of 256 bits, least significant byte first. It stands in an
 * entry of the audit record, kind "history", written in the transaction of each change, so the
 * chain covers it. Writer's thread only, but warrant_check. Errors: ERROR_TEMP. */
#pragma once

#include "store/db.h"

/* What a correspondent's row says. */
typedef struct {
    gint64 times, first_written, last_written, event, vouched;
    const char *voucher;
} Correspondent;

/* What a participant's row says: the human's last letter to it there. */
typedef struct {
    gint64 conversation;
    const char *message;
    gint64 written;
} Participant;

void warrant_seal_correspondent(Db *db, const char *account, const char *address,
                                const Correspondent *row, guint8 seal_out[SEAL_BYTES]);
void warrant_seal_participant(Db *db, const char *account, const char *address,
                              const Participant *row, guint8 seal_out[SEAL_BYTES]);

/* Whether a column has this seal. */
gboolean warrant_fits(const guint8 seal[SEAL_BYTES], Rows *rows, int column);

/* What a job changes of an account's sum. Zeroed: nothing. */
typedef struct {
    gint64 rows;
    guint8 sum[SEAL_BYTES];
    gboolean changed;
} Warrant;

void warrant_add(Warrant *warrant, const guint8 seal[SEAL_BYTES]);
void warrant_take(Warrant *warrant, const guint8 seal[SEAL_BYTES]);

/* Records the account's new sum, if anything was changed. who: as in the audit record; id: of
 * the message that taught it, or NULL. */
gboolean warrant_record(Db *db, const char *account, const Warrant *warrant, const char *who,
                        const char *id, gint64 now, GError **error);

#define WARRANT_FAULTS_MOST 20

/* Compares an account's rows with their seals and with its sum, as they stood at one moment.
 * db: a handle of its own, outside a transaction, in any thread; it is read for some
 * microseconds a row. *faults_out: a sentence for each fault, WARRANT_FAULTS_MOST and one at
 * most; the caller unrefs. */
gboolean warrant_check(Db *db, const char *account, GPtrArray **faults_out, GError **error);

/* Takes the account's rows as they are: those that do not fit their seals are removed, the
 * others are counted anew, and that sum is recorded. What is missing stays so; of an old row
 * that came back nobody can tell. *faults_out: as of warrant_check; nothing is done when there
 * is none. In a writer job, which lasts as long as the walk. */
gboolean warrant_accept(Db *db, const char *account, const char *who, gint64 now,
                        GPtrArray **faults_out, GError **error);
