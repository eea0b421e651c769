/* Random policies: the proof against plain counting, and texts that are damaged at random. The
 * seed is that of g_test (--seed repeats a run). */
#include "policy/check.h"
#include "policy/possible.h"
#include "policy/proof.h"
#include "policy/trace.h"

#include <string.h>

enum { POLICIES = 400, MOST = 3, DAMAGES = 4000 };

static guint
pick(guint count)
{
    return g_test_rand_int_range(0, (gint32)count);
}

static void
append_condition(GString *text)
{
    static const char *const counts[] = {"recipients",     "external", "novel",
                                         "external_novel", "known",    "attachments"};
    static const char *const operators[] = {"=", "!=", "<", "<=", ">", ">="};

    if (pick(6) == 0)
        g_string_append(text, pick(2) ? "forward" : "not forward");
    else
        g_string_append_printf(text, "%s %s %u", counts[pick(G_N_ELEMENTS(counts))],
                               operators[pick(G_N_ELEMENTS(operators))], pick(MOST + 1));
}

/* A few rules with a few conditions; constants small enough to be counted through. */
static char *
make_policy(void)
{
    static const char *const tiers[] = {"release", "delay 1h", "draft", "hold", "refuse"};
    GString *text = g_string_new(NULL);

    for (guint rules = 1 + pick(4); rules > 0; rules--) {
        g_string_append_printf(text, "%s \"r\"", tiers[pick(G_N_ELEMENTS(tiers))]);
        for (guint i = 0, conditions = pick(3); i < conditions; i++) {
            g_string_append(text, i == 0 ? " if " : " and ");
            append_condition(text);
        }
        g_string_append(text, pick(8) == 0 ? " unsafe \"u\"\n" : "\n");
    }
    return g_string_free(text, FALSE);
}

/* A message by what is counted in it. */
typedef struct {
    gint64 kinds[4]; /* internal known, internal novel, external known, external novel */
    gint64 attachments;
    gint64 forward;
} Message;

static Facts
facts_of(const Message *message)
{
    const gint64 *kinds = message->kinds;
    Facts facts = {0};

    for (guint i = 0; i < FACT_COUNT; i++)
        facts_set(&facts, i, 0);
    facts_set(&facts, FACT_RECIPIENTS, kinds[0] + kinds[1] + kinds[2] + kinds[3]);
    facts_set(&facts, FACT_EXTERNAL, kinds[2] + kinds[3]);
    facts_set(&facts, FACT_NOVEL, kinds[1] + kinds[3]);
    facts_set(&facts, FACT_EXTERNAL_NOVEL, kinds[3]);
    facts_set(&facts, FACT_KNOWN, kinds[0] + kinds[2]);
    facts_set(&facts, FACT_ATTACHMENTS, message->attachments);
    facts_set(&facts, FACT_FORWARD, message->forward);
    return facts;
}

/* The change that makes a message worse in the n-th way; FALSE when it cannot. */
static gboolean
worsen(Message *message, guint way)
{
    static const struct {
        guint from, to;
    } moves[] = {{0, 1}, {0, 2}, {1, 3}, {2, 3}};

    if (way < G_N_ELEMENTS(moves)) {
        message->kinds[moves[way].to]++;
        return message->kinds[moves[way].from]-- > 0;
    }
    switch (way - G_N_ELEMENTS(moves)) {
    case 0:
        message->kinds[0]++;
        return TRUE;
    case 1:
        message->attachments++;
        return TRUE;
    default:
        return message->forward++ == 0;
    }
}

static gboolean
gets_laxer(const Policy *policy, char **lines, const Message *message)
{
    Facts facts = facts_of(message);
    g_autoptr(Verdict) verdict = policy_judge(policy, &facts, MODE_HYBRID, 0);

    for (guint way = 0; way < 7; way++) {
        Message worse = *message;
        if (!worsen(&worse, way))
            continue;
        Facts more = facts_of(&worse);
        g_autoptr(Verdict) other = policy_judge(policy, &more, MODE_HYBRID, 0);
        gboolean excused = other->line > 0 && strstr(lines[other->line - 1], "unsafe") != NULL;
        if (tier_strictness(other->tier) < tier_strictness(verdict->tier) && !excused)
            return TRUE;
    }
    return FALSE;
}

