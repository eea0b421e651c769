#include "relay/record.h"

#include <config.h>

#include "lib/error.h"
#include "lib/log.h"
#include "relay/clock.h"
#include "relay/program.h"
#include "store/approval.h"
#include "store/audit.h"
#include "store/lost.h"
#include "store/upgrade.h"
#include "store/witness.h"

enum { ANCHOR_SECONDS = 3600, DAY = 86400 };

struct _Record {
    Witness *witness; /* writer's thread only, as are the next six */
    ChainHead head;   /* as this commit leaves it */
    GError *trouble;  /* why it is not known; NULL when it is */
    gboolean broken;  /* that the head cannot be noted was said */
    gboolean firm;    /* the head of this commit is to be synced */
    gint64 pruned;    /* when */
    guint rewritten;  /* how often the database was, when that was last said */
    /* The schedule's thread only, and the main one before and after it. */
    gint64 anchored_us; /* monotonic */
    gint64 anchored_seq;
};

/* What the writer finds out for other threads. */
typedef struct {
    Relay *relay;
    ChainHead head;
    gboolean accept; /* what was found is recorded: from here on it is the truth */
} Look;

/* The key is made with the database. One without the other was put there by somebody. */
static Seal *
open_key(const char *state, const char *database, GError **error)
{
    g_autofree char *path = g_build_filename(state, "key", NULL);

    if (!g_file_test(path, G_FILE_TEST_EXISTS) && !g_file_test(database, G_FILE_TEST_EXISTS) &&
        !seal_make_key(path, error))
        return NULL;
    return seal_open(path, error);
}

/* FALSE, too, when the record lost what was noted before: then that stays noted. */
static gboolean
find_head(Relay *relay, ChainHead *head_out, GError **error)
{
    const ChainHead *noted = witness_head(relay->record->witness);
    gboolean has;
    gint64 at;

    if (!audit_has(relay->db, noted, &has, error) ||
        !audit_head(relay->db, head_out, &at, error))
        return FALSE;
    if (!has)
        g_set_error(error, EXEAT_ERROR, ERROR_INTEGRITY,
                    "entry %" G_GINT64_FORMAT " of the audit record is gone or was changed",
                    noted->seq);
    return has;
}

/* Within each transaction, which the look is a part of so. */
static void
look_at_head(gpointer data)
{
    Relay *relay = data;
    Record *record = relay->record;

    g_clear_error(&record->trouble);
    find_head(relay, &record->head, &record->trouble);
}

static gboolean
note_head(Record *record, GError **error)
{
    gint64 seen = MAX(relay_now(), witness_seen(record->witness));

    if (record->trouble != NULL) {
        g_propagate_error(error, g_steal_pointer(&record->trouble));
        return FALSE;
    }
    return witness_write(record->witness, &record->head, seen, error) &&
           (!record->firm || witness_sync(record->witness, error));
}

/* After each commit. What cannot be noted is only noted later: the commit stands. */
static void
note_commit(gpointer data)
{
    Relay *relay = data;
    g_autoptr(GError) error = NULL;
    Record *record = relay->record;
    gboolean noted = note_head(record, &error);

    record->firm = FALSE;
    if (!noted && !record->broken)
        log_error("the newest audit entry is not noted: %s", error->message);
    record->broken = !noted;
}

static gboolean
open_all(Relay *relay, GError **error)
{
    const char *state = relay->config->state;
    g_autofree char *path = g_build_filename(state, "exeat.db", NULL);

    if (!g_file_test(state, G_FILE_TEST_IS_DIR)) {
        g_set_error(error, EXEAT_ERROR, ERROR_CONFIG,
                    "%s: this folder is not there; the key “state” names it", state);
        return FALSE;
    }
    g_autoptr(Seal) seal = open_key(state, path, error);
    g_autoptr(Witness) witness = seal ? witness_open(state, error) : NULL;

    if (witness == NULL)
        return FALSE;
    relay->db = db_open(path, error);
    if (relay->db == NULL)
        return FALSE;
    db_set_seal(relay->db, g_steal_pointer(&seal));
    relay->record = g_new0(Record, 1);
    relay->record->witness = g_steal_pointer(&witness);
    relay->writer = writer_start(relay->db);
    const WriterWatch watch = {look_at_head, note_commit, relay};
    writer_watch(relay->writer, &watch);
    return TRUE;
}

