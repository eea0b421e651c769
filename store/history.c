#include "store/history.h"

#include <string.h>

#include "lib/address.h"
#include "lib/lookalike.h"
#include "store/history-sql.h"

/* A stranger decides how many addresses a message names. */
#define MENTIONS_MAX 1000
#define LISTS_MAX    20

static const char *const kind_names[] = {
    [OBSERVED_RECEIVED] = "received", [OBSERVED_AGENT] = "agent", [OBSERVED_HUMAN] = "human"};

/* The message that holds an id. */
typedef struct {
    gint64 conversation; /* 0: the id was never seen */
    gboolean automatic;
    gboolean human;
    gboolean named; /* by the human only; its message is not seen yet */
} Holder;

/* Where an observation belongs. */
typedef struct {
    gint64 conversation; /* 0: nothing will ever lead to it */
    gboolean repeated;   /* the human's, and seen before */
} Place;

static gboolean
is_usable(const char *id)
{
    return id != NULL && id[0] != '\0' && strlen(id) <= HISTORY_ID_BYTES_MAX;
}

static gboolean
find_holder(Db *db, const char *account, const char *id, Holder *holder_out, GError **error)
{
    g_autoptr(Rows) rows = db_query(db, &message_find, error, "ss", account, id);
    gboolean found = FALSE;

    if (rows == NULL || !rows_one(rows, &found, error))
        return FALSE;
    const char *kind = found ? rows_text(rows, 1) : NULL;
    holder_out->conversation = found ? rows_integer(rows, 0) : 0;
    holder_out->automatic = found && rows_integer(rows, 2) != 0;
    holder_out->human = g_strcmp0(kind, kind_names[OBSERVED_HUMAN]) == 0;
    holder_out->named = g_strcmp0(kind, "named") == 0;
    return TRUE;
}

/* The one conversation the ids lead to; 0 when they lead to none or to several (case T7). */
static gboolean
follow_ids(Db *db, const char *account, const char *const *ids, gint64 *conversation_out,
           GError **error)
{
    gint64 conversation = 0;

    for (guint i = 0; ids != NULL && ids[i] != NULL && i < HISTORY_PARENTS_MAX; i++) {
        Holder holder = {0};

        if (!is_usable(ids[i]))
            continue;
        if (!find_holder(db, account, ids[i], &holder, error))
            return FALSE;
        if (holder.conversation == 0 || holder.conversation == conversation)
            continue;
        if (conversation != 0) {
            conversation = 0;
            break;
        }
        conversation = holder.conversation;
    }
    *conversation_out = conversation;
    return TRUE;
}

/* Holds the ids that the human names for the messages that have them (XE17). */
static gboolean
name_parents(Db *db, const Observation *observed, gint64 conversation, gint64 now,
             GError **error)
{
    const char *const *ids = observed->parents;

    for (guint i = 0; ids != NULL && ids[i] != NULL && i < HISTORY_PARENTS_MAX; i++) {
        if (is_usable(ids[i]) && db_run(db, &message_name, error, "ssii", observed->account,
                                        ids[i], conversation, now) < 0)
            return FALSE;
    }
    return TRUE;
}

/* Finds the conversation of the observed message by what it names, and by the human's message
 * that named it, and files its id there. */
static gboolean
file_message(Db *db, const Observation *observed, const Holder *holder, gint64 now,
             gint64 *conversation_out, GError **error)
{
    const char *account = observed->account;
    gint64 automatic = observed->automatic;

    if (!follow_ids(db, account, observed->parents, conversation_out, error))
        return FALSE;
    if (holder->named && *conversation_out == 0)
        *conversation_out = holder->conversation;
    if (!is_usable(observed->message_id))
        return TRUE;
    if (*conversation_out == 0 && !db_next_number(db, "conversation", conversation_out, error))
        return FALSE;
    return db_run(db, &message_put, error, "ssisii", account, observed->message_id,
                  *conversation_out, kind_names[observed->kind], now, automatic) >= 0;
}

/* The first message with an id keeps it, except that the human's takes it over from any other:
 * an outsider who guesses an id must not lead the human's own message into his conversation
 * (XB4). */
