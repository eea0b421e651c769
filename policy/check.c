#include "policy/check.h"

#include "policy/possible.h"
#include "policy/proof.h"
#include "policy/rules-private.h"
#include "policy/verdict.h"

/* In no list, for a top-level domain that cannot exist (RFC 2606). */
#define SOMEBODY "somebody@invalid"

static gboolean
fail(const Line *line, const char *found, const char *expected, GError **error)
{
    g_set_error(error, POLICY_ERROR, POLICY_ERROR_EXPECTATION, "%s:%u: found %s, expected %s",
                line->file, line->line, found, expected);
    return FALSE;
}

/* The quietest message with the facts that the line supposes: one known internal recipient,
 * no conversation, nothing else, and more only as far as the line makes it so. */
static gboolean
suppose_facts(const Line *line, Facts *facts, GError **error)
{
    const Step none = {0};
    Range ranges[FACT_COUNT];
    gint64 values[FACT_COUNT];

    for (guint i = 0; i < FACT_COUNT; i++)
        ranges[i] = possible_range(i);
    for (guint i = 0; i < line->conditions->len; i++) {
        const Condition *condition = line_condition(line, i);
        if (condition->kind == CONDITION_FACT)
            ranges[condition->fact] = (Range){condition->number, condition->number};
    }
    if (!possible_pick(ranges, &none, values))
        return fail(line, "facts that cannot occur together",
                    "those of a message, see exeat-policy(5)", error);
    for (guint i = 0; i < FACT_COUNT; i++)
        facts_set(facts, i, values[i]);
    return TRUE;
}

/* recipients: gets the addresses, room for one more than there are conditions. */
static void
suppose_words(const Line *line, Facts *facts, const char **recipients)
{
    guint count = 0;

    for (guint i = 0; i < line->conditions->len; i++) {
        const Condition *condition = line_condition(line, i);
        if (condition->kind == CONDITION_DECLARED)
            g_strlcpy(facts->declared, condition->class, sizeof facts->declared);
        else if (condition->kind == CONDITION_SUBJECT)
            facts->subject = condition->class;
        else if (condition->kind == CONDITION_TEXT)
            facts->text = condition->class;
        else if (condition->kind == CONDITION_ANY_RECIPIENT)
            recipients[count++] = condition->class;
    }
    if (count == 0)
        recipients[count++] = SOMEBODY;
    facts->recipients = recipients;
}

static gboolean
check_expectation(const Policy *policy, const Line *line, GError **error)
{
    g_autofree const char **recipients = g_new0(const char *, line->conditions->len + 2);
    Facts facts = {.subject = "", .text = "", .html = ""};

    if (!suppose_facts(line, &facts, error))
        return FALSE;
    suppose_words(line, &facts, recipients);
    g_autoptr(Verdict) verdict = policy_judge(policy, &facts, MODE_HYBRID, 0);
    if (verdict->tier == line->tier)
        return TRUE;
    g_autofree char *place =
        verdict->line > 0 ? g_strdup_printf("line %u: ", verdict->line) : g_strdup("");
    g_autofree char *found =
        g_strdup_printf("%s (%s%s)", tier_name(verdict->tier), place, verdict->reason);
    return fail(line, found, tier_name(line->tier), error);
}

gboolean
check_expectations(const Policy *policy, guint *passed_out, GError **error)
{
    const GPtrArray *lines = policy->kind[LINE_EXPECT];

    for (guint i = 0; i < lines->len; i++)
        if (!check_expectation(policy, g_ptr_array_index(lines, i), error))
            return FALSE;
    if (passed_out)
        *passed_out = lines->len;
    return TRUE;
}

gboolean
check_policy(const Policy *policy, GError **error)
{
    return check_expectations(policy, NULL, error) && proof_monotony(policy, error);
}

static const Condition *
find_claim(const Line *line)
{
    for (guint i = 0; i < line->conditions->len; i++)
        if (condition_is_claim(line_condition(line, i)))
            return line_condition(line, i);
    return NULL;
}

GPtrArray *
check_claims(const Policy *policy)
{
    GPtrArray *sentences = g_ptr_array_new_with_free_func(g_free);

    for (guint i = 0; i < policy->lines->len; i++) {
        const Line *line = g_ptr_array_index(policy->lines, i);
        const Condition *claim = line->kind == LINE_EXPECT ? NULL : find_claim(line);
        if (claim)
            g_ptr_array_add(sentences,
                            g_strdup_printf("%s:%u: “%s” rests on the agent's own words",
                                            line->file, line->line, claim->text));
    }
    return sentences;
}
