#include "store/history-private.h"

#include <string.h>

#include "store/history-sql.h"

/* A stranger decides how many addresses a message names. Of those beyond, correspondents are
 * noted all the same: the others are strangers already. */
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
    gboolean begun;      /* the conversation, by this message */
    gboolean parents_seen;
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

    if (!rows_one(rows, &found, error))
        return FALSE;
    const char *kind = found ? rows_text(rows, 1) : NULL;
    holder_out->conversation = found ? rows_integer(rows, 0) : 0;
    holder_out->automatic = found && rows_integer(rows, 2) != 0;
    holder_out->human = g_strcmp0(kind, kind_names[OBSERVED_HUMAN]) == 0;
    holder_out->named = g_strcmp0(kind, "named") == 0;
    return TRUE;
}

/* Where ids lead. */
typedef struct {
    gint64 conversation; /* the one; 0 when they lead to none or to several (case T7) */
    gboolean automatic;  /* a machine wrote the message of any of them */
    gboolean unseen;     /* one of them at least has no row */
} Trail;

static gboolean
follow_ids(Db *db, const char *account, const char *const *ids, guint most, Trail *trail_out,
           GError **error)
{
    Trail trail = {0};
    gboolean several = FALSE;

    for (guint i = 0; ids != NULL && ids[i] != NULL && i < most; i++) {
        Holder holder = {0};

        if (!is_usable(ids[i]))
            continue;
        if (!find_holder(db, account, ids[i], &holder, error))
            return FALSE;
        trail.automatic |= holder.automatic;
        trail.unseen |= holder.conversation == 0;
        if (holder.conversation == 0)
            continue;
        several |= trail.conversation != 0 && trail.conversation != holder.conversation;
        trail.conversation = holder.conversation;
    }
    if (several)
        trail.conversation = 0;
    *trail_out = trail;
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
             Place *place, GError **error)
{
    const char *account = observed->account;
    NumberStock *stock = observed->numbers != NULL ? &observed->numbers->conversations : NULL;
    gint64 automatic = observed->automatic;
    Trail trail;

    if (!follow_ids(db, account, observed->parents, HISTORY_PARENTS_MAX, &trail, error))
        return FALSE;
    place->parents_seen = !trail.unseen;
    place->conversation = trail.conversation;
    if (holder->named && place->conversation == 0)
        place->conversation = holder->conversation;
    if (!is_usable(observed->message_id))
        return TRUE;
    place->begun = place->conversation == 0;
    if (place->begun &&
        !db_stock_number(db, "conversation", stock, &place->conversation, error))
        return FALSE;
    return db_run(db, &message_put, error, "ssisii", account, observed->message_id,
                  place->conversation, kind_names[observed->kind], now, automatic) >= 0;
}

/* *place: zeroed. The first message with an id keeps it, except that the human's takes it over
 * from any other: an outsider who guesses an id must not lead the human's own message into his
 * conversation (XB4). */
static gboolean
place_message(Db *db, const Observation *observed, gint64 now, Place *place, GError **error)
{
    gboolean human = observed->kind == OBSERVED_HUMAN;
    Holder holder = {0};

    if (is_usable(observed->message_id) &&
        !find_holder(db, observed->account, observed->message_id, &holder, error))
        return FALSE;
    if (holder.conversation != 0 && (holder.human || !human)) {
        place->conversation = holder.conversation;
        place->repeated = human;
        return holder.human || !observed->automatic ||
               db_run(db, &message_mark_automatic, error, "ss", observed->account,
                      observed->message_id) >= 0;
    }
    return file_message(db, observed, &holder, now, place, error);
}

/* The row of a participant. */
typedef struct {
    gint64 written;
    guint8 seal[SEAL_BYTES];
    gboolean sealed;
} Joined;

static gboolean
find_joined(Db *db, const char *account, gint64 conversation, const char *address,
            Joined *joined_out, GError **error)
{
    g_autoptr(Rows) rows =
        db_query(db, &participant_find, error, "sis", account, conversation, address);
    gboolean found = FALSE;

    if (!rows_one(rows, &found, error))
        return FALSE;
    *joined_out = (Joined){0};
    if (!found)
        return TRUE;
    joined_out->sealed = joined_read(db, account, conversation, address, rows, 0,
                                     joined_out->seal, &joined_out->written);
    return TRUE;
}