static gboolean
place_message(Db *db, const Observation *observed, gint64 now, Place *place_out,
              GError **error)
{
    gboolean human = observed->kind == OBSERVED_HUMAN;
    Holder holder = {0};

    if (is_usable(observed->message_id) &&
        !find_holder(db, observed->account, observed->message_id, &holder, error))
        return FALSE;
    if (holder.conversation != 0 && (holder.human || !human)) {
        place_out->conversation = holder.conversation;
        place_out->repeated = human;
        return holder.human || !observed->automatic ||
               db_run(db, &message_mark_automatic, error, "ss", observed->account,
                      observed->message_id) >= 0;
    }
    place_out->repeated = FALSE;
    return file_message(db, observed, &holder, now, &place_out->conversation, error);
}

/* Counts a correspondent more or less of a domain, and keeps the keys of one that has any. */
static gboolean
count_domain(Db *db, const char *account, const char *address, gint64 more, GError **error)
{
    const char *name = address_domain(address);
    g_autoptr(GPtrArray) keys = NULL;
    gint64 correspondents = 0;

    if (!db_integer(db, &domain_count, 0, &correspondents, error, "ssi", account, name, more))
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

/* Sees to it that there is a row for the address. *times_out: how often it was written to; -1:
 * the row is new. */
static gboolean
meet(Db *db, const char *account, const char *address, gint64 *times_out, GError **error)
{
    if (!db_integer(db, &correspondent_find, -1, times_out, error, "ss", account, address))
        return FALSE;
    if (*times_out >= 0)
        return TRUE;
    g_autofree char *skeleton = lookalike_address(address);
    return db_run(db, &correspondent_add, error, "sss", account, address, skeleton) >= 0 &&
           count_domain(db, account, address, 1, error);
}

/* A message seen before counts once (XE17); it may still bring recipients of another envelope.
 */
static gboolean
learn_recipient(Db *db, const Observation *observed, const Place *place, const char *address,
                gint64 event, gint64 now, GError **error)
{
    const char *account = observed->account;
    const char *id = is_usable(observed->message_id) ? observed->message_id : "";
    gint64 times = 0;

    if (!meet(db, account, address, &times, error))
        return FALSE;
    if (times <= 0 && observed->tally != NULL)
        observed->tally->correspondents++;
    if ((times <= 0 || !place->repeated) &&
        db_run(db, &correspondent_write, error, "ssii", account, address, now, event) < 0)
        return FALSE;
    return place->conversation == 0 || db_run(db, &participant_write, error, "sissi", account,
                                              place->conversation, address, id, now) >= 0;
}

static gboolean
make_mine(Db *db, const Observation *observed, gint64 conversation, GError **error)
{
    gint64 made =
        db_run(db, &conversation_make_mine, error, "si", observed->account, conversation);

    if (made > 0 && observed->tally != NULL)
        observed->tally->conversations++;
    return made >= 0;
}

/* The human wrote to these: now they are known, and take part. */
static gboolean
learn_recipients(Db *db, const Observation *observed, const Place *place, gint64 event,
                 gint64 now, GError **error)
{
    const char *const *recipients = observed->recipients;

    for (guint i = 0; recipients != NULL && recipients[i] != NULL; i++) {
        if (!learn_recipient(db, observed, place, recipients[i], event, now, error))
            return FALSE;
    }
    return place->conversation == 0 ||
           (name_parents(db, observed, place->conversation, now, error) &&
            make_mine(db, observed, place->conversation, error));
}

static gboolean
learn_mention(Db *db, const Observation *observed, const char *address, gint64 event,
              gint64 now, GError **error)
{
    const char *account = observed->account;
    const char *id = is_usable(observed->message_id) ? observed->message_id : "";
    const char *sender = observed->sender != NULL ? observed->sender : "";
    gint64 changed =
        db_run(db, &mention_put, error, "ssissi", account, address, event, id, sender, now);

    if (changed == 0) /* a later text is known already */
        changed =
            db_run(db, &mention_put_first, error, "ssssi", account, address, id, sender, now);
    return changed >= 0;
}

/* A message's own From, To and Cc do not count: a signature is no advice (case A18). */
static gboolean
learn_mentions(Db *db, const Observation *observed, gint64 event, gint64 now, GError **error)
{
    g_autoptr(GHashTable) own = g_hash_table_new(g_str_hash, g_str_equal);
    const char *const *addresses = observed->mentioned;

    for (guint i = 0; observed->correspondents != NULL && observed->correspondents[i] != NULL;
         i++)
        g_hash_table_add(own, (gpointer)observed->correspondents[i]);
    for (guint i = 0; addresses != NULL && addresses[i] != NULL && i < MENTIONS_MAX; i++) {
        if (!g_hash_table_contains(own, addresses[i]) &&
            !learn_mention(db, observed, addresses[i], event, now, error))
            return FALSE;
    }
    return TRUE;
}

static gboolean
learn_lists(Db *db, const Observation *observed, gint64 now, GError **error)
{
    const char *const *lists = observed->lists;

    for (guint i = 0; lists != NULL && lists[i] != NULL && i < LISTS_MAX; i++) {
        if (db_run(db, &list_put, error, "ssi", observed->account, lists[i], now) < 0)
            return FALSE;
    }
    return TRUE;
}

gboolean
history_observe(Db *db, const Observation *observation, gint64 now, GError **error)
{
    Place place = {0};
    gint64 event = 0;

    if (!db_next_number(db, "event", &event, error) ||
        !place_message(db, observation, now, &place, error))
        return FALSE;
    switch (observation->kind) {
    case OBSERVED_RECEIVED:
        return learn_mentions(db, observation, event, now, error) &&
               learn_lists(db, observation, now, error);
    case OBSERVED_AGENT:
        return TRUE;
    case OBSERVED_HUMAN:
        return learn_recipients(db, observation, &place, event, now, error);
    }
    g_assert_not_reached();
}

/* By the clock, since older mail may be imported later; by the event within one second. */
static gboolean
is_mentioned(Rows *rows, gint64 settled)
{
    gint64 seen = rows_integer(rows, 6);

    return seen > settled ||
           (seen == settled && rows_integer(rows, 5) > rows_integer(rows, 3));
}

gboolean
history_look_up(Db *db, const char *account, const char *address, HistoryAddress *found_out,
                GError **error)
{
    g_autoptr(Rows) rows = db_query(db, &address_look_up, error, "ss", account, address);
    gboolean found = FALSE;

    if (rows == NULL || !rows_one(rows, &found, error))
        return FALSE;
    g_assert(found);
    gint64 times = rows_integer(rows, 0), last = rows_integer(rows, 2);
    gint64 vouched = rows_integer(rows, 4);
    *found_out = (HistoryAddress){.known = times > 0 || vouched > 0,
                                  .mentioned = is_mentioned(rows, MAX(last, vouched)),
                                  .list = rows_text(rows, 7) != NULL,
                                  .first = rows_integer(rows, 1),
                                  .last = last,
                                  .times = times,
                                  .vouched = vouched};
    return TRUE;
}

gboolean
history_conversation(Db *db, const char *account, const char *const *parents,
                     gint64 *conversation_out, GError **error)
{
    gint64 conversation = 0;
    gint64 mine = 0;

    if (!follow_ids(db, account, parents, &conversation, error) ||
        !db_integer(db, &conversation_is_mine, 0, &mine, error, "si", account, conversation))
        return FALSE;
    *conversation_out = mine != 0 ? conversation : 0;
    return TRUE;
}

gboolean
history_trace(Db *db, const char *account, const char *id, gint64 *conversation_out,
              gboolean *automatic_out, GError **error)
{
    Holder holder = {0};

    if (is_usable(id) && !find_holder(db, account, id, &holder, error))
        return FALSE;
    *conversation_out = holder.conversation;
    *automatic_out = holder.automatic;
    return TRUE;
}

gboolean
history_takes_part(Db *db, const char *account, gint64 conversation, const char *address,
                   gint64 *written_out, GError **error)
{
    return db_integer(db, &participant_find, HISTORY_NEVER, written_out, error, "sis", account,
                      conversation, address);
}

gboolean
history_vouch(Db *db, const char *account, const char *address, const char *who, gint64 now,
              GError **error)
{
    gint64 event = 0, times = 0;

    return db_next_number(db, "event", &event, error) &&
           meet(db, account, address, &times, error) &&
           db_run(db, &correspondent_vouch, error, "ssisi", account, address, now, who,
                  event) >= 0;
}

gboolean
history_forget(Db *db, const char *account, const char *address, gboolean *known_out,
               GError **error)
{
    gint64 known = db_run(db, &correspondent_remove, error, "ss", account, address);

    if (known < 0 || (known > 0 && !count_domain(db, account, address, -1, error)))
        return FALSE;
    gint64 mentioned = db_run(db, &mention_remove, error, "ss", account, address);
    if (mentioned < 0)
        return FALSE;
    *known_out = known > 0 || mentioned > 0;
    return TRUE;
}