/* Tries every message that is small enough to matter. */
static gboolean
is_monotone(const Policy *policy, char **lines)
{
    enum { SIDE = MOST + 2 };

    for (guint i = 1; i < SIDE * SIDE * SIDE * SIDE * SIDE * 2; i++) {
        const Message message = {{i % SIDE, i / SIDE % SIDE, i / (SIDE * SIDE) % SIDE,
                                  i / (SIDE * SIDE * SIDE) % SIDE},
                                 i / (SIDE * SIDE * SIDE * SIDE) % SIDE,
                                 i / (SIDE * SIDE * SIDE * SIDE * SIDE)};
        gboolean empty =
            message.kinds[0] + message.kinds[1] + message.kinds[2] + message.kinds[3] == 0;
        if (!empty && gets_laxer(policy, lines, &message))
            return FALSE;
    }
    return TRUE;
}

/* B6: the proof finds a counterexample exactly where there is one. */
static void
test_proof(void)
{
    guint monotone = 0;

    for (guint i = 0; i < POLICIES; i++) {
        g_autofree char *text = make_policy();
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
        g_autoptr(GError) error = NULL;
        g_autoptr(Policy) policy = policy_parse(text, "p", NULL, &error);
        g_assert_no_error(error);
        gboolean proved = proof_monotony(policy, &error);
        monotone += proved;
        if (proved != is_monotone(policy, lines))
            g_test_fail_printf("%s%s", text, proved ? "was proved" : error->message);
    }
    g_test_message("%u of %u are monotone", monotone, POLICIES);
    g_assert_cmpuint(monotone, >, POLICIES / 20);
    g_assert_cmpuint(monotone, <, POLICIES);
}

/* The same for lines that never apply. */
static void
test_unreachable(void)
{
    for (guint i = 0; i < POLICIES; i++) {
        g_autoptr(GString) text = g_string_new(NULL);
        for (guint j = 0; j < 3; j++) {
            g_string_append(text, "hold \"h\" if ");
            append_condition(text);
            g_string_append(text, "\n");
        }
        g_autoptr(Policy) policy = policy_parse(text->str, "p", NULL, NULL);
        g_autoptr(GPtrArray) sentences = proof_unreachable(policy);
        gboolean reached[4] = {FALSE};
        for (guint m = 1; m < 5 * 5 * 5 * 5 * 5 * 2; m++) {
            const Message message = {
                {m % 5, m / 5 % 5, m / 25 % 5, m / 125 % 5}, m / 625 % 5, m / 3125};
            Facts facts = facts_of(&message);
            g_autoptr(Verdict) verdict = policy_judge(policy, &facts, MODE_HYBRID, 0);
            reached[verdict->line] |= facts.values[FACT_RECIPIENTS].number > 0;
        }
        guint unreached = !reached[1] + !reached[2] + !reached[3];
        if (sentences->len != unreached)
            g_test_fail_printf("%s%u, not %u", text->str, sentences->len, unreached);
    }
}

/* XF2: whatever the text, it is read or refused, and if it is read it can be checked, judged
 * by and explained. */
static void
test_damaged(void)
{
    static const char *const names[] = {"draft", "standard", "strict", "one-person"};

    for (guint i = 0; i < DAMAGES; i++) {
        g_autofree char *path =
            g_test_build_filename(G_TEST_DIST, "../contrib/policies", names[i % 4], NULL);
        g_autofree char *text = NULL;
        gsize length;
        g_assert_true(g_file_get_contents(path, &text, &length, NULL));
        for (guint j = pick(4); j > 0; j--)
            text[pick(length)] = (char)(pick(3) ? 32 + pick(95) : pick(256));
        g_autoptr(GError) error = NULL;
        g_autoptr(Policy) policy = policy_parse(text, "p", NULL, &error);
        g_assert_true((policy == NULL) == (error != NULL));
        if (!policy) {
            g_assert_true(g_utf8_validate(error->message, -1, NULL));
            continue;
        }
        const Facts facts = {.subject = "", .text = "Would ten do?", .html = ""};
        g_autoptr(Trace) trace = policy_explain(policy, &facts, MODE_HYBRID, i);
        g_assert_cmpstr(trace->verdict->reason, !=, "");
        g_assert_true((gboolean)check_policy(policy, &error) == (error == NULL));
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/random/proof", test_proof);
    g_test_add_func("/random/unreachable", test_unreachable);
    g_test_add_func("/random/damaged texts", test_damaged);
    return g_test_run();
}
