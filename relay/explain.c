#include "relay/explain.h"

#include <string.h>

#include "policy/nearest.h"
#include "policy/trace.h"
#include "relay/judge.h"
#include "relay/people.h"

static const char *const truths[] = {
    [TRUTH_NO] = "no", [TRUTH_UNKNOWN] = "unknown", [TRUTH_YES] = "yes"};

static const char *const kinds[] = {
    [TRACE_RULE] = "rule",   [TRACE_CLAIM] = "claim",         [TRACE_LIMIT] = "limit",
    [TRACE_NEVER] = "never", [TRACE_APPROVALS] = "approvals",
};

/* Puts what one wish says, "novel=1", over the facts. */
static gboolean
suppose(Facts *facts, const char *wish, GError **error)
{
    g_autofree char *name = g_strndup(wish, strcspn(wish, "="));
    Facts wished;
    Fact fact;

    gboolean is_one = strchr(wish, ' ') == NULL && facts_parse(wish, &wished);
    if (is_one && fact_find(name, &fact)) {
        facts->values[fact] = wished.values[fact];
        return TRUE;
    }
    if (is_one && g_str_equal(name, "declared")) {
        g_strlcpy(facts->declared, wished.declared, sizeof facts->declared);
        return TRUE;
    }
    g_set_error(error, REQUEST_ERROR, REQUEST_USAGE,
                "found “%s”, expected a fact, = and a number, yes, no or ?", wish);
    return FALSE;
}

static gboolean
suppose_all(const Request *request, Facts *facts, GError **error)
{
    g_autofree const char **wishes = NULL;

    if (!g_variant_lookup(request->arguments, "suppose", "^a&s", &wishes))
        return TRUE;
    for (guint i = 0; wishes[i] != NULL; i++)
        if (!suppose(facts, wishes[i], error))
            return FALSE;
    return TRUE;
}

static GVariant *
view_conditions(const GPtrArray *conditions)
{
    GVariantBuilder builder;

    g_variant_builder_init(&builder, G_VARIANT_TYPE("aa{sv}"));
    for (guint i = 0; i < conditions->len; i++) {
        const TraceCondition *condition = g_ptr_array_index(conditions, i);
        GVariantDict dict;

        g_variant_dict_init(&dict, NULL);
        g_variant_dict_insert(&dict, "text", "s", condition->text);
        g_variant_dict_insert(&dict, "value", "s", condition->value);
        g_variant_dict_insert(&dict, "truth", "s", truths[condition->truth]);
        g_variant_builder_add_value(&builder, g_variant_dict_end(&dict));
    }
    return g_variant_builder_end(&builder);
}

static GVariant *
view_line(const TraceLine *line)
{
    GVariantDict dict;

    g_variant_dict_init(&dict, NULL);
    g_variant_dict_insert(&dict, "kind", "s", kinds[line->kind]);
    g_variant_dict_insert(&dict, "file", "s", line->file);
    g_variant_dict_insert(&dict, "line", "u", line->line);
    g_variant_dict_insert(&dict, "tier", "s",
                          line->kind == TRACE_APPROVALS ? "" : tier_name(line->tier));
    g_variant_dict_insert(&dict, "approvals", "u", line->approvals);
    g_variant_dict_insert(&dict, "reason", "s", line->reason);
    g_variant_dict_insert(&dict, "truth", "s", truths[line->truth]);
    g_variant_dict_insert(&dict, "decides", "b", line->decides);
    g_variant_dict_insert(&dict, "floor", "b", line->of_floor);
    g_variant_dict_insert_value(&dict, "conditions", view_conditions(line->conditions));
    return g_variant_dict_end(&dict);
}

static GVariant *
view_lines(const Trace *trace)
{
    GVariantBuilder builder;

    g_variant_builder_init(&builder, G_VARIANT_TYPE("aa{sv}"));
    for (guint i = 0; i < trace->lines->len; i++)
        g_variant_builder_add_value(&builder, view_line(g_ptr_array_index(trace->lines, i)));
    return g_variant_builder_end(&builder);
}

