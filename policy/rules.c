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
    condition_clear(data);
}

Line *
line_new(LineKind kind, const char *file, guint number)
{
    Line *line = g_new0(Line, 1);

    line->kind = kind;
    line->file = file;
    line->line = number;
    line->conditions = g_array_new(FALSE, FALSE, sizeof(Condition));
    g_array_set_clear_func(line->conditions, clear_condition);
    return line;
}

void
line_free(Line *line)
{
    g_free(line->reason);
    g_free(line->unsafe);
    g_array_unref(line->conditions);
    g_free(line);
}

Policy *
policy_new(const char *name)
{
    Policy *policy = g_new0(Policy, 1);

    g_atomic_ref_count_init(&policy->references);
    policy->files = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_add(policy->files, g_strdup(name));
    policy->lines = g_ptr_array_new_with_free_func((GDestroyNotify)line_free);
    for (guint i = 0; i < LINE_KINDS; i++)
        policy->kind[i] = g_ptr_array_new();
    return policy;
}

void
policy_add(Policy *policy, Line *line)
{
    g_ptr_array_add(policy->lines, line);
    g_ptr_array_add(policy->kind[line->kind], line);
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
    g_clear_pointer(&policy->floor, policy_unref);
    g_ptr_array_unref(policy->files);
    g_ptr_array_unref(policy->lines);
    for (guint i = 0; i < LINE_KINDS; i++)
        g_ptr_array_unref(policy->kind[i]);
    g_free(policy);
}

void
policy_set_floor(Policy *policy, Policy *floor)
{
    g_autofree char *versions = g_strconcat(policy->version, floor->version, NULL);

    g_assert(!policy->floor);
    policy->floor = policy_ref(floor);
    g_free(policy->version);
    policy->version = g_compute_checksum_for_string(G_CHECKSUM_SHA256, versions, -1);
}

const char *
policy_name(const Policy *policy)
{
    return g_ptr_array_index(policy->files, 0);
}

gboolean
policy_holds_all(const Policy *policy)
{
    const GPtrArray *rules = policy->kind[LINE_RULE];

    for (guint i = 0; i < rules->len; i++) {
        const Line *rule = g_ptr_array_index(rules, i);

        if (tier_strictness(rule->tier) < tier_strictness(TIER_HOLD))
            return policy->floor && policy_holds_all(policy->floor);
    }
    return TRUE;
}

const char *
policy_version(const Policy *policy)
{
    return policy->version;
}
