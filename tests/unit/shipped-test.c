/* The shipped policies: what they say of typical messages, and that risk never pays. */
#include "policy/verdict.h"

#include <string.h>

#include "policy/check.h"
#include "policy/proof.h"

/* Nothing risky and nothing unknown; rows say what differs. */
#define QUIET                                                                                 \
    "recipients=1 external=0 novel=0 external_novel=0 known=1 from_body=0 lists=0 "           \
    "in_thread=no mine=no outside_thread=0 thread_days=9999 contact_days=3 auto_sends=0 "     \
    "auto_recipient=0 sent_hour=0 sent_day=0 fanout_day=1 attachments=0 attachment_bytes=0 "  \
    "forward=no opaque=no size=900 "                                                          \
    "diverted=0 hidden=0 header_only=0 lookalike=0 pending=no locked=no loop=no"

static Facts
read_facts(const char *text)
{
    Facts facts;

    g_assert_true(facts_parse(text, &facts));
    return facts;
}

/* Puts the facts that changes names over those there. */
static void
change_facts(Facts *facts, const char *changes)
{
    g_auto(GStrv) pairs = g_strsplit(changes, " ", -1);

    for (guint i = 0; pairs[i]; i++) {
        Facts one = read_facts(pairs[i]);
        g_autofree char *name = g_strndup(pairs[i], strcspn(pairs[i], "="));
        Fact fact;
        g_assert_true(fact_find(name, &fact));
        facts->values[fact] = one.values[fact];
    }
}

static Tier
judge_tier(const Policy *policy, const Facts *facts, Mode mode)
{
    g_autoptr(Verdict) verdict = policy_judge(policy, facts, mode, 0);

    return verdict->tier;
}

static const char *const NAMES[] = {"draft", "standard", "strict", "one-person"};

static char *
read_text(const char *name)
{
    g_autofree char *path =
        g_test_build_filename(G_TEST_DIST, "../contrib/policies", name, NULL);
    g_autoptr(GError) error = NULL;
    char *text = NULL;

    g_file_get_contents(path, &text, NULL, &error);
    g_assert_no_error(error);
    return text;
}

static Policy *
read_shipped(const char *name)
{
    g_autofree char *text = read_text(name);
    g_autoptr(GError) error = NULL;
    Policy *policy = policy_parse(text, name, NULL, &error);

    g_assert_no_error(error);
    return policy;
}

#define THREAD "external=1 in_thread=yes mine=yes "

/* What the shipped policies say of a quiet message with these differences: more than two
 * outcomes, by what a message carries and to whom (A10, D1, D2, D24). */
static const struct {
    const char *name, *changes;
    Tier standard, strict;
} shipped[] = {
    {"colleague (A28, D7, case A1)", "recipients=1", TIER_RELEASE, TIER_RELEASE},
    {"five colleagues (D7, D12)", "recipients=5 known=5", TIER_RELEASE, TIER_RELEASE},
    {"six colleagues (D12, case A15)", "recipients=6 known=6", TIER_DRAFT, TIER_DRAFT},
    {"ten colleagues (D13)", "recipients=10 known=10", TIER_DRAFT, TIER_DRAFT},
    {"eleven colleagues (D8, D13, case A3)", "recipients=11 known=11", TIER_HOLD, TIER_HOLD},
    {"blind copy to colleagues (case A5)", "recipients=3 hidden=3", TIER_RELEASE, TIER_HOLD},
    {"new colleague (case A14)", "novel=1 known=0", TIER_DRAFT, TIER_HOLD},
    {"colleague from a text (D6, D19, case A12)", "novel=1 from_body=1", TIER_HOLD, TIER_HOLD},
    {"file to a colleague (D20, case B2)", "attachments=1", TIER_DRAFT, TIER_DRAFT},
    {"answer (D3, D9, D11, case T1)", THREAD "size=900", TIER_DELAY, TIER_HOLD},
    {"answer to three (D11)", THREAD "recipients=3 external=3", TIER_DELAY, TIER_HOLD},
    {"answer to four (D11)", THREAD "recipients=4 external=4", TIER_DRAFT, TIER_HOLD},
    {"answer to a newcomer (case T5)", THREAD "novel=1 external_novel=1 outside_thread=1",
     TIER_HOLD, TIER_HOLD},
    {"known, not of the conversation (XB2)", THREAD "outside_thread=1", TIER_DRAFT, TIER_HOLD},
    {"new conversation (D10, case T2)", "external=1", TIER_DRAFT, TIER_HOLD},
    {"first contact (D5, case T8)", "external=1 novel=1 external_novel=1", TIER_HOLD,
     TIER_HOLD},
    {"forty first contacts (D4)", "recipients=40 external=40 novel=40 external_novel=40",
     TIER_HOLD, TIER_HOLD},
    {"list (case A11)", THREAD "lists=1", TIER_HOLD, TIER_HOLD},
    {"file leaves (A10, D1, D20, case B1)", THREAD "attachments=1", TIER_HOLD, TIER_HOLD},
    {"forward leaves (D17, D21, case B6)", THREAD "forward=yes", TIER_HOLD, TIER_HOLD},
    {"unreadable leaves (case B16)", THREAD "opaque=yes", TIER_HOLD, TIER_HOLD},
    {"answers diverted (XB23)", THREAD "diverted=1", TIER_HOLD, TIER_HOLD},
    {"handed back (B5)", THREAD "locked=yes", TIER_HOLD, TIER_HOLD},
    {"an answer to a machine", THREAD "loop=yes", TIER_HOLD, TIER_HOLD},
    {"an answer to a machine inside", "loop=yes", TIER_HOLD, TIER_HOLD},
    {"second while the first waits (A15)", THREAD "pending=yes", TIER_DRAFT, TIER_HOLD},
    {"colleague while another waits (A15)", "pending=yes", TIER_DRAFT, TIER_DRAFT},
    {"third in a conversation (B1, B11, B12, case T6)", THREAD "auto_sends=2", TIER_DRAFT,
     TIER_HOLD},
    {"thirty-first of the day", "sent_day=30", TIER_HOLD, TIER_HOLD},
    {"sixteenth recipient of the day (XB14)", "fanout_day=16", TIER_HOLD, TIER_HOLD},
    {"looks like a correspondent (XB9, XD9)", "lookalike=1", TIER_HOLD, TIER_HOLD},
    {"lists unknown (A11, B9)", "lists=?", TIER_HOLD, TIER_HOLD},
    {"look-alikes unknown", "lookalike=?", TIER_HOLD, TIER_HOLD},
    {"conversation unknown (A11, B9)", "external=1 mine=?", TIER_DRAFT, TIER_HOLD},
};

