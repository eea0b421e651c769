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

/* For the audit: what a client wrote may be no UTF-8, a GVariant must be. */
static GVariant *
text_variant(const char *text)
{
    return g_variant_new_take_string(g_utf8_make_valid(text != NULL ? text : "", -1));
}

static void
add_text(GVariantBuilder *builder, const char *name, const char *text)
{
    vardict_add(builder, name, text_variant(text));
}

static GVariant *
recipients_to_variant(GPtrArray *recipients)
{
    GVariantBuilder builder;

    g_variant_builder_init(&builder, G_VARIANT_TYPE("as"));
    for (guint i = 0; i < recipients->len; i++) {
        const ItemRecipient *recipient = recipients->pdata[i];

        g_variant_builder_add_value(&builder, text_variant(recipient->normal));
    }
    return g_variant_builder_end(&builder);
}

/* No text of the message (XE16). */
static GVariant *
describe_submission(const Item *item, const char *facts)
{
    GVariantBuilder builder;

    g_variant_builder_init(&builder, G_VARIANT_TYPE_VARDICT);
    add_text(&builder, "state", state_name(item->state));
    add_text(&builder, "tier", tier_name(item->tier));
    vardict_add(&builder, "approvals", g_variant_new_uint32(item->approvals));
    vardict_add(&builder, "line", g_variant_new_uint32(item->line));
    add_text(&builder, "file", item->file);
    add_text(&builder, "reason", item->reason);
    add_text(&builder, "policy", item->policy);
    add_text(&builder, "lines", item->lines);
    add_text(&builder, "facts", facts);
    vardict_add(&builder, "due", g_variant_new_int64(item->due));
    add_text(&builder, "digest", item->digest);
    add_text(&builder, "message-id", item->message_id);
    vardict_add(&builder, "size", g_variant_new_uint64(item->size));
    add_text(&builder, "sender", item->envelope->sender);
    vardict_add(&builder, "recipients", recipients_to_variant(item->recipients));
    vardict_add(&builder, "claims", claims_to_variant(item->claims));
    return g_variant_builder_end(&builder);
}

