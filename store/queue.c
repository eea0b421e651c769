#include "store/queue.h"

#include <string.h>

#include "lib/claims.h"
#include "lib/error.h"
#include "lib/vardict.h"
#include "store/audit.h"
#include "store/keep.h"
#include "store/notice.h"
#include "store/piece.h"
#include "store/queue-sql.h"
#include "store/sent.h"

static GVariant *
recipients_to_variant(GPtrArray *recipients)
{
    GVariantBuilder builder;

    g_variant_builder_init(&builder, G_VARIANT_TYPE("as"));
    for (guint i = 0; i < recipients->len; i++) {
        const ItemRecipient *recipient = recipients->pdata[i];

        g_variant_builder_add_value(
            &builder, g_variant_new_take_string(g_utf8_make_valid(recipient->normal, -1)));
    }
    return g_variant_builder_end(&builder);
}

/* No text of the message (XE16). The caller frees. */
static char *
describe_submission(const Item *item, const char *facts)
{
    GString *print = g_string_new(NULL);

    vardict_print_text(print, "state", state_name(item->state));
    vardict_print_text(print, "tier", tier_name(item->tier));
    vardict_print_value(print, "approvals", g_variant_new_uint32(item->approvals));
    vardict_print_value(print, "line", g_variant_new_uint32(item->line));
    vardict_print_text(print, "file", item->file);
    vardict_print_text(print, "reason", item->reason);
    vardict_print_text(print, "policy", item->policy);
    vardict_print_text(print, "lines", item->lines);
    vardict_print_text(print, "facts", facts);
    vardict_print_value(print, "due", g_variant_new_int64(item->due));
    vardict_print_text(print, "digest", item->digest);
    vardict_print_text(print, "message-id", item->message_id);
    vardict_print_value(print, "size", g_variant_new_uint64(item->size));
    vardict_print_text(print, "sender", item->envelope->sender);
    vardict_print_value(print, "recipients", recipients_to_variant(item->recipients));
    vardict_print_value(print, "claims", claims_to_variant(item->claims));
    return vardict_print_end(print);
}

static gboolean
audit_submission(Db *db, const Item *item, const char *facts, gint64 now, GError **error)
{
    g_autofree char *who = *item->author != '\0'
                               ? g_strdup(item->author)
                               : g_strdup_printf("agent login %s", item->login);
    g_autofree char *details = describe_submission(item, facts);
    AuditEntry entry = {.kind = "submitted",
                        .account = item->account,
                        .item = item->id,
                        .who = who,
                        .printed = details};

    return audit_append(db, &entry, now, error);
}

/* A value beside its type, so that a blob tells what it is. Takes a floating value. */
static GVariant *
pack(GVariant *value)
{
    return g_variant_ref_sink(g_variant_new_variant(value));
}

static gboolean
add_extract(Db *db, const Item *item, gint64 seq, GError **error)
{
    g_autoptr(GVariant) extract = pack(extract_to_variant(item->extract));

    return db_run(db, &extract_add, error, "ib", seq, g_variant_get_data(extract),
                  g_variant_get_size(extract)) >= 0;
}

static gboolean
add_row(Db *db, const Item *item, const char *facts, guint64 kept, GError **error)
{
    g_autoptr(GVariant) envelope = pack(envelope_to_variant(item->envelope));
    g_autoptr(GVariant) claims = pack(claims_to_variant(item->claims));
    gint64 seq = 0;

    if (!db_integer(db, &item_next, 0, &seq, error, ""))
        return FALSE;
    return db_run(db, &item_add, error, "sisssssisisissssiiiiiiisbbissi", item->id, seq,
                  item->account, item->login, item->key, item->digest, item->message_id,
                  item->conversation, state_name(item->state),
                  (gint64)state_is_waiting(item->state), tier_name(item->tier),
                  (gint64)item->line, item->reason, item->policy, item->why, item->answer,
                  (gint64)(item->automatic != FALSE), item->created, item->due, item->expires,
                  item->retry, (gint64)item->attempts, (gint64)item->size, facts,
                  g_variant_get_data(envelope), g_variant_get_size(envelope),
                  g_variant_get_data(claims), g_variant_get_size(claims),
                  (gint64)item->approvals, item->author, item->file, (gint64)kept) >= 0 &&
           add_extract(db, item, seq, error);
}

