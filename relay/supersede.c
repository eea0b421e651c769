#include "relay/supersede.h"

#include "store/approval.h"
#include "store/audit.h"

#define CLAIM "agent-supersedes"

static char *
agent_of(const Request *request)
{
    return g_strdup_printf("agent login %s", request->item->login);
}

static gboolean
move(Request *request, Item *old, State to, GError **error)
{
    g_autofree char *who = agent_of(request);
    g_autofree char *why = g_strdup_printf("superseded by %s", request->item->id);
    Move done = MOVE_REFUSED;

    if (!queue_move(request->relay->db, old->id, old->state, to, who, why, request->now, &done,
                    error))
        return FALSE;
    old->state = to;
    return TRUE;
}

/* Else an agent would submit until the dice fall well. */
static void
wait_as_long(Item *item, gint64 due)
{
    if (due <= item->due || (item->tier != TIER_DELAY && item->tier != TIER_RELEASE))
        return;
    if (item->tier == TIER_RELEASE) {
        char *reason =
            g_strconcat(item->reason, "; not before what it supersedes was due", NULL);

        g_free(item->reason);
        item->reason = reason;
    }
    item->tier = TIER_DELAY;
    item->due = due;
}

static gboolean
may_give_way(State state)
{
    return state == STATE_HELD || state == STATE_DRAFT || state == STATE_DELAYED ||
           state == STATE_APPROVED;
}

static gboolean
give_way(Request *request, Item *old, GError **error)
{
    if (!approval_void(request->relay->db, old->id, request->now, error))
        return FALSE;
    if (old->state == STATE_DELAYED)
        wait_as_long(request->item, old->due);
    return (old->state != STATE_APPROVED || move(request, old, STATE_HELD, error)) &&
           move(request, old, STATE_SUPERSEDED, error);
}

/* What a person wrote is no agent's to take back. */
static gboolean
is_own(const Item *item, const Item *old)
{
    return old != NULL && g_str_equal(old->account, item->account) &&
           g_str_equal(old->login, item->login) && *old->author == '\0';
}

static gboolean
record(Request *request, const char *named, const char *effect, GError **error)
{
    g_autofree char *who = agent_of(request);
    GVariantDict details;

    g_variant_dict_init(&details, NULL);
    g_variant_dict_insert(&details, "named", "s", named);
    g_variant_dict_insert(&details, "effect", "s", effect);
    const AuditEntry entry = {.kind = "supersedes",
                              .account = request->item->account,
                              .item = request->item->id,
                              .who = who,
                              .details = g_variant_dict_end(&details)};
    return audit_append(request->relay->db, &entry, request->now, error);
}

/* An item's id, or a Message-ID in angle brackets: the newest with that. */
static gboolean
load_named(Db *db, const Item *item, const char *named, Item **old_out, GError **error)
{
    g_autofree char *id = NULL;

    if (*named == '<' && !queue_find_latest(db, item->account, named, &id, error))
        return FALSE;
    return queue_load_sound(db, id != NULL ? id : named, old_out, error);
}

static gboolean
take_named(Request *request, const char *named, GError **error)
{
    g_autofree char *effect = NULL;
    g_autoptr(Item) old = NULL;

    if (!load_named(request->relay->db, request->item, named, &old, error))
        return FALSE;
    if (!is_own(request->item, old))
        effect = g_strdup("none: no item of this login");
    else if (!may_give_way(old->state))
        effect = g_strdup_printf("none: it is %s", state_name(old->state));
    else if (!give_way(request, old, error))
        return FALSE;
    return record(request, named, effect != NULL ? effect : "superseded", error);
}

/* Same Message-ID, other bytes (E1, E2). */
static gboolean
take_namesake(Request *request, GError **error)
{
    Db *db = request->relay->db;
    const Item *item = request->item;
    g_autofree char *id = NULL;
    g_autoptr(Item) old = NULL;

    if (*item->message_id == '\0')
        return TRUE;
    if (!queue_find_message(db, item->account, item->message_id, &id, error) ||
        (id != NULL && !queue_load(db, id, &old, error)))
        return FALSE;
    return old == NULL || *old->author != '\0' || !may_give_way(old->state) ||
           give_way(request, old, error);
}

gboolean
supersede_take(Request *request, GError **error)
{
    const char *named = g_hash_table_lookup(request->item->claims, CLAIM);

    return (named == NULL || take_named(request, named, error)) &&
           take_namesake(request, error);
}

gboolean
supersede_describe(Request *request, const Item *item, GVariantDict *dict, GError **error)
{
    const char *named = g_hash_table_lookup(item->claims, CLAIM);
    g_autoptr(Item) old = NULL;

    if (named == NULL)
        return TRUE;
    if (!load_named(request->relay->db, item, named, &old, error))
        return FALSE;
    if (!is_own(item, old) || g_str_equal(old->id, item->id))
        return TRUE;
    g_autofree char *why = g_utf8_make_valid(old->why, -1);
    g_variant_dict_insert(dict, "instead_of", "s", old->id);
    g_variant_dict_insert(dict, "instead_state", "s", state_name(old->state));
    g_variant_dict_insert(dict, "instead_why", "s", why);
    return TRUE;
}