static gboolean
audit_submission(Db *db, const Item *item, const char *facts, gint64 now, GError **error)
{
    g_autofree char *who = *item->author != '\0'
                               ? g_strdup(item->author)
                               : g_strdup_printf("agent login %s", item->login);
    AuditEntry entry = {.kind = "submitted",
                        .account = item->account,
                        .item = item->id,
                        .who = who,
                        .details = describe_submission(item, facts)};

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
add_row(Db *db, const Item *item, const char *facts, GError **error)
{
    g_autoptr(GVariant) envelope = pack(envelope_to_variant(item->envelope));
    g_autoptr(GVariant) claims = pack(claims_to_variant(item->claims));
    gint64 seq = 0;

    if (!db_integer(db, &item_next, 0, &seq, error, ""))
        return FALSE;
    return db_run(db, &item_add, error, "sisssssisisissssiiiiiiisbbiss", item->id, seq,
                  item->account, item->login, item->key, item->digest, item->message_id,
                  item->conversation, state_name(item->state),
                  (gint64)state_is_waiting(item->state), tier_name(item->tier),
                  (gint64)item->line, item->reason, item->policy, item->why, item->answer,
                  (gint64)(item->automatic != FALSE), item->created, item->due, item->expires,
                  item->retry, (gint64)item->attempts, (gint64)item->size, facts,
                  g_variant_get_data(envelope), g_variant_get_size(envelope),
                  g_variant_get_data(claims), g_variant_get_size(claims),
                  (gint64)item->approvals, item->author, item->file) >= 0 &&
           add_extract(db, item, seq, error);
}

static gboolean
add_recipients(Db *db, const Item *item, GError **error)
{
    for (guint i = 0; i < item->recipients->len; i++) {
        const ItemRecipient *recipient = item->recipients->pdata[i];

        if (db_run(db, &recipient_add, error, "sisiiiiis", item->id, (gint64)i,
                   recipient->normal, (gint64)recipient->external, (gint64)recipient->known,
                   (gint64)recipient->mentioned, (gint64)recipient->outside, item->created,
                   item->account) < 0)
            return FALSE;
    }
    return TRUE;
}

static gboolean
change_tally(Db *db, const char *account, State state, gint64 by, GError **error)
{
    return db_run(db, &tally_change, error, "ssi", account, state_name(state), by) >= 0;
}

gboolean
queue_add(Db *db, const Item *item, int fd, gint64 now, GError **error)
{
    g_autofree char *facts = facts_format(&item->facts);

    if (!add_row(db, item, facts, error) || !add_recipients(db, item, error) ||
        !change_tally(db, item->account, item->state, 1, error))
        return FALSE;
    if (fd != -1 && state_is_waiting(item->state) &&
        (!piece_store(db, item->id, fd, item->size, error) ||
         !keep_begin(db, item->id, item->account, item->size, error)))
        return FALSE;
    return notice_submitted(db, item, now, error) &&
           audit_submission(db, item, facts, now, error);
}

/* The value packed in a blob; copied, because a row's bytes have no alignment. */
static GVariant *
unpack(Rows *rows, int column)
{
    gsize length = 0;
    gconstpointer bytes = rows_blob(rows, column, &length);
    g_autoptr(GBytes) copy = g_bytes_new(bytes, length);
    g_autoptr(GVariant) packed =
        g_variant_ref_sink(g_variant_new_from_bytes(G_VARIANT_TYPE_VARIANT, copy, FALSE));

    return g_variant_get_variant(packed);
}

static void
set_text(char **member, Rows *rows, int column)
{
    g_free(*member);
    *member = g_strdup(rows_text(rows, column));
}

/* The members that any value fits. Columns as in item_load. */
static void
read_plain(Item *item, Rows *rows)
{
    set_text(&item->id, rows, 0);
    set_text(&item->account, rows, 1);
    set_text(&item->login, rows, 2);
    set_text(&item->key, rows, 3);
    set_text(&item->digest, rows, 4);
    set_text(&item->message_id, rows, 5);
    item->conversation = rows_integer(rows, 6);
    item->line = rows_integer(rows, 9);
    set_text(&item->reason, rows, 10);
    set_text(&item->policy, rows, 11);
    set_text(&item->why, rows, 12);
    set_text(&item->answer, rows, 13);
    item->automatic = rows_integer(rows, 14) != 0;
    item->created = rows_integer(rows, 15);
    item->due = rows_integer(rows, 16);
    item->expires = rows_integer(rows, 17);
    item->retry = rows_integer(rows, 18);
    item->attempts = rows_integer(rows, 19);
    item->size = rows_integer(rows, 20);
    item->approvals = rows_integer(rows, 25);
    set_text(&item->author, rows, 26);
    set_text(&item->file, rows, 27);
}

/* The members that must be read back; what we cannot read was not written by us. */
static gboolean
read_formed(Item *item, Rows *rows, GError **error)
{
    g_autoptr(GVariant) envelope = unpack(rows, 22);
    g_autoptr(GVariant) extract = unpack(rows, 23);
    g_autoptr(GVariant) claims = unpack(rows, 24);

    g_clear_pointer(&item->envelope, envelope_free);
    g_clear_pointer(&item->extract, extract_free);
    item->envelope = envelope_from_variant(envelope, NULL);
    item->extract = extract_from_variant(extract, NULL);
    if (item->envelope == NULL || item->extract == NULL ||
        !claims_from_variant(claims, item->claims) ||
        !state_find(rows_text(rows, 7), &item->state) ||
        !tier_find(rows_text(rows, 8), &item->tier) ||
        !facts_parse(rows_text(rows, 21), &item->facts)) {
        g_set_error(error, EXEAT_ERROR, ERROR_INTEGRITY, "item %s: its record is damaged",
                    item->id);
        return FALSE;
    }
    return TRUE;
}

/* A column that holds nothing is no damage. */
static gboolean
read_replies(Item *item, Rows *rows, GError **error)
{
    gsize length;

    (void)rows_blob(rows, 28, &length);
    if (length == 0)
        return TRUE;
    item->replies = unpack(rows, 28);
    if (item->replies != NULL && g_variant_is_of_type(item->replies, G_VARIANT_TYPE("a(us)")))
        return TRUE;
    g_set_error(error, EXEAT_ERROR, ERROR_INTEGRITY, "item %s: its record is damaged",
                item->id);
    return FALSE;
}

static gboolean
load_recipients(Db *db, Item *item, GError **error)
{
    g_autoptr(Rows) rows = db_query(db, &recipient_load, error, "s", item->id);
    g_autoptr(GError) trouble = NULL;

    if (rows == NULL)
        return FALSE;
    while (rows_next(rows, &trouble)) {
        ItemRecipient *recipient = g_new0(ItemRecipient, 1);

        recipient->normal = g_strdup(rows_text(rows, 0));
        recipient->external = rows_integer(rows, 1) != 0;
        recipient->known = rows_integer(rows, 2) != 0;
        recipient->mentioned = rows_integer(rows, 3) != 0;
        recipient->outside = rows_integer(rows, 4) != 0;
        g_ptr_array_add(item->recipients, recipient);
    }
    if (trouble == NULL)
        return TRUE;
    g_propagate_error(error, g_steal_pointer(&trouble));
    return FALSE;
}

gboolean
queue_load(Db *db, const char *id, Item **item_out, GError **error)
{
    g_autoptr(Rows) rows = db_query(db, &item_load, error, "s", id);
    g_autoptr(Item) item = NULL;
    gboolean found = FALSE;

    if (rows == NULL || !rows_one(rows, &found, error))
        return FALSE;
    if (found) {
        item = item_new();
        read_plain(item, rows);
        if (!read_formed(item, rows, error) || !read_replies(item, rows, error) ||
            !load_recipients(db, item, error))
            return FALSE;
    }
    *item_out = g_steal_pointer(&item);
    return TRUE;
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

/* The swap itself; *account_out NULL when the item is not in that state. */
static gboolean
swap_state(Db *db, const char *id, State from, State to, const char *why, char **account_out,
           GError **error)
{
    g_autoptr(Rows) rows = db_query(db, &item_move, error, "sssis", id, state_name(from),
                                    state_name(to), (gint64)state_is_waiting(to), why);
    gboolean found = FALSE;

    if (rows == NULL || !rows_one(rows, &found, error))
        return FALSE;
    *account_out = found ? g_strdup(rows_text(rows, 0)) : NULL;
    return TRUE;
}

static gboolean
audit_move(Db *db, const char *account, const char *id, State from, State to, const char *who,
           const char *why, gint64 now, GError **error)
{
    AuditEntry entry = {.kind = "moved", .account = account, .item = id, .who = who};
    GVariantBuilder builder;

    g_variant_builder_init(&builder, G_VARIANT_TYPE_VARDICT);
    add_text(&builder, "from", state_name(from));
    add_text(&builder, "to", state_name(to));
    add_text(&builder, "why", why);
    entry.details = g_variant_builder_end(&builder);
    return audit_append(db, &entry, now, error);
}

gboolean
queue_move(Db *db, const char *id, State from, State to, const char *who, const char *why,
           gint64 now, Move *move_out, GError **error)
{
    g_autofree char *account = NULL;

    g_assert(state_may_become(from, to));
    if (!swap_state(db, id, from, to, why, &account, error))
        return FALSE;
    if (account == NULL) {
        *move_out = MOVE_REFUSED;
        return TRUE;
    }
    if (!change_tally(db, account, from, -1, error) ||
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

GVariant *
queue_moves(Db *db, const char *id, GError **error)
{
    g_autoptr(Rows) rows = db_query(db, &move_load, error, "s", id);
    g_autoptr(GError) trouble = NULL;
    g_auto(GVariantBuilder) moves = G_VARIANT_BUILDER_INIT(G_VARIANT_TYPE("aa{sv}"));

    if (rows == NULL)
        return NULL;
    while (rows_next(rows, &trouble)) {
        g_variant_builder_open(&moves, G_VARIANT_TYPE_VARDICT);
        g_variant_builder_add(&moves, "{sv}", "when",
                              g_variant_new_int64(rows_integer(rows, 0)));
        add_text(&moves, "from", rows_text(rows, 1));
        add_text(&moves, "to", rows_text(rows, 2));
        add_text(&moves, "who", rows_text(rows, 3));
        add_text(&moves, "why", rows_text(rows, 4));
        g_variant_builder_close(&moves);
    }
    if (trouble != NULL) {
        g_propagate_error(error, g_steal_pointer(&trouble));
        return NULL;
    }
    return g_variant_builder_end(&moves);
}
