#include "policy/verdict.h"

#include "policy/rules-private.h"

/* In this order the least of several answers is their "and". */
typedef enum { ANSWER_NO, ANSWER_UNKNOWN, ANSWER_YES } Answer;

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

static gboolean
compare(gint64 value, Operator operator, gint64 number)
{
    switch (operator) {
    case OPERATOR_EQUAL:
        return value == number;
    case OPERATOR_UNEQUAL:
        return value != number;
    case OPERATOR_LESS:
        return value < number;
    case OPERATOR_AT_MOST:
        return value <= number;
    case OPERATOR_MORE:
        return value > number;
    case OPERATOR_AT_LEAST:
        return value >= number;
    }
    g_assert_not_reached();
}

static Answer
ask_condition(const Condition *condition, const Facts *facts)
{
    FactValue value = facts->values[condition->fact];
    gboolean holds;

    if (condition->declared)
        holds = g_ascii_strcasecmp(condition->declared, facts->declared) == 0;
    else if (value.known)
        holds = compare(value.number, condition->operator, condition->number);
    else
        return ANSWER_UNKNOWN;
    return holds ? ANSWER_YES : ANSWER_NO;
}

static Answer
ask_rule(const Rule *rule, const Facts *facts)
{
    Answer answer = ANSWER_YES;

    for (guint i = 0; i < rule->conditions->len; i++)
        answer =
            MIN(answer, ask_condition(&g_array_index(rule->conditions, Condition, i), facts));
    return answer;
}

/* The first line that applies; NULL when none does, which holds. A line that may apply, for
 * all we know, does not end the search: it decides if it is stricter than what the search
 * comes to. So the verdict is the strictest of all that the unknown facts could lead to, and
 * not knowing never pays (B9). automatic_out: one of these would let the message go without a
 * person. */
static const Rule *
find_rule(const Policy *policy, const Facts *facts, gboolean *automatic_out)
{
    const Rule *strictest = NULL;
    Answer answer = ANSWER_NO;

    *automatic_out = FALSE;
    for (guint i = 0; i < policy->rules->len && answer != ANSWER_YES; i++) {
        const Rule *rule = g_ptr_array_index(policy->rules, i);
        answer = ask_rule(rule, facts);
        if (answer == ANSWER_NO)
            continue;
        *automatic_out |= is_stricter(TIER_DRAFT, rule->tier);
        if (!strictest || is_stricter(rule->tier, strictest->tier))
            strictest = rule;
    }
    if (answer != ANSWER_YES && strictest && is_stricter(TIER_HOLD, strictest->tier))
        return NULL;
    return strictest;
}

/* The strictest line about the declared class that applies; NULL when none does. All of them
 * draft, hold or refuse, so one that may apply counts. */
static const Rule *
find_claim(const Policy *policy, const Facts *facts)
{
    const Rule *strictest = NULL;

    for (guint i = 0; i < policy->claims->len; i++) {
        const Rule *rule = g_ptr_array_index(policy->claims, i);
        if (ask_rule(rule, facts) != ANSWER_NO &&
            (!strictest || is_stricter(rule->tier, strictest->tier)))
            strictest = rule;
    }
    return strictest;
}

/* How a limit was met; NULL when it leaves room. The sends of the past are counted without
 * this one, the recipients of the day with its own (XB14). */
static const char *
meet_limit(const Limit *limit, const Facts *facts)
{
    FactValue value = facts->values[limit->fact];

    if (!value.known)
        return "cannot be checked";
    if (limit->fact == FACT_FANOUT_DAY)
        return value.number > limit->number ? "exceeded" : NULL;
    return value.number >= limit->number ? "reached" : NULL;
}

static const Limit *
find_limit(const Policy *policy, const Facts *facts)
{
    const Limit *strictest = NULL;

    for (guint i = 0; i < policy->limits->len; i++) {
        const Limit *limit = g_ptr_array_index(policy->limits, i);
        if (meet_limit(limit, facts) &&
            (!strictest || is_stricter(limit->tier, strictest->tier)))
            strictest = limit;
    }
    return strictest;
}

/* Takes the reason. */
static void
decide(Verdict *verdict, Tier tier, guint line, char *reason)
{
    g_free(verdict->reason);
    *verdict = (Verdict){.tier = tier, .line = line, .reason = reason};
}

static void
decide_by_rule(Verdict *verdict, const Rule *rule, guint64 dice)
{
    decide(verdict, rule->tier, rule->line, g_strdup(rule->reason));
    if (rule->tier == TIER_DELAY)
        verdict->wait = rule->wait_min + dice % (rule->wait_max - rule->wait_min + 1);
}

Verdict *
policy_judge(const Policy *policy, const Facts *facts, Mode mode, guint64 dice)
{
    Verdict *verdict = g_new0(Verdict, 1);

    gboolean automatic;
    const Rule *rule = find_rule(policy, facts, &automatic);
    if (rule)
        decide_by_rule(verdict, rule, dice);
    else
        decide(verdict, TIER_HOLD, 0, g_strdup("no rule applies"));

    const Limit *limit = automatic ? find_limit(policy, facts) : NULL;
    if (limit && is_stricter(limit->tier, verdict->tier))
        decide(verdict, limit->tier, limit->line,
               g_strdup_printf("%s %s", limit->text, meet_limit(limit, facts)));

    if (mode != MODE_HYBRID && verdict->tier != TIER_REFUSE)
        decide(verdict, mode == MODE_REVIEW ? TIER_HOLD : TIER_DRAFT, 0,
               g_strdup_printf("mode is %s", mode_name(mode)));

    const Rule *claim = find_claim(policy, facts);
    if (claim && is_stricter(claim->tier, verdict->tier))
        decide_by_rule(verdict, claim, dice);
    return verdict;
}