static gboolean
record_event(Db *db, const char *kind, GVariant *details, gint64 now, GError **error)
{
    const AuditEntry entry = {.kind = kind, .who = "relay", .details = details};

    return audit_append(db, &entry, now, error);
}

/* The gap between what the table has and what it had stays: the entry that tells of it comes
 * after the last one that is missing. */
static gboolean
record_loss(Db *db, const ChainHead *known, const ChainHead *table, gint64 now, GError **error)
{
    GVariantDict details;

    g_variant_dict_init(&details, NULL);
    g_variant_dict_insert(&details, "known", "x", known->seq);
    g_variant_dict_insert(&details, "found", "x", table->seq);
    const AuditEntry entry = {
        .kind = CHAIN_LOSS, .who = "relay", .details = g_variant_dict_end(&details)};
    log_error("the database ends at audit entry %" G_GINT64_FORMAT ", but %" G_GINT64_FORMAT
              " was written: it is an older copy, or was changed; every approval is void",
              table->seq, known->seq);
    return known->seq > table->seq ? audit_append_after(db, known, &entry, now, error)
                                   : audit_append(db, &entry, now, error);
}

/* An item that was handed on, and that the database takes for one that still waits. */
static gboolean
set_aside(Db *db, const char *id, const char *digest, gint64 now, GError **error)
{
    g_autoptr(Item) item = NULL;
    Move done;

    if (!queue_load(db, id, &item, error))
        return FALSE;
    if (item == NULL)
        return lost_add(db, digest, id, error);
    if (!state_is_waiting(item->state) || item->state == STATE_COMMITTING ||
        item->state == STATE_UNCERTAIN)
        return TRUE;
    log_error("%s: was handed on before, and is %s in this database: it is uncertain now", id,
              state_name(item->state));
    return queue_move(db, id, item->state, STATE_UNCERTAIN, "relay",
                      "handed on before, by the journal beside the database", now, &done,
                      error);
}

/* Everything in a state waits for a person. */
static gboolean
hold_all(Db *db, State state, const char *why, gint64 now, GError **error)
{
    g_autoptr(GPtrArray) items = queue_in_state(db, state, error);
    Move done;

    if (items == NULL)
        return FALSE;
    for (guint i = 0; i < items->len; i++)
        if (!queue_move(db, g_ptr_array_index(items, i), state, STATE_HELD, "relay", why, now,
                        &done, error))
            return FALSE;
    return TRUE;
}

/* No approval is good any more; what was approved waits again. */
static gboolean
void_approvals(Db *db, const char *why, gint64 now, GError **error)
{
    return hold_all(db, STATE_APPROVED, why, now, error) &&
           approval_void(db, NULL, now, error);
}

static gboolean
set_all_aside(Relay *relay, gint64 now, GError **error)
{
    const char *why = "the database is an older copy";
    g_autoptr(GHashTable) items = witness_handed_over(relay->record->witness, error);
    GHashTableIter iter;
    gpointer id, digest;

    if (items == NULL)
        return FALSE;
    g_hash_table_iter_init(&iter, items);
    while (g_hash_table_iter_next(&iter, &id, &digest))
        if (!set_aside(relay->db, id, digest, now, error))
            return FALSE;
    /* Nor does a delay end by itself: the veto may be what was lost. */
    return hold_all(relay->db, STATE_DELAYED, why, now, error) &&
           hold_all(relay->db, STATE_SENDING, why, now, error) &&
           void_approvals(relay->db, why, now, error);
}

