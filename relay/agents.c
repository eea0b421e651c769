#include "relay/agents.h"

#include "lib/log.h"
#include "relay/conversation.h"
#include "relay/people.h"
#include "relay/report.h"
#include "relay/views.h"
#include "store/approval.h"

/* More than any conversation waits for; a report has an end. */
enum { CONVERSATION_MOST = 1000 };

/* Finds the newest item with that Message-ID in one of the accounts; *id_out NULL: none. */
static gboolean
find_message(Request *request, char *const *accounts, const char *message_id, char **id_out,
             GError **error)
{
    *id_out = NULL;
    for (; *accounts != NULL && *id_out == NULL; accounts++)
        if (!queue_find_latest(request->relay->db, *accounts, message_id, id_out, error))
            return FALSE;
    return TRUE;
}

/* What a person wrote is no agent's, to take back or to ask for. */
static gboolean
is_own(const Request *request, char *const *accounts, const Item *item)
{
    return g_strv_contains((const char *const *)accounts, item->account) &&
           (accounts != request->served || *item->author == '\0');
}

/* The item that the argument names, if it is of one of the accounts. */
static Item *
load(Request *request, char *const *accounts, GError **error)
{
    const char *named = request_text(request, "id", error);
    g_autofree char *id = NULL;
    g_autoptr(Item) item = NULL;

    if (named == NULL ||
        (*named == '<' && !find_message(request, accounts, named, &id, error)))
        return NULL;
    const char *wanted = *named == '<' ? id : named;
    if (wanted != NULL && !queue_load(request->relay->db, wanted, &item, error))
        return NULL;
    if (item != NULL && is_own(request, accounts, item))
        return g_steal_pointer(&item);
    g_set_error(error, REQUEST_ERROR, REQUEST_NOT_FOUND, "there is no item %s", named);
    return NULL;
}

/* An approver's right to an item includes that to call it off. */
static char *const *
own_accounts(const Request *request)
{
    return request->accounts[0] != NULL ? request->accounts : request->served;
}

/* The same word where two would tell what the rules had said (XF21). */
static const char *
outcome_of(State state)
{
    switch (state) {
    case STATE_HELD:
    case STATE_DRAFT:
    case STATE_DELAYED:
    case STATE_APPROVED:
    case STATE_SENDING:
    case STATE_COMMITTING:
        return "waiting";
    case STATE_RELEASED:
    case STATE_SENT:
    case STATE_BY_HUMAN:
        return "sent";
    case STATE_REJECTED:
    case STATE_VETOED:
        return "rejected";
    case STATE_WITHDRAWN:
    case STATE_SUPERSEDED:
    case STATE_UNCERTAIN:
    case STATE_FAILED:
    case STATE_REFUSED:
    case STATE_EXPIRED:
    case STATE_COUNT:
        break;
    }
    return state_name(state);
}

gboolean
agents_outcome(Request *request, GError **error)
{
    g_autoptr(Item) item = load(request, own_accounts(request), error);
    GVariantDict dict;

    if (item == NULL)
        return FALSE;
    g_autofree char *reason = g_utf8_make_valid(report_reason(item), -1);
    g_variant_dict_init(&dict, NULL);
    g_variant_dict_insert(&dict, "id", "s", item->id);
    g_variant_dict_insert(&dict, "state", "s", outcome_of(item->state));
    g_variant_dict_insert(&dict, "reason", "s", reason);
    request->reply = g_variant_ref_sink(g_variant_dict_end(&dict));
    log_info("%s: %s asked what became of it", item->id, request->who);
    return TRUE;
}

static gboolean
is_pending(State state)
{
    return state == STATE_HELD || state == STATE_DRAFT || state == STATE_DELAYED ||
           state == STATE_APPROVED;
}

/* Takes an item that waits back, in an agent's name. */
static gboolean
withdraw(Request *request, Item *item, const char *why, GError **error)
{
    if (item->state == STATE_APPROVED) {
        if (!people_move(request, item, STATE_HELD, why, error))
            return FALSE;
        item->state = STATE_HELD;
    }
    return approval_void(request->relay->db, item->id, request->now, error) &&
           people_move(request, item, STATE_WITHDRAWN, why, error);
}

