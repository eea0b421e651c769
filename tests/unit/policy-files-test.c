/* Policies of several files: includes, lists, versions, the floor. */
#include "policy/check.h"
#include "policy/verdict.h"

#include <string.h>

typedef struct {
    const char *path, *text;
} File;

/* What the reader has. */
static const File FILES[] = {
    {"/p/hold", "hold \"outside\" if external > 0\n"},
    {"/p/sub/a", "include b\n"},
    {"/p/sub/b", "draft \"b\"\n"},
    {"/p/loop", "include loop2\n"},
    {"/p/loop2", "# c\n\n  include loop\n"},
    {"/p/wrong", "draft \"x\"\nhodl \"y\"\n"},
    {"/p/vip", "# whom I trust\nAnn@Example.org\n\n @example.net # all of them\n"},
    {"/p/vip2", "ann@example.org"},
    {"/p/odd", "ann@example.org\nnobody\n"},
    {"/p/crlf", "ann@example.org\r\n"},
    {"/p/1", "include 2"},
    {"/p/2", "include 3"},
    {"/p/3", "include 4"},
    {"/p/4", "include 5"},
    {"/p/5", "include 6"},
    {"/p/6", "include 7"},
    {"/p/7", "include 8"},
    {"/p/8", "draft \"deep\""},
};

static char *
read_file(const char *path, gpointer data, GError **error)
{
    const File *changed = data;

    if (changed && g_str_equal(changed->path, path))
        return g_strdup(changed->text);
    for (guint i = 0; i < G_N_ELEMENTS(FILES); i++)
        if (g_str_equal(FILES[i].path, path))
            return g_strdup(FILES[i].text);
    g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_NOENT, "%s: not there", path);
    return NULL;
}

static char *
normalise(const char *entry, G_GNUC_UNUSED gpointer data)
{
    return strchr(entry, '@') ? g_ascii_strdown(entry, -1) : NULL;
}

static Policy *
parse(const char *text, const File *changed, GError **error)
{
    const PolicyReader reader = {read_file, normalise, (gpointer)changed};

    return policy_parse(text, "/p/main", &reader, error);
}

static Policy *
read_policy(const char *text)
{
    g_autoptr(GError) error = NULL;
    Policy *policy = parse(text, NULL, &error);

    g_assert_no_error(error);
    return policy;
}

static const struct {
    const char *name, *text, *message;
} refused[] = {
    {"missing", "include none", "/p/main:1: /p/none: not there"},
    {"missing list", "hold \"x\"\nhold \"y\" if any recipient in none",
     "/p/main:2: /p/none: not there"},
    {"itself", "include main",
     "/p/main:1:9: found /p/main -> /p/main, expected no file that includes itself"},
    {"loop", "include loop",
     "/p/loop2:3:11: found /p/main -> /p/loop -> /p/loop2 -> /p/loop, expected no file that"},
    {"nine deep", "include 1", "/p/7:1:9: found /p/main -> /p/1 -> "},
    {"mistake in it", "\ninclude wrong", "/p/wrong:2:1: found ‘hodl’, expected one of"},
    {"mistake behind it", "include hold\nhodl \"y\"", "/p/main:2:1: found ‘hodl’"},
    {"more on the line", "include hold draft",
     "/p/main:1:14: found ‘draft’, expected the end"},
    {"odd list", "hold \"x\" if any recipient in odd",
     "/p/odd:2:1: found another line, expected an address or @domain"},
    {"list with CRLF", "hold \"x\" if any recipient in crlf",
     "/p/crlf:1:16: found a carriage return, expected lines that end"},
    {"a name with a slash", "include sub/a",
     "/p/main:1:9: found ‘sub’, expected the file of a policy, in double quotes when"},
    {"no address", "expect hold when recipient = \"nobody\"",
     "/p/main:1:30: found a text in quotes, expected an address in double quotes"},
};