static gboolean
compare(Look *look, gint64 now, GError **error)
{
    Relay *relay = look->relay;
    const ChainHead *known = witness_head(relay->record->witness);
    ChainHead table;
    gboolean has;
    gint64 at;

    if (!audit_head(relay->db, &table, &at, error) ||
        !audit_has(relay->db, known, &has, error))
        return FALSE;
    /* Nothing is noted yet at the first start, which commits one entry before it notes it. */
    if (has && (known->seq > 0 || table.seq <= 1))
        return TRUE;
    look->accept = TRUE;
    return record_loss(relay->db, known, &table, now, error) &&
           set_all_aside(relay, now, error);
}

static gboolean
went_back(const Relay *relay, gint64 now)
{
    return now < witness_seen(relay->record->witness) - AUDIT_JITTER;
}

/* Approvals live by the clock, so they do not survive a wrong one. */
static gboolean
check_clock(Look *look, gint64 now, GError **error)
{
    Relay *relay = look->relay;
    GVariantDict details;

    if (!went_back(relay, now))
        return TRUE;
    look->accept = TRUE;
    g_variant_dict_init(&details, NULL);
    g_variant_dict_insert(&details, "seen", "x", witness_seen(relay->record->witness));
    log_error("the clock went back: every approval is void");
    return void_approvals(relay->db, "the clock went back", now, error) &&
           record_event(relay->db, "clock-back", g_variant_dict_end(&details), now, error);
}

/* Once it is recorded and the approvals are void, head and time go on from here. */
static gboolean
accept_found(gpointer data, GError **error)
{
    Relay *relay = ((Look *)data)->relay;
    ChainHead head;
    gint64 at;

    return audit_head(relay->db, &head, &at, error) &&
           witness_write(relay->record->witness, &head, relay_now(), error);
}

/* Another program may mean something else by what was approved. */
static gboolean
check_version(Db *db, gint64 now, GError **error)
{
    g_autofree char *before = NULL;
    GVariantDict details;

    if (!upgrade_note(db, PACKAGE_VERSION, &before, error))
        return FALSE;
    if (before == NULL)
        return TRUE;
    log_info("this is version %s, %s was here before: every approval is void", PACKAGE_VERSION,
             before);
    g_variant_dict_init(&details, NULL);
    g_variant_dict_insert(&details, "from", "s", before);
    g_variant_dict_insert(&details, "to", "s", PACKAGE_VERSION);
    return void_approvals(db, "the program is another version", now, error) &&
           record_event(db, "upgraded", g_variant_dict_end(&details), now, error);
}

static gboolean
begin(gpointer data, GError **error)
{
    Look *look = data;
    Relay *relay = look->relay;
    gint64 now = relay_now(), at;
    GVariantDict details;

    if (!compare(look, now, error) || !check_clock(look, now, error) ||
        !check_version(relay->db, now, error))
        return FALSE;
    g_variant_dict_init(&details, NULL);
    g_variant_dict_insert(&details, "version", "s", PACKAGE_VERSION);
    return record_event(relay->db, "started", g_variant_dict_end(&details), now, error) &&
           audit_head(relay->db, &look->head, &at, error);
}

/* Makes the newest entry known elsewhere. */
static void
anchor(Relay *relay, const ChainHead *head)
{
    g_autoptr(Config) config = relay_config(relay);
    g_autoptr(GStrvBuilder) words = g_strv_builder_new();
    g_autofree char *seq = g_strdup_printf("%" G_GINT64_FORMAT, head->seq);
    g_autoptr(GError) error = NULL;

    relay->record->anchored_us = g_get_monotonic_time();
    relay->record->anchored_seq = head->seq;
    log_info("audit record: entry %s, seal %s", seq, head->seal);
    if (config->anchor[0] == NULL)
        return;
    g_strv_builder_addv(words, (const char **)config->anchor);
    g_strv_builder_add_many(words, seq, head->seal, NULL);
    g_auto(GStrv) command = g_strv_builder_end(words);
    if (!g_spawn_async("/", command, NULL, G_SPAWN_DEFAULT, program_allow_signals, NULL, NULL,
                       &error))
        log_error("audit-anchor: %s", error->message);
}

