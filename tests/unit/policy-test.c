/* What a policy decides: line by line, and over all combinations of tiers. */
#include "policy/verdict.h"

#include <string.h>

/* Nothing risky and nothing unknown. */
#define QUIET                                                                                 \
    "recipients=1 external=0 novel=0 external_novel=0 known=1 from_body=0 lists=0 "           \
    "in_thread=no mine=no outside_thread=0 thread_days=9999 contact_days=3 auto_sends=0 "     \
    "auto_recipient=0 sent_hour=0 sent_day=0 fanout_day=1 attachments=0 attachment_bytes=0 "  \
    "forward=no opaque=no size=900 "                                                          \
    "diverted=0 hidden=0 header_only=0 lookalike=? pending=no locked=no loop=no"

static const char *const tier_words[] = {"release", "delay 1h", "draft", "hold", "refuse"};

static Facts
read_facts(const char *text)
{
    Facts facts;

    g_assert_true(facts_parse(text, &facts));
    return facts;
}

static Policy *
read_policy(const char *text)
{
    g_autoptr(GError) error = NULL;
    Policy *policy = policy_parse(text, "p", NULL, &error);

    g_assert_no_error(error);
    return policy;
}

static Tier
judge_tier(const Policy *policy, const Facts *facts, Mode mode)
{
    g_autoptr(Verdict) verdict = policy_judge(policy, facts, mode, 0);

    return verdict->tier;
}

#define AUTOMATIC "release \"r\"\n"

