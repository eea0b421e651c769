/* What is said of a policy that can be read: ten mistakes and how to mend them, expectations,
 * lines that never apply, lines that rest on the agent's words, and the table of classes. */
#include "policy/check.h"

#include <string.h>

#include "policy/classes.h"
#include "policy/proof.h"

static Policy *
read_policy(const char *text)
{
    g_autoptr(GError) error = NULL;
    Policy *policy = policy_parse(text, "p", NULL, &error);

    g_assert_no_error(error);
    return policy;
}

/* Each message names the place and the mend. */
static const struct {
    const char *mistake, *text, *message;
} mistakes[] = {
    {"a fact misspelt", "hold \"h\" if extrenal > 0",
     "p:1:13: found ‘extrenal’, expected a fact (did you mean ‘external’?)"},
    {"an or", "hold \"h\" if locked or pending",
     "p:1:20: found ‘or’, expected ‘and’, ‘unsafe’ or the end of the line"},
    {"no reason", "hold if locked", "p:1:6: found ‘if’, expected a reason in double quotes"},
    {"a number without its comparison", "hold \"h\" if external",
     "p:1:21: found the end of the line, expected one of =, !=, <, <=, >, >="},
    {"a yes/no fact compared", "hold \"h\" if forward = yes",
     "p:1:21: found ‘=’, expected ‘and’, ‘unsafe’ or the end of the line"},
    {"a delay without a unit", "delay 2-6 \"d\"",
     "p:1:7: found ‘2-6’, expected a time from 1s to 30d, such as 3h or 2h-6h"},
    {"a release by the agent's word (C1)", "release \"r\" if declared = question",
     "p:1:16: found ‘declared’, expected a fact: what an agent declares or writes may only "
     "make "
     "a verdict stricter"},
    {"one more recipient forgotten (B6)", "hold \"h\" if external = 1\nrelease \"r\"",
     "p:2: found release (line 2) for external=2, expected nothing laxer than hold (line 1) "
     "for "
     "external=1, which is less risk; if it is meant, end the line with unsafe \"reason\""},
    {"the lines in the wrong order",
     "release \"r\"\nhold \"h\" if opaque\nexpect hold when opaque",
     "p:3: found release (line 1: r), expected hold"},
    {"an expectation that cannot be",
     "hold \"h\"\nexpect hold when novel = 2 and recipients = 1",
     "p:2: found facts that cannot occur together, expected those of a message"},
};

static void
test_mistakes(void)
{
    g_assert_cmpuint(G_N_ELEMENTS(mistakes), ==, 10);
    for (guint i = 0; i < G_N_ELEMENTS(mistakes); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(Policy) policy = policy_parse(mistakes[i].text, "p", NULL, &error);
        if (policy && check_policy(policy, &error))
            g_test_fail_printf("%s was taken", mistakes[i].mistake);
        else if (!strstr(error->message, mistakes[i].message))
            g_test_fail_printf("%s: %s", mistakes[i].mistake, error->message);
    }
}

/* A policy that holds only what a line says is met by exactly one expectation: what is
 * supposed besides is the quietest message there is. */
static void
test_suppositions(void)
{
    static const struct {
        const char *condition, *supposed;
    } rows[] = {
        {"recipients != 1", NULL},
        {"external > 0", NULL},
        {"size > 0", NULL},
        {"mine", NULL},
        {"in_thread", "mine"},
        {"external = 1 and novel = 1 and recipients = 1", "external_novel = 1"},
        {"recipients = 5 and known = 5", "recipients = 5"},
        {"recipients = 3 and known = 1 and external = 0", "recipients = 3 and novel = 2"},
        {"fanout_day = 4", "recipients = 4"},
        {"attachments = 1", "attachment_bytes = 2K"},
        {"sent_day = 7", "sent_hour = 7"},
        {"not forward and lookalike = 0", "recipients = 1"},
        {"declared = \"a b\"", "declared = \"A B\""},
        {"subject contains \"x\"", "subject = \"axb\""},
        {"text matches /^x/", "text = \"xyz\""},
        {"text contains \"x\"", NULL},
        {"declared = x", NULL},
    };

    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *text = g_strdup_printf(
            "draft \"d\"\nhold \"h\" if %s\nexpect %s%s%s\n", rows[i].condition,
            rows[i].supposed ? "hold" : "draft", rows[i].supposed ? " when " : "",
            rows[i].supposed ? rows[i].supposed : "");
        /* Lines about facts decide in their order, lines about words after all others. */
        g_auto(GStrv) lines = g_strsplit(text, "\n", 4);
        g_autofree char *ordered = g_strjoin("\n", lines[1], lines[0], lines[2], NULL);
        g_autoptr(Policy) policy = read_policy(ordered);
        g_autoptr(GError) error = NULL;
        guint passed = 0;
        if (!check_expectations(policy, &passed, &error))
            g_test_fail_printf("%s", error->message);
        else
            g_assert_cmpuint(passed, ==, 1);
    }
}

