#include "relay/handover.h"

#include "relay/people.h"
#include "store/lock.h"

#define HAND_OVER "hand-over"

/* What the message is called, then what it names. The strings are borrowed. */
static const char **
list_ids(const Item *item)
{
    char **parents = item->extract->parents;
    const char **ids = g_new0(const char *, g_strv_length(parents) + 2);

    ids[0] = item->extract->message_id;
    for (guint i = 0; parents[i] != NULL; i++)
        ids[i + 1] = parents[i];
    return ids;
}

/* A claim, but one that only tightens. */
static gboolean
hands_over(const Item *item)
{
    const char *claim = g_hash_table_lookup(item->claims, "agent-action");
    g_autofree char *class = g_strstrip(g_strdup(claim ? claim : ""));

    return g_ascii_strcasecmp(class, HAND_OVER) == 0;
}

gboolean
handover_find(Db *db, const Item *item, gboolean *locked_out, GError **error)
{
    g_autofree const char **ids = list_ids(item);
    gboolean locked;

    if (!lock_holds(db, item->account, ids, &locked, error))
        return FALSE;
    *locked_out = locked || hands_over(item);
    return TRUE;
}

gboolean
handover_take(Request *request, GError **error)
{
    const Item *item = request->item;
    g_autofree const char **ids = list_ids(item);
    g_autofree char *who = g_strdup_printf("agent login %s", item->login);
    gboolean is_new;

    /* Without facts it is no message of this login, and was refused. */
    if (item->state == STATE_REFUSED || item->facts.values[FACT_LOCKED].number == 0)
        return TRUE;
    return lock_set(request->relay->db, item->account, ids, item->id, who, request->now,
                    &is_new, error);
}

typedef gboolean (*Change)(Db *db, const char *account, const char *const *ids,
                           const char *item, const char *who, gint64 now,
                           gboolean *changed_out, GError **error);

static gboolean
change(Request *request, Change apply, gboolean locked, GError **error)
{
    g_autoptr(Item) item = people_item(request, error);
    gboolean changed;
    GVariantDict dict;

    if (item == NULL)
        return FALSE;
    g_autofree const char **ids = list_ids(item);
    if (!apply(request->relay->db, item->account, ids, item->id, request->who, request->now,
               &changed, error))
        return FALSE;
    if (!changed) {
        g_set_error(error, REQUEST_ERROR, REQUEST_CONFLICT, "the conversation of %s is %s",
                    item->id, locked ? "locked" : "not locked");
        return FALSE;
    }
    g_variant_dict_init(&dict, NULL);
    g_variant_dict_insert(&dict, "account", "s", item->account);
    g_variant_dict_insert(&dict, "locked", "b", locked);
    request->reply = g_variant_ref_sink(g_variant_dict_end(&dict));
    return TRUE;
}

gboolean
handover_lock(Request *request, GError **error)
{
    return change(request, lock_set, TRUE, error);
}

gboolean
handover_unlock(Request *request, GError **error)
{
    return change(request, lock_lift, FALSE, error);
}