static const struct {
    const char *name, *text, *facts;
    Mode mode;
    Tier tier;
    guint line;
    const char *reason;
} judged[] = {
    {"no lines hold (C17)", "", QUIET, MODE_HYBRID, TIER_HOLD, 0, "no rule applies"},
    {"comments hold", "# release \"x\"\n", QUIET, MODE_HYBRID, TIER_HOLD, 0,
     "no rule applies"},
    {"nothing applies", "release \"x\" if novel > 0", QUIET, MODE_HYBRID, TIER_HOLD, 0,
     "no rule applies"},
    {"first of two", "draft \"a\" if novel = 0\nrelease \"b\"", QUIET, MODE_HYBRID, TIER_DRAFT,
     1, "a"},
    {"second of two", "draft \"a\" if novel != 0\nrelease \"b\"", QUIET, MODE_HYBRID,
     TIER_RELEASE, 2, "b"},
    {"tabs, hash in a reason", "\n\thold\t\" #1 \"if size>=900#c\n", QUIET, MODE_HYBRID,
     TIER_HOLD, 2, "#1"},
    {"refuse", "refuse \"never\" if opaque", "opaque=yes", MODE_HYBRID, TIER_REFUSE, 1,
     "never"},
    {"every comparison",
     "release \"r\" if known = 3 and known != 4 and known < 4 and known <= 3 and known > 2 "
     "and "
     "known >= 3 and not forward and mine",
     "known=3 forward=no mine=yes", MODE_HYBRID, TIER_RELEASE, 1, "r"},
    {"below", "hold \"h\" if known < 3\nrelease \"r\"", "known=3", MODE_HYBRID, TIER_RELEASE,
     2, "r"},
    {"above", "hold \"h\" if known > 3\nrelease \"r\"", "known=3", MODE_HYBRID, TIER_RELEASE,
     2, "r"},
    {"K is 1024", "hold \"h\" if size > 1K\nrelease \"r\"", "size=1024", MODE_HYBRID,
     TIER_RELEASE, 2, "r"},
    {"M is 1024 K", "hold \"h\" if attachment_bytes >= 1M", "attachment_bytes=1048575",
     MODE_HYBRID, TIER_HOLD, 0, "no rule applies"},

    /* Unknown facts (B9). */
    {"unknown holds", "hold \"h\" if novel > 0\nrelease \"r\"", "novel=?", MODE_HYBRID,
     TIER_HOLD, 1, "h"},
    {"unknown drafts", "draft \"d\" if novel > 0\nrelease \"r\"", "novel=?", MODE_HYBRID,
     TIER_DRAFT, 1, "d"},
    {"unknown refuses", "refuse \"n\" if forward\nrelease \"r\"", "novel=1", MODE_HYBRID,
     TIER_REFUSE, 1, "n"},
    {"not an unknown flag", "hold \"h\" if not mine\nrelease \"r\"", "novel=1", MODE_HYBRID,
     TIER_HOLD, 1, "h"},
    {"unknown does not release", "release \"r\" if novel = 0\ndraft \"d\"", "novel=?",
     MODE_HYBRID, TIER_DRAFT, 2, "d"},
    {"unknown does not delay", "delay 1h \"r\" if novel = 0\ndraft \"d\"", "novel=?",
     MODE_HYBRID, TIER_DRAFT, 2, "d"},
    {"false beats unknown", "hold \"h\" if novel > 0 and mine\nrelease \"r\"", "mine=no",
     MODE_HYBRID, TIER_RELEASE, 2, "r"},
    {"unknown draft before a hold", "draft \"d\" if novel > 0\nhold \"h\"", "novel=?",
     MODE_HYBRID, TIER_HOLD, 2, "h"},
    {"unknown draft before nothing", "draft \"d\" if novel > 0", "novel=?", MODE_HYBRID,
     TIER_HOLD, 0, "no rule applies"},
    {"unknown hold before a draft", "hold \"h\" if novel > 0\ndraft \"d\"", "novel=?",
     MODE_HYBRID, TIER_HOLD, 1, "h"},

    /* Limits (B11, XB14). */
    {"one below", AUTOMATIC "limit 2 automatic per conversation else draft", "auto_sends=1",
     MODE_HYBRID, TIER_RELEASE, 1, "r"},
    {"reached", AUTOMATIC "limit 2 automatic per conversation else draft", "auto_sends=2",
     MODE_HYBRID, TIER_DRAFT, 2, "limit of 2 automatic per conversation reached"},
    {"per recipient", AUTOMATIC "limit 2 automatic per recipient else hold",
     "auto_recipient=3", MODE_HYBRID, TIER_HOLD, 2,
     "limit of 2 automatic per recipient reached"},
    {"per hour", AUTOMATIC "limit 9 automatic per hour else hold", "sent_hour=9", MODE_HYBRID,
     TIER_HOLD, 2, "limit of 9 automatic per hour reached"},
    {"per day", AUTOMATIC "limit 9 automatic per day else hold", "sent_day=8", MODE_HYBRID,
     TIER_RELEASE, 1, "r"},
    {"recipients, last", AUTOMATIC "limit 15 recipients per day else hold", "fanout_day=15",
     MODE_HYBRID, TIER_RELEASE, 1, "r"},
    {"recipients, one more", AUTOMATIC "limit 15 recipients per day else hold",
     "fanout_day=16", MODE_HYBRID, TIER_HOLD, 2, "limit of 15 recipients per day exceeded"},
    {"unknown count", AUTOMATIC "limit 9 automatic per day else hold", "sent_day=?",
     MODE_HYBRID, TIER_HOLD, 2, "limit of 9 automatic per day cannot be checked"},
    {"limit on a delay, above it", "limit 0 automatic per day else draft\ndelay 1h \"d\"",
     "sent_day=0", MODE_HYBRID, TIER_DRAFT, 1, "limit of 0 automatic per day reached"},
    {"limit not on a draft", "draft \"d\"\nlimit 0 automatic per day else hold", "sent_day=5",
     MODE_HYBRID, TIER_DRAFT, 1, "d"},
    {"strictest limit",
     AUTOMATIC "limit 1 automatic per day else draft\nlimit 2 automatic per day else hold",
     "sent_day=2", MODE_HYBRID, TIER_HOLD, 3, "limit of 2 automatic per day reached"},
    {"first of equal limits",
     AUTOMATIC "limit 1 automatic per hour else hold\nlimit 2 automatic per day else hold",
     "sent_day=2 sent_hour=2", MODE_HYBRID, TIER_HOLD, 2,
     "limit of 1 automatic per hour reached"},

    /* Modes (B17). */
    {"draft parks a release", AUTOMATIC, QUIET, MODE_DRAFT, TIER_DRAFT, 0, "mode is draft"},
    {"draft parks a hold", "hold \"h\"", QUIET, MODE_DRAFT, TIER_DRAFT, 0, "mode is draft"},
    {"draft refuses", "refuse \"n\"", QUIET, MODE_DRAFT, TIER_REFUSE, 1, "n"},
    {"review holds a release", AUTOMATIC, QUIET, MODE_REVIEW, TIER_HOLD, 0, "mode is review"},
    {"review holds a draft", "draft \"d\"", QUIET, MODE_REVIEW, TIER_HOLD, 0,
     "mode is review"},
    {"review refuses", "refuse \"n\"", QUIET, MODE_REVIEW, TIER_REFUSE, 1, "n"},
    {"review over a limit", AUTOMATIC "limit 0 automatic per day else draft", QUIET,
     MODE_REVIEW, TIER_HOLD, 0, "mode is review"},

    /* The declared class (case M4, XB13). */
    {"declared tightens", AUTOMATIC "hold \"no\" if declared = decline", "declared=decline",
     MODE_HYBRID, TIER_HOLD, 2, "no"},
    {"other class", AUTOMATIC "hold \"no\" if declared = decline", "declared=question",
     MODE_HYBRID, TIER_RELEASE, 1, "r"},
    {"no class", AUTOMATIC "hold \"no\" if declared = decline", "novel=0", MODE_HYBRID,
     TIER_RELEASE, 1, "r"},
    {"no class asked for", AUTOMATIC "draft \"what is it\" if declared = \"\"", "novel=0",
     MODE_HYBRID, TIER_DRAFT, 2, "what is it"},
    {"class in other letters", AUTOMATIC "hold \"no\" if declared = \"Turn down\"",
     "declared=turn%20DOWN", MODE_HYBRID, TIER_HOLD, 2, "no"},
    {"declared never first", "draft \"c\" if declared = q\nhold \"h\"", "declared=q",
     MODE_HYBRID, TIER_HOLD, 2, "h"},
    {"declared does not hide", "draft \"c\" if declared = q\nrefuse \"n\"", "declared=q",
     MODE_HYBRID, TIER_REFUSE, 2, "n"},
    {"declared and a fact", AUTOMATIC "hold \"c\" if declared = q and novel > 0",
     "declared=q novel=0", MODE_HYBRID, TIER_RELEASE, 1, "r"},
    {"declared and an unknown fact", AUTOMATIC "hold \"c\" if declared = q and novel > 0",
     "declared=q", MODE_HYBRID, TIER_HOLD, 2, "c"},
    {"strictest declared", AUTOMATIC "draft \"c\" if declared = q\nhold \"e\" if declared = q",
     "declared=q", MODE_HYBRID, TIER_HOLD, 3, "e"},
    {"declared over the mode", AUTOMATIC "hold \"c\" if declared = q", "declared=q",
     MODE_DRAFT, TIER_HOLD, 2, "c"},
    {"declared over a limit",
     AUTOMATIC "limit 0 automatic per day else draft\nhold \"c\" if declared = q",
     "declared=q", MODE_HYBRID, TIER_HOLD, 3, "c"},
};