static gboolean
add_recipients(Db *db, const Item *item, GError **error)
{
    for (guint i = 0; i < item->recipients->len; i++) {
        const ItemRecipient *recipient = item->recipients->pdata[i];

        if (db_run(db, &recipient_add, error, "sisiiii", item->id, (gint64)i,
                   recipient->normal, (gint64)recipient->external, (gint64)recipient->known,
                   (gint64)recipient->mentioned, (gint64)recipient->outside) < 0)
            return FALSE;
    }
    return TRUE;
}

static gboolean
change_tally(Db *db, const char *account, State state, gint64 by, GError **error)
{
    return db_run(db, &tally_change, error, "ssi", account, state_name(state), by) >= 0;
}

/* Whether an automatic item in that state left, or still will. The same states stand in
 * queue.sql. */
static gboolean
leaves(State state)
{
    return state == STATE_RELEASED || state == STATE_DELAYED || state == STATE_SENDING ||
           state == STATE_COMMITTING || state == STATE_UNCERTAIN || state == STATE_SENT;
}

static gboolean
count_item(Db *db, const Item *item, GError **error)
{
    if (!item->automatic || !leaves(item->state))
        return TRUE;
    for (guint i = 0; i < item->recipients->len; i++) {
        const ItemRecipient *recipient = item->recipients->pdata[i];

        if (!sent_change_to(db, item->account, recipient->normal, item->created, 1, error))
            return FALSE;
    }
    return sent_change(db, item->account, item->created, 1, error);
}

/* Counts what is kept of it, until it goes. */
static gboolean
keep(Db *db, const Item *item, guint64 size, gint64 now, GError **error)
{
    return size == 0 ||
           (keep_begin(db, item->account, size, error) &&
            (state_is_waiting(item->state) || keep_finish(db, item->id, now, error)));
}

gboolean
queue_add(Db *db, const Item *item, int fd, gint64 now, GError **error)
{
    gboolean whole = fd != -1 && state_is_waiting(item->state);
    guint64 kept = (whole ? item->size : 0) + extract_texts_size(item->extract);
    g_autofree char *facts = facts_format(&item->facts);

    if (!add_row(db, item, facts, kept, error) || !add_recipients(db, item, error) ||
        !change_tally(db, item->account, item->state, 1, error) ||
        !count_item(db, item, error))
        return FALSE;
    if ((whole && !piece_store(db, item->id, fd, item->size, error)) ||
        !keep(db, item, kept, now, error))
        return FALSE;
    return notice_submitted(db, item, now, error) &&
           audit_submission(db, item, facts, now, error);
}

gboolean
queue_drop_texts(Db *db, const char *id, GError **error)
{
    g_autoptr(Item) item = NULL;

    if (!queue_load(db, id, &item, error))
        return FALSE;
    if (item == NULL)
        return TRUE;
    extract_drop_texts(item->extract);
    g_autoptr(GVariant) extract = pack(extract_to_variant(item->extract));
    return db_run(db, &extract_set, error, "sb", id, g_variant_get_data(extract),
                  g_variant_get_size(extract)) >= 0;
}

/* What a move needs of an item. */
typedef struct {
    char *account; /* NULL when the item is not in the state from which it is to move */
    gint64 created;
    gboolean automatic;
} Standing;

static gboolean
find_standing(Db *db, const char *id, State from, Standing *standing_out, GError **error)
{
    g_autoptr(Rows) rows = db_query(db, &item_standing, error, "ss", id, state_name(from));
    gboolean found = FALSE;

    if (!rows_one(rows, &found, error))
        return FALSE;
    *standing_out = (Standing){0};
    if (found)
        *standing_out = (Standing){g_strdup(rows_text(rows, 0)), rows_integer(rows, 1),
                                   rows_integer(rows, 2) != 0};
    return TRUE;
}

/* Begins or ceases to count an item that is stored. */
static gboolean
recount(Db *db, const char *id, const Standing *standing, gint by, GError **error)
{
    g_autoptr(Rows) rows = db_query(db, &recipient_load, error, "s", id);

    while (rows_next(rows))
        if (!sent_change_to(db, standing->account, rows_text(rows, 0), standing->created, by,
                            error))
            return FALSE;
    return rows_end(rows, error) &&
           sent_change(db, standing->account, standing->created, by, error);
}