static void
test_tiers(void)
{
    g_autoptr(Policy) standard = read_shipped("standard"), strict = read_shipped("strict");
    g_autoptr(Policy) draft = read_shipped("draft");

    for (guint i = 0; i < G_N_ELEMENTS(shipped); i++) {
        Facts facts = read_facts(QUIET);
        change_facts(&facts, shipped[i].changes);
        g_test_message("%s", shipped[i].name);
        g_assert_cmpint(judge_tier(standard, &facts, MODE_HYBRID), ==, shipped[i].standard);
        g_assert_cmpint(judge_tier(strict, &facts, MODE_HYBRID), ==, shipped[i].strict);
        g_assert_cmpint(judge_tier(draft, &facts, MODE_HYBRID), ==, TIER_DRAFT);
    }
}

static guint
judge_strictness(const Policy *policy, const Facts *facts)
{
    return tier_strictness(judge_tier(policy, facts, MODE_HYBRID));
}

/* Less knowledge gets no laxer tier (B9); nor does the strict policy. */
static void
test_unknown(void)
{
    g_autoptr(Policy) standard = read_shipped("standard"), strict = read_shipped("strict");

    for (guint i = 0; i < G_N_ELEMENTS(shipped); i++) {
        Facts facts = read_facts(QUIET);
        change_facts(&facts, shipped[i].changes);
        guint least = judge_strictness(standard, &facts);
        g_assert_cmpuint(judge_strictness(strict, &facts), >=, least);
        for (guint j = 0; j < FACT_COUNT; j++) {
            Facts less = facts;
            less.values[j].known = FALSE;
            g_assert_cmpuint(judge_strictness(standard, &less), >=, least);
        }
    }
}

/* A27, B6: they load as they are shipped, with every expectation met and monotony proved, and
 * no line is in vain. */
static void
test_checked(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(NAMES); i++) {
        g_autoptr(Policy) policy = read_shipped(NAMES[i]);
        g_autoptr(GError) error = NULL;
        check_policy(policy, &error);
        g_assert_no_error(error);
        g_autoptr(GPtrArray) unreachable = proof_unreachable(policy);
        g_assert_nonnull(unreachable);
        g_assert_cmpuint(unreachable->len, ==, 0);
    }
}

/* Whether a policy without one of its lines is found out. */
static gboolean
notices(char **lines, guint left_out)
{
    g_autoptr(GString) text = g_string_new(NULL);
    g_autoptr(GError) error = NULL;

    for (guint i = 0; lines[i]; i++)
        g_string_append_printf(text, "%s\n", i == left_out ? "" : lines[i]);
    g_autoptr(Policy) policy = policy_parse(text->str, "p", NULL, &error);
    g_assert_no_error(error);
    return !check_policy(policy, &error);
}

/* Their expectations are worth something: whichever line is taken away, one is not met. Where
 * every novel recipient is held, the line about addresses from a text gives but the reason; so
 * does the one about look-alikes, who are novel and outside. */
static void
test_every_line_is_tested(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(NAMES); i++) {
        g_autofree char *text = read_text(NAMES[i]);
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
        gboolean all_novel = strstr(text, "if novel > 0\n") != NULL;
        for (guint j = 0; lines[j]; j++) {
            if (!*lines[j] || *lines[j] == '#' || g_str_has_prefix(lines[j], "expect") ||
                strstr(lines[j], "lookalike") || (all_novel && strstr(lines[j], "from_body")))
                continue;
            if (!notices(lines, j))
                g_test_fail_printf("%s:%u: %s", NAMES[i], j + 1, lines[j]);
        }
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/shipped/tiers B28 E6", test_tiers);
    g_test_add_func("/shipped/unknown facts", test_unknown);
    g_test_add_func("/shipped/checked", test_checked);
    g_test_add_func("/shipped/every line is tested", test_every_line_is_tested);
    return g_test_run();
}