/* A letter to somebody who takes part already. Imported mail comes in any order. */
static gboolean
write_participant(Db *db, const char *account, const char *address, const Participant *letter,
                  const guint8 seal[SEAL_BYTES], Warrant *warrant, GError **error)
{
    Joined joined = {0};

    if (!find_joined(db, account, letter->conversation, address, &joined, error))
        return FALSE;
    if (joined.sealed && joined.written >= letter->written)
        return TRUE;
    if (joined.sealed)
        warrant_take(warrant, joined.seal);
    warrant_add(warrant, seal);
    return db_run(db, &participant_write, error, "sissib", account, letter->conversation,
                  address, letter->message, letter->written, seal, (gsize)SEAL_BYTES) >= 0;
}

static gboolean
join(Db *db, const Observation *observed, gint64 conversation, const char *address,
     Warrant *warrant, gint64 now, GError **error)
{
    const char *account = observed->account;
    const char *id = is_usable(observed->message_id) ? observed->message_id : "";
    const Participant letter = {conversation, id, now};
    guint8 seal[SEAL_BYTES];

    warrant_seal_participant(db, account, address, &letter, seal);
    gint64 added = db_run(db, &participant_add, error, "sissib", account, conversation,
                          address, id, now, seal, (gsize)SEAL_BYTES);
    if (added > 0)
        warrant_add(warrant, seal);
    return added > 0 || (added == 0 && write_participant(db, account, address, &letter, seal,
                                                         warrant, error));
}

/* A message seen before counts once (XE17); it may still bring recipients of another envelope.
 */
static gboolean
learn_recipient(Db *db, const Observation *observed, const Place *place, const char *address,
                gint64 event, Warrant *warrant, gint64 now, GError **error)
{
    g_auto(KnownEntry) entry = {0};

    if (!known_find(db, observed->account, address, &entry, error))
        return FALSE;
    gboolean is_new = entry.row.times == 0;
    if (is_new && observed->tally != NULL)
        observed->tally->correspondents++;
    if (is_new || !place->repeated) {
        known_count_letter(&entry.row, event, now);
        if (!known_write(db, observed->account, address, &entry, warrant, error))
            return FALSE;
    }
    return place->conversation == 0 ||
           join(db, observed, place->conversation, address, warrant, now, error);
}

/* The human wrote in a conversation if anybody takes part in it. */
static gboolean
is_mine(Db *db, const char *account, gint64 conversation, gboolean *mine_out, GError **error)
{
    g_autoptr(Rows) rows =
        db_query(db, &conversation_is_mine, error, "si", account, conversation);
    gboolean mine = FALSE;
    guint8 seal[SEAL_BYTES];
    gint64 written;

    while (!mine && rows_next(rows))
        mine = joined_read(db, account, conversation, rows_text(rows, 0), rows, 1, seal,
                           &written);
    if (!rows_end(rows, error))
        return FALSE;
    *mine_out = mine;
    return TRUE;
}

static gboolean
tally_conversation(Db *db, const Observation *observed, const Place *place, GError **error)
{
    gboolean mine = FALSE;

    if (observed->tally == NULL || place->conversation == 0)
        return TRUE;
    if (!place->begun && !is_mine(db, observed->account, place->conversation, &mine, error))
        return FALSE;
    observed->tally->conversations += !mine;
    return TRUE;
}

static gboolean
next_event(Db *db, const Observation *observed, gint64 *event_out, GError **error)
{
    NumberStock *stock = observed->numbers != NULL ? &observed->numbers->events : NULL;

    return db_stock_number(db, "event", stock, event_out, error);
}