/* The swap itself. What a person approved is no longer automatic. */
static gboolean
swap_state(Db *db, const char *id, State from, State to, const char *why,
           const Standing *standing, GError **error)
{
    gboolean automatic = standing->automatic && to != STATE_APPROVED;
    gboolean counted = standing->automatic && leaves(from);
    gboolean counts = automatic && leaves(to);

    return db_run(db, &item_move, error, "sssisi", id, state_name(from), state_name(to),
                  (gint64)state_is_waiting(to), why, (gint64)automatic) >= 0 &&
           (counted == counts || recount(db, id, standing, counts ? 1 : -1, error));
}

static gboolean
audit_move(Db *db, const char *account, const char *id, State from, State to, const char *who,
           const char *why, gint64 now, GError **error)
{
    GString *print = g_string_new(NULL);

    vardict_print_text(print, "from", state_name(from));
    vardict_print_text(print, "to", state_name(to));
    vardict_print_text(print, "why", why);
    g_autofree char *details = vardict_print_end(print);
    AuditEntry entry = {
        .kind = "moved", .account = account, .item = id, .who = who, .printed = details};
    return audit_append(db, &entry, now, error);
}

gboolean
queue_move(Db *db, const char *id, State from, State to, const char *who, const char *why,
           gint64 now, Move *move_out, GError **error)
{
    g_autofree char *account = NULL;
    Standing standing;

    g_assert(state_may_become(from, to));
    if (!find_standing(db, id, from, &standing, error))
        return FALSE;
    account = standing.account;
    if (account == NULL) {
        *move_out = MOVE_REFUSED;
        return TRUE;
    }
    if (!swap_state(db, id, from, to, why, &standing, error) ||
        !change_tally(db, account, from, -1, error) ||
        !change_tally(db, account, to, 1, error) ||
        (!state_is_waiting(to) && !keep_finish(db, id, now, error)) ||
        db_run(db, &move_add, error, "sissss", id, now, state_name(from), state_name(to), who,
               why) < 0 ||
        !notice_moved(db, account, id, to, now, error) ||
        !audit_move(db, account, id, from, to, who, why, now, error))
        return FALSE;
    *move_out = MOVE_DONE;
    return TRUE;
}

gboolean
queue_record_attempt(Db *db, const char *id, const char *answer, gint64 retry, GError **error)
{
    return db_run(db, &item_attempt, error, "ssi", id, answer, retry) >= 0;
}

gboolean
queue_set_replies(Db *db, const char *id, GVariant *replies, GError **error)
{
    g_autoptr(GVariant) packed = pack(replies);

    return db_run(db, &item_set_replies, error, "sb", id, g_variant_get_data(packed),
                  g_variant_get_size(packed)) >= 0;
}

gboolean
queue_copy_bytes(Db *db, const char *id, int fd, GError **error)
{
    gint64 size = 0;

    if (!db_integer(db, &item_size, -1, &size, error, "s", id))
        return FALSE;
    if (size < 0) {
        g_set_error(error, EXEAT_ERROR, ERROR_INTEGRITY, "item %s: no such item", id);
        return FALSE;
    }
    return piece_copy(db, id, fd, size, error);
}

/* What a client wrote may be no UTF-8, a GVariant must be. */
static void
add_text(GVariantBuilder *builder, const char *key, const char *text)
{
    vardict_add(builder, key,
                g_variant_new_take_string(g_utf8_make_valid(text != NULL ? text : "", -1)));
}

GVariant *
queue_moves(Db *db, const char *id, GError **error)
{
    g_autoptr(Rows) rows = db_query(db, &move_load, error, "s", id);
    g_auto(GVariantBuilder) moves = G_VARIANT_BUILDER_INIT(G_VARIANT_TYPE("aa{sv}"));

    while (rows_next(rows)) {
        g_variant_builder_open(&moves, G_VARIANT_TYPE_VARDICT);
        vardict_add(&moves, "when", g_variant_new_int64(rows_integer(rows, 0)));
        add_text(&moves, "from", rows_text(rows, 1));
        add_text(&moves, "to", rows_text(rows, 2));
        add_text(&moves, "who", rows_text(rows, 3));
        add_text(&moves, "why", rows_text(rows, 4));
        g_variant_builder_close(&moves);
    }
    if (!rows_end(rows, error))
        return NULL;
    return g_variant_builder_end(&moves);
}