static void
test_judged(gconstpointer data)
{
    guint row = GPOINTER_TO_UINT(data);
    g_autoptr(Policy) policy = read_policy(judged[row].text);
    Facts facts = read_facts(judged[row].facts);

    if (!facts.values[FACT_LOCKED].known)
        facts_set(&facts, FACT_LOCKED, 0);
    g_autoptr(Verdict) verdict = policy_judge(policy, &facts, judged[row].mode, 7);

    g_assert_cmpstr(tier_name(verdict->tier), ==, tier_name(judged[row].tier));
    g_assert_cmpuint(verdict->line, ==, judged[row].line);
    g_assert_cmpstr(verdict->reason, ==, judged[row].reason);
    g_assert_cmpint(verdict->wait, ==, 0);
}

/* B5: what is handed back goes by no rule, and is laxer for it in no mode. */
static void
test_locked(void)
{
    for (guint base = 0; base < G_N_ELEMENTS(tier_words); base++) {
        g_autofree char *text = g_strdup_printf("%s \"base\"", tier_words[base]);
        g_autoptr(Policy) policy = read_policy(text);
        Facts plain = read_facts(QUIET), locked = plain;

        facts_set(&locked, FACT_LOCKED, 1);
        for (Mode mode = MODE_DRAFT; mode <= MODE_HYBRID; mode++)
            g_assert_cmpint(judge_tier(policy, &locked, mode), ==,
                            tier_stricter(judge_tier(policy, &plain, mode), TIER_DRAFT));
    }
}