/* The human wrote to these: now they are known, and take part, and the conversation is his. */
static gboolean
learn_recipients(Db *db, const Observation *observed, const Place *place, gint64 event,
                 Warrant *warrant, gint64 now, GError **error)
{
    const char *const *recipients = observed->recipients;

    if (!tally_conversation(db, observed, place, error))
        return FALSE;
    for (guint i = 0; recipients != NULL && recipients[i] != NULL; i++) {
        if (!learn_recipient(db, observed, place, recipients[i], event, warrant, now, error))
            return FALSE;
    }
    return place->conversation == 0 || place->parents_seen ||
           name_parents(db, observed, place->conversation, now, error);
}

/* Recorded here, unless the caller does so for many. */
static gboolean
learn_from_human(Db *db, const Observation *observed, const Place *place, gint64 now,
                 GError **error)
{
    gint64 event = 0;
    Warrant own = {0};
    Warrant *warrant = observed->warrant != NULL ? observed->warrant : &own;
    const char *who = observed->who != NULL ? observed->who : "relay";

    return next_event(db, observed, &event, error) &&
           learn_recipients(db, observed, place, event, warrant, now, error) &&
           warrant_record(db, observed->account, &own, who, observed->message_id, now, error);
}

static gboolean
learn_mention(Db *db, const Observation *observed, const char *address, gboolean beyond,
              gint64 event, gint64 now, GError **error)
{
    gint64 aimed = 0;
    const char *account = observed->account;
    const char *id = is_usable(observed->message_id) ? observed->message_id : "";
    const char *sender = observed->sender != NULL ? observed->sender : "";

    if (!db_integer(db, &correspondent_exists, 0, &aimed, error, "ss", account, address))
        return FALSE;
    if (beyond && aimed == 0)
        return TRUE;
    gint64 changed = db_run(db, &mention_put, error, "ssissii", account, address, event, id,
                            sender, now, aimed);
    if (changed == 0) /* a later text is known already */
        changed =
            db_run(db, &mention_put_first, error, "ssssi", account, address, id, sender, now);
    return changed >= 0;
}

/* A message's own From, To and Cc do not count: a signature is no advice (case A18). */
static gboolean
learn_mentions(Db *db, const Observation *observed, gint64 now, GError **error)
{
    const char *const *addresses = observed->mentioned;
    gint64 event = 0;

    if (addresses == NULL || addresses[0] == NULL)
        return TRUE;
    if (!next_event(db, observed, &event, error))
        return FALSE;
    g_autoptr(GHashTable) own = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; observed->correspondents != NULL && observed->correspondents[i] != NULL;
         i++)
        g_hash_table_add(own, (gpointer)observed->correspondents[i]);
    for (guint i = 0; addresses[i] != NULL; i++) {
        if (!g_hash_table_contains(own, addresses[i]) &&
            !learn_mention(db, observed, addresses[i], i >= MENTIONS_MAX, event, now, error))
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

    if (!place_message(db, observation, now, &place, error))
        return FALSE;
    switch (observation->kind) {
    case OBSERVED_RECEIVED:
        return learn_mentions(db, observation, now, error) &&
               learn_lists(db, observation, now, error);
    case OBSERVED_AGENT:
        return TRUE;
    case OBSERVED_HUMAN:
        return learn_from_human(db, observation, &place, now, error);
    }
    g_assert_not_reached();
}

gboolean
history_conversation(Db *db, const char *account, const char *const *parents,
                     gint64 *conversation_out, gboolean *mine_out, gboolean *automatic_out,
                     GError **error)
{
    Trail trail;
    gboolean mine = FALSE;

    if (!follow_ids(db, account, parents, G_MAXUINT, &trail, error) ||
        (trail.conversation != 0 && !is_mine(db, account, trail.conversation, &mine, error)))
        return FALSE;
    *conversation_out = trail.conversation;
    *mine_out = mine;
    if (automatic_out != NULL)
        *automatic_out = trail.automatic;
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
history_is_of_human(Db *db, const char *account, const char *id, gint64 since,
                    gboolean *is_out, GError **error)
{
    gint64 found = 0;

    if (is_usable(id) &&
        !db_integer(db, &message_of_human, 0, &found, error, "ssi", account, id, since))
        return FALSE;
    *is_out = found != 0;
    return TRUE;
}
