/* Conditions about the subject and the text, never automatic, approvals, and the trace. */
#include "policy/check.h"
#include "policy/trace.h"

#include <string.h>

static Policy *
read_policy(const char *text)
{
    g_autoptr(GError) error = NULL;
    Policy *policy = policy_parse(text, "p", NULL, &error);

    g_assert_no_error(error);
    return policy;
}

#define LINE(condition) "release \"r\"\nhold \"h\" if " condition

static const struct {
    const char *name, *text, *subject, *plain, *html;
    Tier tier;
} judged[] = {
    {"contains", LINE("subject contains \"offer\""), "Our OFFER", "", "", TIER_HOLD},
    {"contains not", LINE("subject contains \"offer\""), "Our off er", "offer", "offer",
     TIER_RELEASE},
    {"contains no pattern", LINE("subject contains \"a.c\""), "abc", "", "", TIER_RELEASE},
    {"contains beyond ASCII", LINE("subject contains \"MÜNCHEN\""), "münchen", "", "",
     TIER_HOLD},
    {"text", LINE("text contains \"iban\""), "", "My IBAN is", "", TIER_HOLD},
    {"text in the HTML (XD1)", LINE("text contains \"iban\""), "", "Hello", "My IBAN is",
     TIER_HOLD},
    {"text is not the subject", LINE("text contains \"iban\""), "iban", "", "", TIER_RELEASE},
    {"matches", LINE("text matches /^total: [0-9]+$/"), "", "Sum\ntotal: 12\nbye", "",
     TIER_HOLD},
    {"matches letters as they are", LINE("text matches /total/"), "", "Total", "",
     TIER_RELEASE},
    {"matches any letters", LINE("text matches /total/i"), "", "Total", "", TIER_HOLD},
    {"a slash in a pattern", LINE("text matches /a\\/b/"), "", "a/b", "", TIER_HOLD},
    {"a backslash at its end", LINE("text matches /a\\\\/"), "", "a\\", "", TIER_HOLD},
    {"unknown subject (B9)", LINE("subject contains \"x\""), NULL, "", "", TIER_HOLD},
    {"unknown HTML (B9)", LINE("text contains \"x\""), "", "", NULL, TIER_HOLD},
    {"no text (B9)", LINE("text contains \"x\""), "", "\xff", "", TIER_HOLD},
    {"and a fact", LINE("text contains \"x\" and novel > 0"), "", "x", "", TIER_RELEASE},
    {"words never loosen (C3)", "draft \"d\" if subject contains \"harmless\"\nhold \"h\"",
     "harmless", "", "", TIER_HOLD},
    {"never automatic", "release \"r\"\nnever automatic if text contains \"x\"", "", "x", "",
     TIER_HOLD},
    {"never, but a draft", "draft \"d\"\nnever automatic", "", "", "", TIER_DRAFT},
    {"never does not apply", "release \"r\"\nnever automatic if forward", "", "", "",
     TIER_RELEASE},
    {"never, all (B3)", "delay 1h \"r\"\nnever automatic", "", "", "", TIER_HOLD},
    {"never, unknown (B9)", "release \"r\"\nnever automatic if lookalike > 0", "", "", "",
     TIER_HOLD},
};

static void
test_judged(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(judged); i++) {
        g_autoptr(Policy) policy = read_policy(judged[i].text);
        Facts facts = {
            .subject = judged[i].subject, .text = judged[i].plain, .html = judged[i].html};
        facts_set(&facts, FACT_NOVEL, 0);
        facts_set(&facts, FACT_FORWARD, 0);
        facts_set(&facts, FACT_LOCKED, 0);
        g_autoptr(Verdict) verdict = policy_judge(policy, &facts, MODE_HYBRID, 0);
        if (verdict->tier != judged[i].tier)
            g_test_fail_printf("%s: %s (%s)", judged[i].name, tier_name(verdict->tier),
                               verdict->reason);
    }
}

/* Text behind the first 64 KiB is unknown, and so is what takes too long to look for: a
 * careless pattern stops nobody's mail but this. */
