#include "store/history-private.h"

#include "lib/address.h"
#include "lib/lookalike.h"
#include "store/history-sql.h"

/* Counts a correspondent more or less of a domain, and keeps the keys of one that has any. */
static gboolean
count_domain(Db *db, const char *account, const char *address, gint64 more, GError **error)
{
    const char *name = address_domain(address);
    g_autoptr(GPtrArray) keys = NULL;
    gint64 correspondents = 0;

    if (db_run(db, &domain_count, error, "ssi", account, name, more) < 0 ||
        !db_integer(db, &domain_find, 0, &correspondents, error, "ss", account, name))
        return FALSE;
    if (correspondents != MAX(more, 0))
        return TRUE; /* neither the first nor the last */
    keys = lookalike_file_keys(name);
    for (guint i = 0; i < keys->len; i++) {
        const Sql *sql = more > 0 ? &domain_key_add : &domain_key_remove;

        if (db_run(db, sql, error, "sss", account, g_ptr_array_index(keys, i), name) < 0)
            return FALSE;
    }
    return more > 0 || db_run(db, &domain_remove, error, "ss", account, name) >= 0;
}

void
known_entry_clear(KnownEntry *entry)
{
    g_free(entry->voucher);
}

gboolean
known_find(Db *db, const char *account, const char *address, KnownEntry *entry_out,
           GError **error)
{
    g_autoptr(Rows) rows = db_query(db, &correspondent_find, error, "ss", account, address);
    KnownEntry entry = {.row.voucher = ""};

    if (!rows_one(rows, &entry.found, error))
        return FALSE;
    if (entry.found) {
        const Correspondent row = {.times = rows_integer(rows, 1),
                                   .first_written = rows_integer(rows, 2),
                                   .last_written = rows_integer(rows, 3),
                                   .event = rows_integer(rows, 4),
                                   .vouched = rows_integer(rows, 5),
                                   .voucher = rows_text(rows, 6)};

        warrant_seal_correspondent(db, account, address, &row, entry.seal);
        entry.sealed = warrant_fits(entry.seal, rows, 0);
        if (entry.sealed) {
            entry.row = row;
            entry.row.voucher = entry.voucher = g_strdup(row.voucher);
        }
    }
    *entry_out = entry;
    return TRUE;
}

gboolean
known_write(Db *db, const char *account, const char *address, const KnownEntry *entry,
            Warrant *warrant, GError **error)
{
    const Correspondent *row = &entry->row;
    guint8 seal[SEAL_BYTES];

    warrant_seal_correspondent(db, account, address, row, seal);
    if (entry->sealed)
        warrant_take(warrant, entry->seal);
    warrant_add(warrant, seal);
    if (entry->found)
        return db_run(db, &correspondent_write, error, "ssiiiiisb", account, address,
                      row->times, row->first_written, row->last_written, row->event,
                      row->vouched, row->voucher, seal, sizeof seal) >= 0;
    g_autofree char *skeleton = lookalike_address(address);
    return db_run(db, &correspondent_add, error, "ssiiiiisbs", account, address, row->times,
                  row->first_written, row->last_written, row->event, row->vouched,
                  row->voucher, seal, sizeof seal, skeleton) >= 0 &&
           count_domain(db, account, address, 1, error);
}

void
known_count_letter(Correspondent *row, gint64 event, gint64 now)
{
    if (row->times == 0 || now < row->first_written)
        row->first_written = now;
    if (now >= row->last_written && now >= row->vouched)
        row->event = event;
    row->last_written = MAX(row->last_written, now);
    row->times++;
}

/* By the clock, since older mail may be imported later; by the event within one second. */
static gboolean
is_mentioned(Rows *rows, gint64 settled, gint64 event)
{
    gint64 seen = rows_integer(rows, 6);

    return seen > settled || (seen == settled && rows_integer(rows, 5) > event);
}

/* What a row of address_look_up says of a correspondent; nothing when it is none, or not
 * written by us. */
