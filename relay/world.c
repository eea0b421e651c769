#include "relay/world.h"

#include "store/approval.h"
#include "store/history.h"
#include "store/queue.h"

typedef struct {
    Db *db;
    const char *account;
    const char *why;
    gint64 now;
} Veto;

/* Takes ids, which may be NULL. */
static gboolean
stop_items(const Veto *veto, GPtrArray *taken, GError **error)
{
    g_autoptr(GPtrArray) ids = taken;
    Move done;

    if (ids == NULL)
        return FALSE;
    for (guint i = 0; i < ids->len; i++) {
        const char *id = g_ptr_array_index(ids, i);

        if (!approval_void(veto->db, id, veto->now, error) ||
            !queue_move(veto->db, id, STATE_DELAYED, STATE_DRAFT, "relay", veto->why,
                        veto->now, &done, error))
            return FALSE;
    }
    return TRUE;
}

static gboolean
stop_conversation_of(const Veto *veto, const char *id, GError **error)
{
    gint64 conversation = 0;
    gboolean automatic = FALSE;

    if (!history_trace(veto->db, veto->account, id, &conversation, &automatic, error))
        return FALSE;
    return conversation == 0 ||
           stop_items(veto, queue_delayed_in(veto->db, veto->account, conversation, error),
                      error);
}

static gboolean
stop_conversations_of(const Veto *veto, char *const *ids, GError **error)
{
    for (guint i = 0; ids[i] != NULL && i < HISTORY_PARENTS_MAX; i++)
        if (!stop_conversation_of(veto, ids[i], error))
            return FALSE;
    return TRUE;
}

static char *
make_reason(WorldSide side, const Extract *extract)
{
    const char *from = extract->from[0] != NULL ? extract->from[0] : "the other side";

    if (side == WORLD_HUMAN)
        return g_strdup("the human answered");
    if (extract->bounced[0] != NULL)
        return g_strdup_printf("mail to %s came back", extract->bounced[0]);
    return g_strdup_printf(extract->automatic ? "%s answered automatically" : "%s wrote again",
                           from);
}

/* What could not be delivered names its conversation by the message that came back. */
static gboolean
stop_bounced(const Veto *veto, const Extract *extract, GError **error)
{
    for (guint i = 0; extract->bounced[i] != NULL; i++) {
        if (!stop_items(veto,
                        queue_delayed_to(veto->db, veto->account, extract->bounced[i], error),
                        error))
            return FALSE;
    }
    return stop_conversations_of(veto, extract->returned, error);
}

gboolean
world_answered(Db *db, const char *account, WorldSide side, const Extract *extract, gint64 now,
               GError **error)
{
    g_autofree char *why = make_reason(side, extract);
    const Veto veto = {.db = db, .account = account, .why = why, .now = now};

    return stop_conversation_of(&veto, extract->message_id, error) &&
           stop_conversations_of(&veto, extract->parents, error) &&
           (extract->bounced[0] == NULL || stop_bounced(&veto, extract, error));
}

/* The waiting item that the human's message is; NULL: none. FALSE: could not look. */
static gboolean
find_sent(Db *db, const char *account, const char *id, const char *message_id, Item **item_out,
          GError **error)
{
    g_autofree char *named = NULL;
    g_autoptr(Item) item = NULL;

    if (*id != '\0' && !queue_load_sound(db, id, &item, error))
        return FALSE;
    if (item != NULL && !g_str_equal(item->account, account))
        g_clear_pointer(&item, item_free);
    if (item == NULL && (!queue_find_message(db, account, message_id, &named, error) ||
                         (named != NULL && !queue_load_sound(db, named, &item, error))))
        return FALSE;
    *item_out = g_steal_pointer(&item);
    return TRUE;
}

/* One that is being sent finds out when it asks for its authority. */
gboolean
world_sent(Db *db, const char *account, const char *id, const char *login,
           const Extract *extract, gint64 now, GError **error)
{
    g_autofree char *who = g_strdup_printf("human login %s", login);
    g_autoptr(Item) item = NULL;
    Move done;

    if (!find_sent(db, account, id, extract->message_id, &item, error))
        return FALSE;
    return item == NULL || !state_may_become(item->state, STATE_BY_HUMAN) ||
           (approval_void(db, item->id, now, error) &&
            queue_move(db, item->id, item->state, STATE_BY_HUMAN, who, WORLD_SENT, now, &done,
                       error));
}
