#include "relay/action.h"

#include "store/audit.h"
#include "store/queue.h"

/* More moves than an item can make without somebody noticing. */
enum { MOVES_MOST = 1000 };

void
action_clear(Action *action)
{
    g_free(action->confirmation);
    g_free(action->execution);
}

static const char *
text_of(GVariant *content, const char *name)
{
    const char *text = "";

    g_variant_lookup(content, name, "&s", &text);
    return text;
}

/* What a person, or the relay in his stead, decided about an item; NULL for other moves. */
static const char *
decision(State from, State to)
{
    switch (to) {
    case STATE_APPROVED:
        return from == STATE_SENDING ? NULL : "approved";
    case STATE_HELD:
    case STATE_DRAFT:
        return from == STATE_APPROVED || from == STATE_SENDING ? "lapsed" : NULL;
    case STATE_REJECTED:
    case STATE_VETOED:
    case STATE_WITHDRAWN:
    case STATE_EXPIRED:
    case STATE_SUPERSEDED:
    case STATE_BY_HUMAN:
        return state_name(to);
    case STATE_DELAYED:
    case STATE_SENDING:
    case STATE_COMMITTING:
    case STATE_UNCERTAIN:
    case STATE_SENT:
    case STATE_FAILED:
    case STATE_RELEASED:
    case STATE_REFUSED:
    case STATE_COUNT:
        break;
    }
    return NULL;
}

static gboolean
follow(const ChainEntry *entry, const char *seal G_GNUC_UNUSED, gpointer data)
{
    Action *action = data;
    State from, to;

    if (!g_str_equal(entry->kind, "moved"))
        return TRUE;
    g_autoptr(GVariant) content =
        g_variant_parse(G_VARIANT_TYPE_VARDICT, entry->details, NULL, NULL, NULL);
    if (content == NULL || !state_find(text_of(content, "from"), &from) ||
        !state_find(text_of(content, "to"), &to))
        return TRUE;
    g_free(action->execution);
    action->execution = g_strdup_printf("%s: %s", state_name(to), text_of(content, "why"));
    const char *decided = decision(from, to);
    if (decided != NULL) {
        g_free(action->confirmation);
        action->confirmation = g_strdup_printf("%s by %s", decided, entry->who);
        action->confirmed = to == STATE_APPROVED;
    }
    return TRUE;
}

gboolean
action_follow(Db *db, const char *item, Action *action, GError **error)
{
    return audit_walk_item(db, item, MOVES_MOST, follow, action, error);
}

static GVariant *
view_params(GVariant *submitted)
{
    static const char *const names[] = {"sender", "recipients", "message-id", "digest",
                                        "size"};
    GVariantDict params;

    g_variant_dict_init(&params, NULL);
    for (gsize i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autoptr(GVariant) value = g_variant_lookup_value(submitted, names[i], NULL);

        if (value != NULL)
            g_variant_dict_insert_value(&params, names[i], value);
    }
    return g_variant_dict_end(&params);
}

GVariant *
action_view(const Action *action, gint64 at, const char *who, GVariant *submitted)
{
    g_autoptr(GVariant) found =
        g_variant_lookup_value(submitted, "claims", G_VARIANT_TYPE("a{ss}"));
    g_autoptr(GVariant) claims =
        found ? g_variant_ref(found) : g_variant_ref_sink(g_variant_new("a{ss}", NULL));
    const char *tier = text_of(submitted, "tier");
    GVariantDict dict;

    const char *step = "", *context = "", *rationale = "";
    g_variant_lookup(claims, "agent-plan-step", "&s", &step);
    g_variant_lookup(claims, "agent-context", "&s", &context);
    g_variant_lookup(claims, "agent-rationale", "&s", &rationale);

    g_variant_dict_init(&dict, NULL);
    g_variant_dict_insert(&dict, "timestamp", "x", at);
    g_variant_dict_insert(&dict, "agent", "s", who);
    g_variant_dict_insert(&dict, "tool", "s", "smtp.send");
    g_variant_dict_insert_value(&dict, "params", view_params(submitted));
    g_variant_dict_insert(&dict, "plan_step", "s", step);
    g_variant_dict_insert(&dict, "context_summary", "s", context);
    g_variant_dict_insert(&dict, "rationale", "s", rationale);
    g_variant_dict_insert(&dict, "risk_level", "s", tier);
    g_variant_dict_insert(&dict, "confirmation_required", "b",
                          g_str_equal(tier, "hold") || g_str_equal(tier, "draft"));
    g_variant_dict_insert(&dict, "confirmation_result", "s",
                          action->confirmation ? action->confirmation : "none");
    g_variant_dict_insert(&dict, "execution_result", "s",
                          action->execution ? action->execution : text_of(submitted, "state"));
    return g_variant_dict_end(&dict);
}