static void
test_bounds(void)
{
    g_autofree char *at_end = g_strnfill(CONDITION_TEXT_MAX, 'a');
    g_autofree char *longer = g_strnfill(CONDITION_TEXT_MAX + 1, 'a');
    g_autoptr(Policy) simple = read_policy(LINE("text contains \"b\""));
    g_autoptr(Policy) careless = read_policy(LINE("text matches /(a+)+[bd]/"));
    const struct {
        const Policy *policy;
        const char *text;
        Tier tier;
    } rows[] = {{simple, at_end, TIER_RELEASE},
                {simple, longer, TIER_HOLD},
                {careless, "ccab", TIER_HOLD},
                {careless, "aac", TIER_RELEASE},
                {careless, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac", TIER_HOLD},
                {careless, longer, TIER_HOLD}};

    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        Facts facts = {.subject = "", .text = rows[i].text, .html = ""};
        facts_set(&facts, FACT_LOCKED, 0);
        g_autoptr(Verdict) verdict = policy_judge(rows[i].policy, &facts, MODE_HYBRID, 0);
        g_test_message("row %u", i);
        g_assert_cmpint(verdict->tier, ==, rows[i].tier);
    }
}

/* The highest of the lines that apply or may apply; 1 without one. */
static void
test_approvals(void)
{
    g_autoptr(Policy) policy =
        read_policy("hold \"h\"\napprovals 3 if external > 4\n"
                    "approvals 2 if external > 0\napprovals 5 if forward");
    static const struct {
        const char *facts;
        guint approvals;
    } rows[] = {{"external=0 forward=no", 1}, {"external=1 forward=no", 2},
                {"external=5 forward=no", 3}, {"external=5 forward=yes", 5},
                {"external=? forward=no", 3}, {"external=0 forward=?", 5}};

    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        Facts facts;
        g_assert_true(facts_parse(rows[i].facts, &facts));
        g_autoptr(Verdict) verdict = policy_judge(policy, &facts, MODE_HYBRID, 0);
        g_assert_cmpuint(verdict->approvals, ==, rows[i].approvals);
    }
}

/* A11, A21, D14: every line, every condition with its value, and which line decided. */
static void
test_trace(void)
{
    g_autoptr(Policy) policy = read_policy("hold \"h\" if external > 0 and lists > 0\n"
                                           "release \"r\" if not forward\n"
                                           "hold \"c\" if subject contains \"x\"\n"
                                           "limit 2 automatic per day else draft\n"
                                           "approvals 2 if novel > 0\nexpect release\n");
    g_autoptr(Policy) floor = read_policy("release \"floor\"");
    Facts facts = {.subject = "abc"};

    policy_set_floor(policy, floor);
    facts_set(&facts, FACT_EXTERNAL, 2);
    facts_set(&facts, FACT_LISTS, 0);
    facts_set(&facts, FACT_FORWARD, 0);
    facts_set(&facts, FACT_SENT_DAY, 2);
    facts_set(&facts, FACT_LOCKED, 0);
    g_autoptr(Trace) trace = policy_explain(policy, &facts, MODE_HYBRID, 0);
    static const struct {
        TraceKind kind;
        const char *condition, *value;
        Truth truth;
        gboolean decides;
    } rows[] = {{TRACE_RULE, "external > 0", "external = 2", TRUTH_NO, FALSE},
                {TRACE_RULE, "not forward", "forward = no", TRUTH_YES, FALSE},
                {TRACE_CLAIM, "subject contains \"x\"", "not found", TRUTH_NO, FALSE},
                {TRACE_LIMIT, "sent_day >= 2", "sent_day = 2", TRUTH_YES, TRUE},
                {TRACE_APPROVALS, "novel > 0", "novel unknown", TRUTH_UNKNOWN, FALSE},
                {TRACE_RULE, NULL, NULL, TRUTH_YES, FALSE}};

    g_assert_cmpint(trace->verdict->tier, ==, TIER_DRAFT);
    g_assert_cmpuint(trace->verdict->approvals, ==, 2);
    g_assert_cmpuint(trace->lines->len, ==, G_N_ELEMENTS(rows));
    for (guint i = 0; i < trace->lines->len; i++) {
        const TraceLine *line = g_ptr_array_index(trace->lines, i);
        g_assert_cmpint(line->kind, ==, rows[i].kind);
        g_assert_cmpint(line->truth, ==, rows[i].truth);
        g_assert_cmpint(line->decides, ==, rows[i].decides);
        g_assert_cmpint(line->of_floor, ==, i == 5);
        if (!rows[i].condition)
            continue;
        const TraceCondition *condition = g_ptr_array_index(line->conditions, 0);
        g_assert_cmpstr(condition->text, ==, rows[i].condition);
        g_assert_cmpstr(condition->value, ==, rows[i].value);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/condition/words", test_judged);
    g_test_add_func("/condition/bounds", test_bounds);
    g_test_add_func("/condition/approvals", test_approvals);
    g_test_add_func("/condition/trace", test_trace);
    return g_test_run();
}