static void
test_refused(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(refused); i++) {
        g_autoptr(GError) error = NULL;
        g_assert_null(parse(refused[i].text, NULL, &error));
        if (!strstr(error->message, refused[i].message))
            g_test_fail_printf("%s: %s", refused[i].name, error->message);
    }
}

/* An included line stands where it is included, and is told with its own file. */
static void
test_include(void)
{
    g_autoptr(Policy) policy = read_policy("include hold\nrelease \"r\"\n");
    g_autoptr(Policy) nested = read_policy("include \"sub/a\"\nrelease \"r\"\n");
    g_autoptr(Policy) deep = read_policy("include 2\n");
    Facts facts = {0};

    facts_set(&facts, FACT_EXTERNAL, 1);
    facts_set(&facts, FACT_LOCKED, 0);
    g_autoptr(Verdict) held = policy_judge(policy, &facts, MODE_HYBRID, 0);
    g_assert_cmpint(held->tier, ==, TIER_HOLD);
    g_assert_cmpstr(held->file, ==, "/p/hold");
    g_assert_cmpuint(held->line, ==, 1);
    facts_set(&facts, FACT_EXTERNAL, 0);
    g_autoptr(Verdict) released = policy_judge(policy, &facts, MODE_HYBRID, 0);
    g_assert_cmpint(released->tier, ==, TIER_RELEASE);
    g_assert_cmpstr(released->file, ==, "/p/main");
    g_assert_cmpuint(released->line, ==, 2);
    g_autoptr(Verdict) parked = policy_judge(nested, &facts, MODE_HYBRID, 0);
    g_assert_cmpstr(parked->file, ==, "/p/sub/b");
    g_autoptr(Verdict) deepest = policy_judge(deep, &facts, MODE_HYBRID, 0);
    g_assert_cmpstr(deepest->reason, ==, "deep");
}

/* A30: two lists, an address and a domain, any and all. Nobody is not everybody. */
static void
test_lists(void)
{
    static const struct {
        const char *recipients;
        gboolean any, all;
    } rows[] = {
        {"ann@example.org", TRUE, TRUE},
        {"bob@example.org", FALSE, FALSE},
        {"ann@example.org bob@example.org", TRUE, FALSE},
        {"ann@example.org x@example.net", TRUE, TRUE},
        {"x@sub.example.net", FALSE, FALSE},
        {"x@example.net.example", FALSE, FALSE},
        {"\"a@example.net\"@example.com", FALSE, FALSE},
        {"", FALSE, FALSE},
    };
    g_autoptr(Policy) any = read_policy("hold \"h\" if any recipient in vip\nrelease \"r\"");
    g_autoptr(Policy) all = read_policy("release \"r\" if all recipients in vip\nhold \"h\"");

    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_auto(GStrv) recipients =
            g_strsplit(rows[i].recipients, " ", *rows[i].recipients ? -1 : 1);
        Facts facts = {.recipients = (const char *const *)recipients};
        facts_set(&facts, FACT_LOCKED, 0);
        g_autoptr(Verdict) held = policy_judge(any, &facts, MODE_HYBRID, 0);
        g_autoptr(Verdict) released = policy_judge(all, &facts, MODE_HYBRID, 0);
        g_test_message("%s", rows[i].recipients);
        g_assert_cmpint(held->tier == TIER_HOLD, ==, rows[i].any);
        g_assert_cmpint(released->tier == TIER_RELEASE, ==, rows[i].all);
    }
    /* B9: recipients that are not known are in the list that holds, and not in the other. */
    const Facts unknown = {0};
    g_autoptr(Verdict) held = policy_judge(any, &unknown, MODE_HYBRID, 0);
    g_autoptr(Verdict) not_released = policy_judge(all, &unknown, MODE_HYBRID, 0);
    g_assert_cmpint(held->tier, ==, TIER_HOLD);
    g_assert_cmpint(not_released->tier, ==, TIER_HOLD);
}

