#include "policy/rules-private.h"

#include <string.h>

G_DEFINE_QUARK(exeat - policy - error, policy_error)

static const struct {
    const char *name;
    guint strictness;
} tiers[] = {
    [TIER_RELEASE] = {"release", 0}, [TIER_DELAY] = {"delay", 1},
    [TIER_DRAFT] = {"draft", 2},     [TIER_HOLD] = {"hold", 3},
    [TIER_REFUSE] = {"refuse", 4},
};

static const char *const modes[] = {
    [MODE_DRAFT] = "draft",
    [MODE_REVIEW] = "review",
    [MODE_HYBRID] = "hybrid",
};

guint
tier_strictness(Tier tier)
{
    return tiers[tier].strictness;
}

const char *
tier_name(Tier tier)
{
    return tiers[tier].name;
}

gboolean
tier_find(const char *name, Tier *tier_out)
{
    for (guint i = 0; i < G_N_ELEMENTS(tiers); i++) {
        if (strcmp(tiers[i].name, name) == 0) {
            *tier_out = i;
            return TRUE;
        }
    }
    return FALSE;
}

const char *
mode_name(Mode mode)
{
    return modes[mode];
}

gboolean
mode_find(const char *name, Mode *mode_out)
{
    for (guint i = 0; i < G_N_ELEMENTS(modes); i++) {
        if (strcmp(modes[i], name) == 0) {
            *mode_out = i;
            return TRUE;
        }
    }
    return FALSE;
}

static void
clear_condition(gpointer data)
{
    Condition *condition = data;

    g_free(condition->declared);
}

Rule *
rule_new(guint line)
{
    Rule *rule = g_new0(Rule, 1);

    rule->line = line;
    rule->conditions = g_array_new(FALSE, FALSE, sizeof(Condition));
    g_array_set_clear_func(rule->conditions, clear_condition);
    return rule;
}

void
rule_free(Rule *rule)
{
    g_free(rule->reason);
    g_array_unref(rule->conditions);
    g_free(rule);
}

void
limit_free(Limit *limit)
{
    g_free(limit->text);
    g_free(limit);
}

Policy *
policy_new(const char *text)
{
    Policy *policy = g_new0(Policy, 1);

    g_atomic_ref_count_init(&policy->references);
    policy->version = g_compute_checksum_for_string(G_CHECKSUM_SHA256, text, -1);
    policy->rules = g_ptr_array_new_with_free_func((GDestroyNotify)rule_free);
    policy->claims = g_ptr_array_new_with_free_func((GDestroyNotify)rule_free);
    policy->limits = g_ptr_array_new_with_free_func((GDestroyNotify)limit_free);
    return policy;
}

Policy *
policy_ref(Policy *policy)
{
    g_atomic_ref_count_inc(&policy->references);
    return policy;
}

void
policy_unref(Policy *policy)
{
    if (!g_atomic_ref_count_dec(&policy->references))
        return;
    g_free(policy->version);
    g_ptr_array_unref(policy->rules);
    g_ptr_array_unref(policy->claims);
    g_ptr_array_unref(policy->limits);
    g_free(policy);
}

const char *
policy_version(const Policy *policy)
{
    return policy->version;
}
