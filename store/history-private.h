/* history-private.h - the rows of correspondents and participants, for the files of history.h
 */
#pragma once

#include "store/history.h"

/* The row of an address. */
typedef struct {
    Correspondent row; /* zeroed when there is none that is ours */
    char *voucher;
    guint8 seal[SEAL_BYTES];
    gboolean found;
    gboolean sealed; /* by us */
} KnownEntry;

void known_entry_clear(KnownEntry *entry);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(KnownEntry, known_entry_clear)

gboolean known_find(Db *db, const char *account, const char *address, KnownEntry *entry_out,
                    GError **error);

/* Reads seal, message and written of a participant, from that column on; FALSE when the row
 * is not ours. */
gboolean joined_read(Db *db, const char *account, gint64 conversation, const char *address,
                     Rows *rows, int column, guint8 seal_out[SEAL_BYTES], gint64 *written_out);

/* One letter more. Imported mail comes in any order; an event orders what happened within one
 * second. */
void known_count_letter(Correspondent *row, gint64 event, gint64 now);

/* Puts the changed row in the place of the one that was found. */
gboolean known_write(Db *db, const char *account, const char *address, const KnownEntry *entry,
                     Warrant *warrant, GError **error);