/* As the policy language writes it. */
static char *
describe_value(Fact fact, const FactValue *value)
{
    if (!value->known)
        return g_strdup("unknown");
    if (fact_kind(fact) == FACT_KIND_FLAG)
        return g_strdup(value->number ? "yes" : "no");
    return g_strdup_printf("%" G_GINT64_FORMAT, value->number);
}

static void
add_nearest(GVariantBuilder *builder, const Account *account, const Facts *facts,
            gboolean stricter)
{
    g_autoptr(Nearest) nearest = nearest_find(account->policy, facts, account->mode, stricter);
    GVariantDict dict;

    if (nearest == NULL)
        return;
    const FactValue to = {TRUE, nearest->to};
    g_autofree char *before = describe_value(nearest->fact, &nearest->from);
    g_autofree char *after = describe_value(nearest->fact, &to);
    g_variant_dict_init(&dict, NULL);
    g_variant_dict_insert(&dict, "fact", "s", fact_name(nearest->fact));
    g_variant_dict_insert(&dict, "from", "s", before);
    g_variant_dict_insert(&dict, "to", "s", after);
    g_variant_dict_insert(&dict, "tier", "s", tier_name(nearest->verdict->tier));
    g_variant_dict_insert(&dict, "reason", "s", nearest->verdict->reason);
    g_variant_builder_add_value(builder, g_variant_dict_end(&dict));
}

static GVariant *
view_nearest(const Account *account, const Facts *facts)
{
    GVariantBuilder builder;

    g_variant_builder_init(&builder, G_VARIANT_TYPE("aa{sv}"));
    add_nearest(&builder, account, facts, FALSE);
    add_nearest(&builder, account, facts, TRUE);
    return g_variant_builder_end(&builder);
}

static GVariant *
view_judged(const Item *item)
{
    GVariantDict dict;

    g_variant_dict_init(&dict, NULL);
    g_variant_dict_insert(&dict, "policy", "s", item->policy);
    g_variant_dict_insert(&dict, "tier", "s", tier_name(item->tier));
    g_variant_dict_insert(&dict, "line", "u", item->line);
    g_variant_dict_insert(&dict, "file", "s", item->file);
    g_variant_dict_insert(&dict, "reason", "s", item->reason);
    return g_variant_dict_end(&dict);
}

static void
set_reply(Request *request, const Account *account, const Item *item, const Facts *facts)
{
    g_autoptr(Trace) trace = policy_explain(account->policy, facts, account->mode, 0);
    const Verdict *verdict = trace->verdict;
    GVariantDict dict;

    g_variant_dict_init(&dict, NULL);
    g_variant_dict_insert(&dict, "id", "s", item->id);
    g_variant_dict_insert(&dict, "account", "s", account->name);
    g_variant_dict_insert(&dict, "mode", "s", mode_name(account->mode));
    g_variant_dict_insert_value(&dict, "judged", view_judged(item));
    g_variant_dict_insert(&dict, "policy", "s", policy_version(account->policy));
    g_variant_dict_insert(&dict, "tier", "s", tier_name(verdict->tier));
    g_variant_dict_insert(&dict, "line", "u", verdict->line);
    g_variant_dict_insert(&dict, "file", "s", verdict->file ? verdict->file : "");
    g_variant_dict_insert(&dict, "reason", "s", verdict->reason);
    g_variant_dict_insert(&dict, "approvals", "u", verdict->approvals);
    g_variant_dict_insert_value(&dict, "lines", view_lines(trace));
    g_variant_dict_insert_value(&dict, "nearest", view_nearest(account, facts));
    request->reply = g_variant_ref_sink(g_variant_dict_end(&dict));
}

gboolean
explain_ask(Request *request, GError **error)
{
    g_autoptr(Item) item = people_item(request, error);
    g_autofree const char **lent = NULL;
    Facts facts;

    if (item == NULL)
        return FALSE;
    const Account *account = config_account(request->config, item->account);
    if (!judge_has_facts(item)) {
        g_set_error(error, REQUEST_ERROR, REQUEST_CONFLICT,
                    "%s was refused before any rule was asked: %s", item->id, item->reason);
        return FALSE;
    }
    judge_lend(item, &facts, &lent);
    if (!suppose_all(request, &facts, error))
        return FALSE;
    set_reply(request, account, item, &facts);
    return TRUE;
}