/* Whether a sentence about that line is among them. */
static gboolean
is_named(const GPtrArray *sentences, guint line)
{
    g_autofree char *start = g_strdup_printf("p:%u: ", line);

    for (guint i = 0; i < sentences->len; i++)
        if (g_str_has_prefix(g_ptr_array_index(sentences, i), start))
            return TRUE;
    return FALSE;
}

static void
test_unreachable(void)
{
    static const gboolean never[] = {FALSE, TRUE, TRUE, FALSE, TRUE, FALSE, TRUE, FALSE, TRUE};
    g_autoptr(Policy) policy = read_policy("hold \"1\" if external > 0\n"
                                           "hold \"2\" if external_novel > 0\n"
                                           "hold \"3\" if novel > 2 and recipients < 2\n"
                                           "draft \"4\" if mine\n"
                                           "hold \"5\" if declared = x and size < 0\n"
                                           "hold \"6\" if declared = x\n"
                                           "never automatic if mine and not in_thread\n"
                                           "release \"8\"\n"
                                           "hold \"9\" if locked\n");
    g_autoptr(GPtrArray) sentences = proof_unreachable(policy);

    for (guint i = 0; i < G_N_ELEMENTS(never); i++)
        if (is_named(sentences, i + 1) != never[i])
            g_test_fail_printf("line %u", i + 1);
}

static void
test_claims(void)
{
    g_autoptr(Policy) policy = read_policy("hold \"1\" if external > 0\n"
                                           "hold \"2\" if declared = x\n"
                                           "never automatic if text contains \"y\"\n"
                                           "approvals 2 if locked and subject matches /z/\n"
                                           "expect hold when declared = x\n");
    g_autoptr(GPtrArray) sentences = check_claims(policy);

    g_assert_cmpuint(sentences->len, ==, 3);
    g_assert_true(is_named(sentences, 2) && is_named(sentences, 3) && is_named(sentences, 4));
}

/* B24, B25, D22: one row a line, and whom its messages may reach. */
static void
test_classes(void)
{
    static const struct {
        guint line;
        Tier tier;
        const char *conditions;
        gboolean applies, outside, stranger;
    } rows[] = {{1, TIER_HOLD, "external_novel > 0", TRUE, TRUE, TRUE},
                {3, TIER_RELEASE, "external = 0 and novel = 0", TRUE, FALSE, FALSE},
                {4, TIER_DELAY, "novel = 0", TRUE, TRUE, FALSE},
                {5, TIER_DRAFT, "external = 0", TRUE, FALSE, TRUE},
                {6, TIER_DRAFT, "external = 0 and mine", FALSE, FALSE, FALSE},
                {0, TIER_HOLD, "", TRUE, TRUE, TRUE},
                {2, TIER_HOLD, "declared = x", TRUE, TRUE, TRUE}};
    g_autoptr(Policy) policy = read_policy("hold \"1\" if external_novel > 0\n"
                                           "hold \"2\" if declared = x\n"
                                           "release \"3\" if external = 0 and novel = 0\n"
                                           "delay 1h \"4\" if novel = 0\n"
                                           "draft \"5\" if external = 0\n"
                                           "draft \"6\" if external = 0 and mine\n");
    g_autoptr(GPtrArray) classes = policy_classes(policy);

    g_assert_cmpuint(classes->len, ==, G_N_ELEMENTS(rows));
    for (guint i = 0; i < classes->len; i++) {
        const PolicyClass *class = g_ptr_array_index(classes, i);
        g_test_message("row %u", i);
        g_assert_cmpuint(class->line, ==, rows[i].line);
        g_assert_cmpint(class->tier, ==, rows[i].tier);
        g_assert_cmpstr(class->conditions, ==, rows[i].conditions);
        g_assert_cmpint(class->applies, ==, rows[i].applies);
        g_assert_cmpint(class->outside, ==, rows[i].outside);
        g_assert_cmpint(class->stranger, ==, rows[i].stranger);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/check/ten mistakes", test_mistakes);
    g_test_add_func("/check/suppositions", test_suppositions);
    g_test_add_func("/check/unreachable", test_unreachable);
    g_test_add_func("/check/claims", test_claims);
    g_test_add_func("/check/classes (B24, B25)", test_classes);
    return g_test_run();
}