gboolean
record_start(Relay *relay, GError **error)
{
    Look look = {.relay = relay};

    if (!open_all(relay, error) || !writer_run(relay->writer, begin, &look, error))
        return FALSE;
    anchor(relay, &look.head);
    return !look.accept || writer_run(relay->writer, accept_found, &look, error);
}

/* Once a day. A clock that is a day wrong lets go of nothing that counts, nor does one that
 * cannot be believed. */
static gboolean
prune(Record *record, GError **error)
{
    gint64 now;

    if (!clock_is_steady(&now))
        return TRUE;
    if (now >= record->pruned && now < record->pruned + DAY)
        return TRUE;
    record->pruned = now;
    return witness_prune(record->witness, now - DAY, error);
}

/* The record goes on: nothing is lost, but somebody has been there. */
static gboolean
note_rewriting(Relay *relay, gint64 now, GError **error)
{
    guint times = db_rewritten(relay->db);

    if (times == relay->record->rewritten)
        return TRUE;
    log_error("exeat.db or a file beside it was removed while it was in use: it was written "
              "anew, with everything in it");
    relay->record->rewritten = times;
    return record_event(relay->db, "rewritten", NULL, now, error);
}

static gboolean
tick(gpointer data, GError **error)
{
    Look *look = data;
    gint64 now = relay_now(), at;

    return compare(look, now, error) && check_clock(look, now, error) &&
           prune(look->relay->record, error) && note_rewriting(look->relay, now, error) &&
           audit_head(look->relay->db, &look->head, &at, error);
}

void
record_tick(Relay *relay)
{
    Look look = {.relay = relay};
    const Record *record = relay->record;
    g_autoptr(GError) error = NULL;

    if (!writer_run(relay->writer, tick, &look, &error) ||
        (look.accept && !writer_run(relay->writer, accept_found, &look, &error))) {
        log_error("the audit record cannot be looked at: %s", error->message);
        return;
    }
    if (look.head.seq != record->anchored_seq &&
        g_get_monotonic_time() - record->anchored_us >= ANCHOR_SECONDS * G_TIME_SPAN_SECOND)
        anchor(relay, &look.head);
}

static gboolean
end(gpointer data, GError **error)
{
    Look *look = data;
    Relay *relay = look->relay;
    gint64 at;

    return record_event(relay->db, "stopped", NULL, relay_now(), error) &&
           audit_head(relay->db, &look->head, &at, error);
}

static gboolean
sync_witness(gpointer data, GError **error)
{
    return witness_sync(((Look *)data)->relay->record->witness, error);
}

void
record_end(Relay *relay)
{
    Look look = {.relay = relay};
    g_autoptr(GError) error = NULL;

    if (!writer_run(relay->writer, end, &look, &error) ||
        !writer_run(relay->writer, sync_witness, &look, &error)) {
        log_error("the end is not in the audit record: %s", error->message);
        return;
    }
    anchor(relay, &look.head);
}

gboolean
record_clock_stands(Relay *relay, gint64 now, GError **error)
{
    if (!went_back(relay, now))
        return TRUE;
    g_set_error(error, EXEAT_ERROR, ERROR_TEMP, "the clock went back");
    return FALSE;
}

gboolean
record_hand_over(Relay *relay, const Item *item, gint64 now, GError **error)
{
    return witness_hand_over(relay->record->witness, item->id, item->digest, item->expires,
                             now, error);
}

void
record_make_firm(Relay *relay)
{
    relay->record->firm = TRUE;
}

gint64
record_known(Relay *relay)
{
    return witness_head(relay->record->witness)->seq;
}
