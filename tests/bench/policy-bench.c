/* How long 500 rules take: to read, to prove, to judge by, in time of the processor. Not part
 * of the tests: numbers of one machine are no findings about another; what should hold is that
 * ten times the rules take ten times as long to judge by. Build with: make
 * tests/bench/policy-bench */
#include "policy/check.h"
#include "policy/proof.h"
#include "policy/verdict.h"

#include <stdio.h>
#include <time.h>

enum { RULES = 500, ROUNDS = 20000 };

/* Rules as an admin would have many of: an amount here, a number there, none redundant. The
 * message of main() comes to the last of them. */
static char *
make_policy(guint rules)
{
    GString *text = g_string_new(NULL);

    for (guint i = 1; i < rules; i++)
        g_string_append_printf(text,
                               "hold \"rule %u\" if size > %uK and attachments >= %u and "
                               "external >= %u and not mine\n",
                               i, 4 * (rules - i) + 10, i / 20 + 1, i % 20 + 1);
    g_string_append(text, "release \"rest\" if novel = 0\n");
    return g_string_free(text, FALSE);
}

/* In microseconds. */
static double
read_clock(void)
{
    return (double)clock() / CLOCKS_PER_SEC * 1e6;
}

static double
measure_judging(const Policy *policy, const Facts *facts)
{
    double begun = read_clock();

    for (guint i = 0; i < ROUNDS; i++) {
        g_autoptr(Verdict) verdict = policy_judge(policy, facts, MODE_HYBRID, i);
        g_assert_true(verdict->tier == TIER_RELEASE);
    }
    return (read_clock() - begun) / ROUNDS;
}

static void
measure(guint rules, const Facts *facts)
{
    g_autofree char *text = make_policy(rules);
    g_autoptr(GError) error = NULL;
    double begun = read_clock();
    g_autoptr(Policy) policy = policy_parse(text, "bench", NULL, &error);
    double parsed = read_clock();

    g_assert_no_error(error);
    gboolean proved = proof_monotony(policy, &error);
    double done = read_clock();
    printf("%3u rules: read in %.1f ms, %s in %.1f ms, judged in %.2f us\n", rules,
           (parsed - begun) / 1000, proved ? "proved" : "not proved", (done - parsed) / 1000,
           measure_judging(policy, facts));
}

int
main(void)
{
    Facts facts = {.subject = "", .text = "", .html = ""};

    for (guint i = 0; i < FACT_COUNT; i++)
        facts_set(&facts, i, 0);
    /* Every condition but the last of each line holds, the worst case. */
    facts_set(&facts, FACT_SIZE, G_MAXINT32);
    facts_set(&facts, FACT_ATTACHMENTS, RULES);
    facts_set(&facts, FACT_EXTERNAL, RULES);
    facts_set(&facts, FACT_MINE, 1);
    for (guint rules = RULES / 100; rules <= RULES; rules *= 10)
        measure(rules, &facts);
    return 0;
}
