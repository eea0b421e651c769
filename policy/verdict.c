#include "policy/verdict.h"

#include "policy/rules-private.h"

void
verdict_free(Verdict *verdict)
{
    g_free(verdict->reason);
    g_free(verdict);
}

Tier
tier_stricter(Tier a, Tier b)
{
    return tier_strictness(a) >= tier_strictness(b) ? a : b;
}

static gboolean
is_stricter(Tier a, Tier b)
{
    return tier_strictness(a) > tier_strictness(b);
}

static Truth
ask_line(const Line *line, const Facts *facts)
{
    Truth truth = TRUTH_YES;

    for (guint i = 0; i < line->conditions->len && truth != TRUTH_NO; i++)
        truth = MIN(truth, condition_ask(line_condition(line, i), facts));
    return truth;
}

/* The first line that applies; NULL when none does, which holds. A line that may apply, for
 * all we know, does not end the search: it decides if it is stricter than what the search
 * comes to. So the verdict is the strictest of all that the unknown facts could lead to, and
 * not knowing never pays (B9). automatic_out: one of these would let the message go without a
 * person. */
static const Line *
find_rule(const Policy *policy, const Facts *facts, gboolean *automatic_out)
{
    const GPtrArray *rules = policy->kind[LINE_RULE];
    const Line *strictest = NULL;
    Truth truth = TRUTH_NO;

    *automatic_out = FALSE;
    for (guint i = 0; i < rules->len && truth != TRUTH_YES; i++) {
        const Line *rule = g_ptr_array_index(rules, i);
        truth = ask_line(rule, facts);
        if (truth == TRUTH_NO)
            continue;
        *automatic_out |= is_stricter(TIER_DRAFT, rule->tier);
        if (!strictest || is_stricter(rule->tier, strictest->tier))
            strictest = rule;
    }
    if (truth != TRUTH_YES && strictest && is_stricter(TIER_HOLD, strictest->tier))
        return NULL;
    return strictest;
}

/* Of the lines of one kind that apply or may apply, the strictest; NULL when there is none.
 * For lines that tighten only. */
static const Line *
find_strictest(const Policy *policy, LineKind kind, const Facts *facts)
{
    const GPtrArray *lines = policy->kind[kind];
    const Line *strictest = NULL;

    for (guint i = 0; i < lines->len; i++) {
        const Line *line = g_ptr_array_index(lines, i);
        if (ask_line(line, facts) != TRUTH_NO &&
            (!strictest || is_stricter(line->tier, strictest->tier)))
            strictest = line;
    }
    return strictest;
}

static guint
count_approvals(const Policy *policy, const Facts *facts)
{
    const GPtrArray *lines = policy->kind[LINE_APPROVALS];
    guint approvals = 1;

    for (guint i = 0; i < lines->len; i++) {
        const Line *line = g_ptr_array_index(lines, i);
        if (line->approvals > approvals && ask_line(line, facts) != TRUTH_NO)
            approvals = line->approvals;
    }
    return approvals;
}

static char *
explain_limit(const Line *limit, const Facts *facts)
{
    const Condition *condition = line_condition(limit, 0);
    const char *how = condition_ask(condition, facts) == TRUTH_UNKNOWN ? "cannot be checked"
                      : condition->operator== OPERATOR_MORE            ? "exceeded"
                                                                       : "reached";

    return g_strdup_printf("%s %s", limit->reason, how);
}

/* Takes the reason. line: NULL when none decided. */
static void
decide(Verdict *verdict, Tier tier, const Line *line, char *reason)
{
    g_free(verdict->reason);
    *verdict = (Verdict){.tier = tier,
                         .line = line ? line->line : 0,
                         .file = line ? line->file : NULL,
                         .reason = reason,
                         .approvals = verdict->approvals};
}

static void
decide_by_rule(Verdict *verdict, const Line *rule, guint64 dice)
{
    decide(verdict, rule->tier, rule, g_strdup(rule->reason));
    if (rule->tier == TIER_DELAY)
        verdict->wait = rule->wait_min + dice % (rule->wait_max - rule->wait_min + 1);
}

/* What a message that would go by itself must pass besides. */
static void
tighten_automatic(Verdict *verdict, const Policy *policy, const Facts *facts)
{
    const Line *limit = find_strictest(policy, LINE_LIMIT, facts);
    const Line *never = find_strictest(policy, LINE_NEVER, facts);

    if (limit && is_stricter(limit->tier, verdict->tier))
        decide(verdict, limit->tier, limit, explain_limit(limit, facts));
    if (never && is_stricter(never->tier, verdict->tier))
        decide(verdict, never->tier, never, g_strdup(never->reason));
}

/* What was handed back to the human, or may have been, goes by no rule, whatever the rules say
 * (B5, B9). */
static void
tighten_locked(Verdict *verdict, const Facts *facts)
{
    const FactValue *locked = &facts->values[FACT_LOCKED];

    if ((!locked->known || locked->number != 0) && is_stricter(TIER_DRAFT, verdict->tier))
        decide(verdict, TIER_DRAFT, NULL, g_strdup("handed back to the human"));
}

static void
tighten_by_mode(Verdict *verdict, Mode mode)
{
    if (mode != MODE_HYBRID && verdict->tier != TIER_REFUSE)
        decide(verdict, mode == MODE_REVIEW ? TIER_HOLD : TIER_DRAFT, NULL,
               g_strdup_printf("mode is %s", mode_name(mode)));
}

/* The stricter of both, and the higher number of people. */
static Verdict *
join(Verdict *verdict, Verdict *floor)
{
    g_autoptr(Verdict) a = verdict, b = floor;
    guint approvals = MAX(a->approvals, b->approvals);
    gboolean is_longer = a->tier == b->tier && b->wait > a->wait;

    Verdict *stricter =
        is_stricter(b->tier, a->tier) || is_longer ? g_steal_pointer(&b) : g_steal_pointer(&a);
    stricter->approvals = approvals;
    return stricter;
}

Verdict *
policy_judge(const Policy *policy, const Facts *facts, Mode mode, guint64 dice)
{
    Verdict *verdict = g_new0(Verdict, 1);
    gboolean automatic;
    const Line *rule = find_rule(policy, facts, &automatic);
    const Line *claim = find_strictest(policy, LINE_CLAIM, facts);

    verdict->approvals = count_approvals(policy, facts);
    if (rule)
        decide_by_rule(verdict, rule, dice);
    else
        decide(verdict, TIER_HOLD, NULL, g_strdup("no rule applies"));
    if (automatic)
        tighten_automatic(verdict, policy, facts);
    tighten_locked(verdict, facts);
    tighten_by_mode(verdict, mode);
    if (claim && is_stricter(claim->tier, verdict->tier))
        decide_by_rule(verdict, claim, dice);
    return policy->floor ? join(verdict, policy_judge(policy->floor, facts, mode, dice))
                         : verdict;
}
