#include "relay/send.h"

#include "lib/error.h"
#include "relay/authority.h"
#include "relay/record.h"
#include "relay/schedule.h"
#include "relay/send-private.h"
#include "store/approval.h"
#include "store/history.h"

gboolean
send_move(Db *db, const char *id, State from, State to, const char *why, gint64 now,
          GError **error)
{
    Move done;

    if (!queue_move(db, id, from, to, "relay", why, now, &done, error))
        return FALSE;
    if (done == MOVE_DONE)
        return TRUE;
    g_set_error(error, EXEAT_ERROR, ERROR_TEMP, "%s is not %s any more", id, state_name(from));
    return FALSE;
}

/* The message that began a conversation counts in it like those that answer it. */
static gboolean
join_own(Db *db, const Item *item, GError **error)
{
    gint64 conversation = 0;
    gboolean automatic;

    if (item->conversation != 0)
        return TRUE;
    if (!history_trace(db, item->account, item->message_id, &conversation, &automatic, error))
        return FALSE;
    return conversation == 0 || queue_join(db, item->id, conversation, error);
}

gboolean
send_learn(Db *db, const Item *item, gint64 now, GError **error)
{
    const char *const nobody[] = {NULL};
    const Observation observation = {
        .kind = OBSERVED_AGENT,
        .account = item->account,
        .message_id = item->message_id,
        .parents = (const char *const *)item->extract->parents,
        .recipients = nobody,
        .correspondents = nobody,
        .mentioned = nobody,
        .lists = nobody,
    };

    return history_observe(db, &observation, now, error) && join_own(db, item, error);
}

gboolean
send_back(Db *db, const Item *item, Tier tier, const char *why, gint64 now, GError **error)
{
    State to = item->automatic && tier == TIER_DRAFT ? STATE_DRAFT : STATE_HELD;
    gboolean sent;

    if (!history_is_of_human(db, item->account, item->message_id, item->created, &sent, error))
        return FALSE;
    if (sent)
        to = STATE_BY_HUMAN;
    return approval_void(db, item->id, now, error) &&
           send_move(db, item->id, item->state, to, why, now, error);
}

gboolean
send_use_authority(Relay *relay, const Config *config, const char *id, const char *queue_id,
                   gint64 now, char **why_out, GError **error)
{
    Db *db = relay->db;
    g_autoptr(Item) item = NULL;
    g_autofree char *why = NULL;
    g_autofree char *used_up =
        *queue_id != '\0' ? g_strdup_printf("its authority is used, queue id %s", queue_id)
                          : g_strdup("its authority is used");
    gboolean valid, used = TRUE;
    Tier tier;

    if (!record_clock_stands(relay, now, error) || !queue_load(db, id, &item, error))
        return FALSE;
    if (item == NULL || item->state != STATE_SENDING) {
        *why_out = g_strdup("this message is not being sent");
        return TRUE;
    }
    if (!authority_check(db, config, item, now, &valid, &tier, &why, error))
        return FALSE;
    if (valid && !item->automatic &&
        !approval_consume(db, id, item->account, item->digest, now, &used, error))
        return FALSE;
    if (!valid || !used) {
        *why_out = why ? g_steal_pointer(&why) : g_strdup("the approval was used before");
        return TRUE;
    }
    return record_hand_over(relay, item, now, error) &&
           send_move(db, id, STATE_SENDING, STATE_COMMITTING, used_up, now, error) &&
           send_learn(db, item, now, error);
}

/* Sending was under way, no authority was used: its ticket dies, and it may be tried again. */
static gboolean
recover_sending(Db *db, const char *id, gint64 now, GError **error)
{
    g_autoptr(Item) item = NULL;
    gboolean used;

    if (!schedule_load(db, id, &item, error) || !ticket_end(db, id, &used, error))
        return FALSE;
    return item == NULL ||
           send_move(db, id, STATE_SENDING, item->automatic ? STATE_DELAYED : STATE_APPROVED,
                     "the relay was started again before it was handed on", now, error);
}

/* The authority was used, and whether the server kept the message nobody heard. */
static gboolean
recover_committing(Db *db, const char *id, gint64 now, GError **error)
{
    return send_move(db, id, STATE_COMMITTING, STATE_UNCERTAIN,
                     "the relay was started again before it heard the answer", now, error);
}

gboolean
send_recover(gpointer data, GError **error)
{
    Relay *relay = data;
    gint64 now = relay_now();
    g_autoptr(GPtrArray) sending = queue_in_state(relay->db, STATE_SENDING, error);
    g_autoptr(GPtrArray) committing =
        sending ? queue_in_state(relay->db, STATE_COMMITTING, error) : NULL;

    if (committing == NULL)
        return FALSE;
    for (guint i = 0; i < sending->len; i++)
        if (!recover_sending(relay->db, g_ptr_array_index(sending, i), now, error))
            return FALSE;
    for (guint i = 0; i < committing->len; i++)
        if (!recover_committing(relay->db, g_ptr_array_index(committing, i), now, error))
            return FALSE;
    return TRUE;
}