/* A22: every text and every name counts, and nothing else. */
static void
test_version(void)
{
    const char *text = "include hold\nhold \"x\" if any recipient in vip\nrelease \"r\"\n";
    const File hold = {"/p/hold", "hold \"outside\" if external > 1\n"};
    const File vip = {"/p/vip", "ann@example.org\n"};
    const File other = {"/p/vip2", "bob@example.org\n"};
    g_autoptr(Policy) policy = parse(text, NULL, NULL), same = parse(text, NULL, NULL);
    g_autoptr(Policy) included = parse(text, &hold, NULL), listed = parse(text, &vip, NULL);
    g_autoptr(Policy) unused = parse(text, &other, NULL);

    g_assert_cmpstr(policy_version(policy), ==, policy_version(same));
    g_assert_cmpstr(policy_version(policy), ==, policy_version(unused));
    g_assert_cmpstr(policy_version(policy), !=, policy_version(included));
    g_assert_cmpstr(policy_version(policy), !=, policy_version(listed));
}

/* An account's policy cannot loosen the floor, nor the floor the policy. */
static void
test_floor(void)
{
    static const char *const words[] = {"release", "delay 1h", "draft", "hold", "refuse"};

    for (guint i = 0; i < 25; i++) {
        g_autofree char *own = g_strdup_printf("%s \"own\"\napprovals 2", words[i / 5]);
        g_autofree char *below = g_strdup_printf("%s \"floor\"\napprovals 3", words[i % 5]);
        g_autoptr(Policy) policy = read_policy(own), floor = read_policy(below);
        g_autofree char *version = g_strdup(policy_version(policy));
        Facts facts = {0};
        facts_set(&facts, FACT_LOCKED, 0);
        policy_set_floor(policy, floor);
        g_assert_cmpstr(version, !=, policy_version(policy));
        g_autoptr(Verdict) verdict = policy_judge(policy, &facts, MODE_HYBRID, 0);
        g_assert_cmpuint(tier_strictness(verdict->tier), ==, MAX(i / 5, i % 5));
        g_assert_cmpstr(verdict->reason, ==, i % 5 > i / 5 ? "floor" : "own");
        g_assert_cmpuint(verdict->approvals, ==, 3);
        g_assert_true(policy_holds_all(policy) == (MAX(i / 5, i % 5) >= 3));
    }
}

/* Expectations about lists, and which of two waits counts: the longer. */
static void
test_expectations(void)
{
    g_autoptr(Policy) good =
        read_policy("release \"r\" if all recipients in vip\nhold \"h\"\n"
                    "expect hold\n"
                    "expect release when recipient = \"ann@example.org\"\n");
    g_autoptr(Policy) own = read_policy("delay 1h \"own\"");
    g_autoptr(Policy) floor = read_policy("delay 2h \"floor\"");
    g_autoptr(GError) error = NULL;
    Facts facts = {0};
    guint passed = 0;

    g_assert_true(check_expectations(good, &passed, &error));
    g_assert_cmpuint(passed, ==, 2);
    facts_set(&facts, FACT_LOCKED, 0);
    policy_set_floor(own, floor);
    g_autoptr(Verdict) verdict = policy_judge(own, &facts, MODE_HYBRID, 0);
    g_assert_cmpint(verdict->wait, ==, 7200);
}

/* No rule applies, or only such as hold. */
static void
test_holds_all(void)
{
    g_autoptr(Policy) empty =
        read_policy("# nothing yet\nlimit 1 automatic per day else hold");
    g_autoptr(Policy) one = read_policy("hold \"h\"\ndraft \"d\" if novel > 5");

    g_assert_true(policy_holds_all(empty));
    g_assert_false(policy_holds_all(one));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/files/refused", test_refused);
    g_test_add_func("/files/include", test_include);
    g_test_add_func("/files/lists (A30)", test_lists);
    g_test_add_func("/files/version (A22)", test_version);
    g_test_add_func("/files/floor", test_floor);
    g_test_add_func("/files/holds everything", test_holds_all);
    g_test_add_func("/files/expectations", test_expectations);
    return g_test_run();
}