gboolean
agents_withdraw(Request *request, GError **error)
{
    const char *why = request_line(request, "why", error);
    g_autoptr(Item) item = why ? load(request, request->served, error) : NULL;
    GVariantDict dict;

    if (item == NULL)
        return FALSE;
    if (!is_pending(item->state)) {
        g_set_error(error, REQUEST_ERROR, REQUEST_CONFLICT,
                    "%s does not wait any more, it cannot be withdrawn", item->id);
        return FALSE;
    }
    if (!withdraw(request, item, why, error))
        return FALSE;
    g_variant_dict_init(&dict, NULL);
    g_variant_dict_insert(&dict, "state", "s", state_name(STATE_WITHDRAWN));
    request->reply = g_variant_ref_sink(g_variant_dict_end(&dict));
    return TRUE;
}

static gboolean
call_off(Request *request, Item *item, const char *why, GError **error)
{
    gboolean asked = item->state == STATE_HELD || item->state == STATE_DRAFT;

    if (request->accounts[0] == NULL)
        return withdraw(request, item, why, error);
    return approval_void(request->relay->db, item->id, request->now, error) &&
           people_move(request, item, asked ? STATE_REJECTED : STATE_VETOED, why, error);
}

static const char *
fate_of(State state)
{
    if (is_pending(state))
        return "cancelled";
    if (state == STATE_RELEASED || state == STATE_SENT)
        return "left";
    if (state == STATE_SENDING)
        return "is leaving";
    return state == STATE_COMMITTING || state == STATE_UNCERTAIN ? "may have left"
                                                                 : "did not leave";
}

/* When an item left; 0 when it did not. */
static gboolean
find_departure(Db *db, const Item *item, gint64 *when_out, GError **error)
{
    gint64 when = item->state == STATE_RELEASED ? item->created : 0;

    if (item->state == STATE_SENT) {
        GVariant *moves = queue_moves(db, item->id, error);

        if (moves == NULL)
            return FALSE;
        g_variant_ref_sink(moves);
        gsize count = g_variant_n_children(moves);
        g_autoptr(GVariant) last =
            count > 0 ? g_variant_get_child_value(moves, count - 1) : NULL;
        if (last != NULL)
            g_variant_lookup(last, "when", "x", &when);
        g_variant_unref(moves);
    }
    *when_out = when;
    return TRUE;
}

/* Calls the item off if it waits, and adds to the report what became of it. */
static gboolean
settle(Request *request, const char *id, const char *why, GVariantBuilder *report,
       GError **error)
{
    g_autoptr(Item) item = NULL;
    gint64 when;

    if (!queue_load_sound(request->relay->db, id, &item, error))
        return FALSE;
    if (item == NULL || !is_own(request, own_accounts(request), item))
        return TRUE;
    const char *fate = fate_of(item->state);
    if (!find_departure(request->relay->db, item, &when, error) ||
        (is_pending(item->state) && !call_off(request, item, why, error)))
        return FALSE;
    g_variant_builder_add_value(report, view_fate(item, fate, when));
    return TRUE;
}

gboolean
agents_cancel(Request *request, GError **error)
{
    g_autoptr(Item) item = load(request, own_accounts(request), error);
    g_autoptr(GPtrArray) ids =
        item ? conversation_items(request->relay->db, item, CONVERSATION_MOST, error) : NULL;
    g_auto(GVariantBuilder) report = G_VARIANT_BUILDER_INIT(G_VARIANT_TYPE("aa{sv}"));
    GVariantDict dict;

    if (ids == NULL)
        return FALSE;
    g_autofree char *why = g_strdup_printf("cancelled with the conversation of %s", item->id);
    for (guint i = 0; i < ids->len; i++)
        if (!settle(request, g_ptr_array_index(ids, i), why, &report, error))
            return FALSE;
    g_variant_dict_init(&dict, NULL);
    g_variant_dict_insert_value(&dict, "items", g_variant_builder_end(&report));
    request->reply = g_variant_ref_sink(g_variant_dict_end(&dict));
    return TRUE;
}