/* B6, XB13: over every tier, class and mode, a declared class gives the stricter of both. */
static void
test_declared_tightens(void)
{
    for (guint base = 0; base < G_N_ELEMENTS(tier_words); base++) {
        for (guint class = 2; class < G_N_ELEMENTS(tier_words); class ++) {
            g_autofree char *text =
                g_strdup_printf("%s \"base\"\n%s \"class\" if declared = q", tier_words[base],
                                tier_words[class]);
            g_autoptr(Policy) policy = read_policy(text);
            Facts silent = read_facts(QUIET), declared = read_facts(QUIET " declared=q");
            Tier claimed;
            g_assert_true(tier_find(tier_words[class], &claimed));
            for (Mode mode = MODE_DRAFT; mode <= MODE_HYBRID; mode++) {
                Tier without = judge_tier(policy, &silent, mode);
                g_assert_cmpint(judge_tier(policy, &declared, mode), ==,
                                tier_stricter(without, claimed));
            }
        }
    }
}

/* The strictest tier over the worlds in which novel and forward are known. */
static Tier
worst_known(const Policy *policy, FactValue novel, FactValue forward)
{
    Tier worst = TIER_RELEASE;

    for (guint world = 0; world < 4; world++) {
        Facts facts = {0};
        facts_set(&facts, FACT_NOVEL, novel.known ? novel.number : world & 1);
        facts_set(&facts, FACT_FORWARD, forward.known ? forward.number : world >> 1);
        facts_set(&facts, FACT_LOCKED, 0);
        worst = tier_stricter(worst, judge_tier(policy, &facts, MODE_HYBRID));
    }
    return worst;
}

static void
check_unknown(const char *text)
{
    static const FactValue values[] = {{FALSE, 0}, {TRUE, 0}, {TRUE, 1}};
    g_autoptr(Policy) policy = read_policy(text);

    for (guint i = 0; i < 9; i++) {
        Facts facts = {0};
        facts.values[FACT_NOVEL] = values[i % 3];
        facts.values[FACT_FORWARD] = values[i / 3];
        facts_set(&facts, FACT_LOCKED, 0);
        Tier worst = worst_known(policy, values[i % 3], values[i / 3]);
        Tier tier = judge_tier(policy, &facts, MODE_HYBRID);
        g_assert_cmpuint(tier_strictness(tier), >=, tier_strictness(worst));
    }
}

/* B9: over every three tiers, not knowing never gets a laxer tier than knowing could. */
static void
test_unknown_never_helps(void)
{
    for (guint i = 0; i < 125; i++) {
        g_autofree char *text =
            g_strdup_printf("%s \"a\" if novel > 0\n%s \"b\" if not forward\n"
                            "%s \"c\" if novel = 0 and forward\n",
                            tier_words[i % 5], tier_words[i / 5 % 5], tier_words[i / 25]);
        g_autofree char *limited =
            g_strconcat(text, "limit 0 automatic per day else hold\n", NULL);
        check_unknown(text);
        check_unknown(limited);
    }
}