static Correspondent
read_row(Db *db, const char *account, const char *address, Rows *rows, gboolean *forged_out)
{
    const Correspondent row = {.times = rows_integer(rows, 0),
                               .first_written = rows_integer(rows, 1),
                               .last_written = rows_integer(rows, 2),
                               .event = rows_integer(rows, 3),
                               .vouched = rows_integer(rows, 4),
                               .voucher = rows_text(rows, 9)};
    guint8 seal[SEAL_BYTES];

    *forged_out = FALSE;
    if (row.voucher == NULL)
        return (Correspondent){0};
    warrant_seal_correspondent(db, account, address, &row, seal);
    *forged_out = !warrant_fits(seal, rows, 8);
    return *forged_out ? (Correspondent){0} : row;
}

gboolean
joined_read(Db *db, const char *account, gint64 conversation, const char *address, Rows *rows,
            int column, guint8 seal_out[SEAL_BYTES], gint64 *written_out)
{
    const Participant row = {conversation, rows_text(rows, column + 1),
                             rows_integer(rows, column + 2)};

    if (row.message == NULL)
        return FALSE;
    warrant_seal_participant(db, account, address, &row, seal_out);
    *written_out = row.written;
    return warrant_fits(seal_out, rows, column);
}

gboolean
history_look_up(Db *db, const char *account, const char *address, gint64 conversation,
                HistoryAddress *found_out, GError **error)
{
    g_autoptr(Rows) rows =
        db_query(db, &address_look_up, error, "ssi", account, address, conversation);
    gboolean found = FALSE;
    guint8 seal[SEAL_BYTES];
    gint64 written = 0;

    if (!rows_one(rows, &found, error))
        return FALSE;
    g_assert(found);
    gboolean forged;
    Correspondent row = read_row(db, account, address, rows, &forged);
    gint64 settled = MAX(row.last_written, row.vouched);
    gboolean takes_part =
        joined_read(db, account, conversation, address, rows, 10, seal, &written);
    *found_out = (HistoryAddress){.known = row.times > 0 || row.vouched > 0,
                                  .forged = forged,
                                  .mentioned = is_mentioned(rows, settled, row.event),
                                  .list = rows_text(rows, 7) != NULL,
                                  .takes_part = takes_part,
                                  .written = takes_part ? written : 0,
                                  .first = row.first_written,
                                  .last = row.last_written,
                                  .times = row.times,
                                  .vouched = row.vouched};
    return TRUE;
}

gboolean
history_vouch(Db *db, const char *account, const char *address, const char *who, gint64 now,
              GError **error)
{
    gint64 event = 0;
    g_auto(KnownEntry) entry = {0};
    Warrant warrant = {0};

    if (!db_next_number(db, "event", &event, error) ||
        !known_find(db, account, address, &entry, error))
        return FALSE;
    entry.row.vouched = now;
    entry.row.voucher = who;
    entry.row.event = event;
    return known_write(db, account, address, &entry, &warrant, error) &&
           warrant_record(db, account, &warrant, who, NULL, now, error);
}

/* Removes the row of an address, if there is one. */
static gboolean
remove_known(Db *db, const char *account, const char *address, const char *who, gint64 now,
             gboolean *removed_out, GError **error)
{
    g_auto(KnownEntry) entry = {0};
    Warrant warrant = {0};

    if (!known_find(db, account, address, &entry, error))
        return FALSE;
    if (entry.sealed)
        warrant_take(&warrant, entry.seal);
    *removed_out = entry.found;
    return !entry.found ||
           (db_run(db, &correspondent_remove, error, "ss", account, address) >= 0 &&
            count_domain(db, account, address, -1, error) &&
            warrant_record(db, account, &warrant, who, NULL, now, error));
}

gboolean
history_forget(Db *db, const char *account, const char *address, const char *who, gint64 now,
               gboolean *known_out, GError **error)
{
    gboolean known = FALSE;

    if (!remove_known(db, account, address, who, now, &known, error))
        return FALSE;
    gint64 mentioned = db_run(db, &mention_remove, error, "ss", account, address);
    if (mentioned < 0)
        return FALSE;
    *known_out = known || mentioned > 0;
    return TRUE;
}