/* B13: within the range, both ends reached. */
static void
test_dice(void)
{
    g_autoptr(Policy) policy = read_policy("delay 2h-6h \"d\" if novel = 0\ndelay 90s \"e\"");
    Facts quiet = read_facts(QUIET), novel = read_facts("novel=1 locked=no");
    static const struct {
        guint64 dice;
        gint64 wait;
    } rows[] = {{0, 7200}, {1, 7201}, {14400, 21600}, {14401, 7200}, {G_MAXUINT64, 16099}};

    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(Verdict) verdict = policy_judge(policy, &quiet, MODE_HYBRID, rows[i].dice);
        g_assert_cmpint(verdict->wait, ==, rows[i].wait);
    }
    for (guint i = 0; i < 1000; i++) {
        guint64 dice = (guint64)g_test_rand_int() << 32 | (guint32)g_test_rand_int();
        g_autoptr(Verdict) ranged = policy_judge(policy, &quiet, MODE_HYBRID, dice);
        g_autoptr(Verdict) fixed = policy_judge(policy, &novel, MODE_HYBRID, dice);
        g_assert_cmpint(ranged->wait, >=, 2 * 60 * 60);
        g_assert_cmpint(ranged->wait, <=, 6 * 60 * 60);
        g_assert_cmpint(fixed->wait, ==, 90);
    }
}

static void
test_facts_text(void)
{
    static const char *const refused[] = {
        "recipients",
        "recipients=",
        "recipients=x",
        "recipients=-1",
        "recipients= 1",
        "recipients=1 ",
        "recipients=1  novel=1",
        "recipient=1",
        "forward=1",
        "forward=maybe",
        "novel=1 novel=1",
        "novel=9223372036854775808",
        "declared=",
        "declared=%00",
        "declared=%zz",
        "Novel=1",
        "declared=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"};
    static const char *const taken[] = {"", QUIET, QUIET " declared=hand-over",
                                        "novel=9223372036854775807 forward=? mine=yes"};
    Facts facts = {.declared = "x recipients=0\n%ü"}, untouched = {0};

    for (guint i = 0; i < G_N_ELEMENTS(taken); i++) {
        Facts first = read_facts(taken[i]);
        g_autofree char *text = facts_format(&first);
        Facts second = read_facts(text);
        g_autofree char *again = facts_format(&second);
        g_assert_cmpstr(text, ==, again);
        g_assert_cmpint(memcmp(&first, &second, sizeof first), ==, 0);
    }
    for (guint i = 0; i < G_N_ELEMENTS(refused); i++) {
        g_test_message("%s", refused[i]);
        g_assert_false(facts_parse(refused[i], &untouched));
        g_assert_false(untouched.values[FACT_NOVEL].known);
    }
    /* XE1: a class is one word and no fact. */
    g_autofree char *text = facts_format(&facts);
    g_assert_nonnull(strstr(text, "locked=? loop=? declared=x%20recipients%3D0%0A%25%C3%BC"));
    g_assert_cmpstr(read_facts(text).declared, ==, facts.declared);
    facts_set(&facts, FACT_FORWARD, 7);
    g_assert_cmpint(facts.values[FACT_FORWARD].number, ==, 1);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(judged); i++) {
        g_autofree char *path = g_strconcat("/policy/judge/", judged[i].name, NULL);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_judged);
    }
    g_test_add_func("/policy/handed back goes by no rule", test_locked);
    g_test_add_func("/policy/declared only tightens", test_declared_tightens);
    g_test_add_func("/policy/unknown never helps", test_unknown_never_helps);
    g_test_add_func("/policy/dice", test_dice);
    g_test_add_func("/policy/facts as text", test_facts_text);
    return g_test_run();
}
