/* The policy language: what loads, and what is said of what does not. */
#include "policy/rules.h"

#include <string.h>

static const struct {
    const char *name, *text, *message;
} wrong[] = {
    {"tier", "hodl \"x\"",
     "p:1:1: found ‘hodl’, expected one of release, delay, draft, hold, "
     "refuse, limit, never, approvals, expect, include (did you mean ‘hold’?)"},
    {"tier in capitals", "HOLD \"x\"", "did you mean ‘hold’?"},
    {"reject is refuse", "reject \"x\"", "p:1:1: found ‘reject’"},
    {"no reason", "hold if locked", "p:1:6: found ‘if’, expected a reason in double quotes"},
    {"no reason, no more", "# c\n\nhold",
     "p:3:5: found the end of the line, expected a reason"},
    {"empty reason", "hold \" \"", "p:1:6: found a text in quotes, expected a reason"},
    {"reason not closed", "hold \"x if locked\nhold \"y\"", "p:1:6: found a text without its"},
    {"reason over two lines", "hold \"x\ny\"",
     "p:1:6: found a text without its closing quote"},
    {"control in reason", "hold \"x\ay\"", "p:1:8: found U+0007, expected a reason"},
    {"direction mark in reason", "hold \"x\u202e\"", "p:1:8: found U+202E"},
    {"after the reason", "hold \"x\" when locked",
     "expected ‘if’, ‘unsafe’ or the end of the line"},
    {"two reasons", "hold \"x\" \"y\"",
     "p:1:10: found a text in quotes, expected ‘if’, ‘unsafe’ or"},
    {"column counts letters", "hold \"ü\" of", "p:1:10: found ‘of’"},
    {"fact", "hold \"x\" if recipient > 1",
     "p:1:13: found ‘recipient’, expected a fact (did you "
     "mean ‘recipients’?)"},
    {"fact with a hyphen", "hold \"x\" if in-thread", "did you mean ‘in_thread’?"},
    {"no fact", "hold \"x\" if", "p:1:12: found the end of the line, expected a fact"},
    {"long word", "hold \"x\" if aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
     "found ‘aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…’, expected a fact"},
    {"or", "hold \"x\" if locked or forward",
     "found ‘or’, expected ‘and’, ‘unsafe’ or the end of the line"},
    {"and what", "hold \"x\" if locked and\n",
     "p:1:23: found the end of the line, expected a fact"},
    {"number without comparison", "hold \"x\" if novel and locked",
     "p:1:19: found ‘and’, expected one of =, !=, <, <=, >, >="},
    {"operator", "hold \"x\" if novel => 1", "p:1:19: found ‘=>’, expected one of ="},
    {"flag with comparison", "hold \"x\" if forward = yes",
     "p:1:21: found ‘=’, expected ‘and’, ‘unsafe’ or"},
    {"not a number", "hold \"x\" if not novel",
     "p:1:17: found ‘novel’, expected a yes/no fact"},
    {"not not", "hold \"x\" if not not locked", "found ‘not’, expected a yes/no fact"},
    {"number in words", "hold \"x\" if novel > none", "found ‘none’, expected a whole number"},
    {"negative", "hold \"x\" if novel > -1", "found ‘-1’, expected a whole number"},
    {"number too large", "hold \"x\" if novel > 9223372036854775808",
     "expected a whole number"},
    {"product too large", "hold \"x\" if size > 9007199254740992K",
     "expected a number such as"},
    {"unit for a count", "hold \"x\" if novel > 1K", "found ‘1K’, expected a whole number"},
    {"unknown unit", "hold \"x\" if size > 1G", "found ‘1G’, expected a number such as"},
    {"number as text", "hold \"x\" if novel > \"1\"",
     "found a text in quotes, expected a whole"},
    {"delay without time", "delay \"x\"",
     "p:1:7: found a text in quotes, expected a time from"},
    {"delay without unit", "delay 2-6 \"x\"", "found ‘2-6’, expected a time"},
    {"delay of nothing", "delay 0s \"x\"", "found ‘0s’, expected a time"},
    {"delay for ever", "delay 1d-31d \"x\"", "found ‘1d-31d’, expected a time"},
    {"delay with two hyphens", "delay 1h-2h-3h \"x\"", "found ‘1h-2h-3h’, expected a time"},
    {"delay half open", "delay 2h- \"x\"", "found ‘2h-’, expected a time"},
    {"delay backwards", "delay 6h-2h \"x\"", "found ‘6h-2h’, expected the shorter time first"},
    {"declared may not release (C1)", "release \"x\" if declared = question",
     "p:1:16: found ‘declared’, expected a fact: what an agent declares or writes may only "
     "make a verdict stricter"},
    {"declared may not delay", "delay 1h \"x\" if locked and declared = q",
     "make a verdict stricter"},
    {"declared compared", "hold \"x\" if declared != q", "found ‘!=’, expected ‘=’"},
    {"declared alone", "hold \"x\" if declared", "found the end of the line, expected ‘=’"},
    {"declared as nothing",
     "hold \"x\" if declared =", "expected a class: a word, or a text in double"},
    {"declared too long",
     "hold \"x\" if declared = "
     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
     "expected a class of at most 64 bytes"},
    {"limit of what", "limit 2 sends per day else hold",
     "expected one of automatic, recipients"},
    {"limit per what", "limit 2 automatic per week else hold",
     "expected one of conversation, "},
    {"limit misspelt", "limit 2 automatic per conversatoin else hold", "mean ‘conversation’?"},
    {"recipients per hour", "limit 2 recipients per hour else hold",
     "found ‘hour’, expected ‘day’"},
    {"limit without tier", "limit 2 automatic per day",
     "found the end of the line, expected ‘else’"},
    {"limit that releases", "limit 2 automatic per day else release", "one of draft, hold"},
    {"limit and more", "limit 2 automatic per day else hold \"x\"",
     "expected the end of the line"},
    {"limit without number", "limit automatic per day else hold", "expected a whole number"},
    {"approvals of nobody", "approvals 0 if novel > 0",
     "p:1:11: found ‘0’, expected one of 1, 2, 3, 4, 5"},
    {"approvals of six", "approvals 6 if novel > 0", "p:1:11: found ‘6’, expected one of"},
    {"approvals with a reason", "approvals 2 \"x\" if novel > 0",
     "p:1:13: found a text in quotes, expected ‘if’ or the end of the line"},
    {"never what", "never if novel > 0", "p:1:7: found ‘if’, expected ‘automatic’"},
    {"never misspelt", "never autmatic if novel > 0", "did you mean ‘automatic’?"},
    {"unsafe without a reason", "release \"x\" if novel > 0 unsafe",
     "p:1:32: found the end of the line, expected a reason in double quotes"},
    {"unsafe misspelt", "release \"x\" if novel > 0 unsave \"y\"",
     "found ‘unsave’, expected ‘and’, ‘unsafe’ or the end of the line (did you mean "
     "‘unsafe’?)"},
    {"conditions after unsafe", "release \"x\" unsafe \"y\" if locked",
     "found ‘if’, expected the end of the line"},
    {"unsafe limit", "limit 2 automatic per day else hold unsafe \"x\"",
     "expected the end of the line"},
    {"text may not release", "release \"x\" if subject contains \"y\"",
     "p:1:16: found ‘subject’, expected a fact: what an agent declares or writes may only "
     "make"},
    {"text may not delay", "delay 1h \"x\" if mine and text contains \"y\"",
     "p:1:26: found ‘text’, expected a fact: what an agent declares or writes may only make"},
    {"text how", "hold \"x\" if text has \"y\"",
     "p:1:18: found ‘has’, expected one of contains, matches"},
    {"contains a word", "hold \"x\" if text contains y", "expected a text in double quotes"},
    {"contains a pattern", "hold \"x\" if text contains /y/",
     "found a pattern between slashes, expected a text in double quotes"},
    {"matches a text", "hold \"x\" if text matches \"y\"",
     "expected a pattern between slashes, such as /invoice [0-9]+/i"},
    {"pattern not closed", "hold \"x\" if text matches /y\nhold \"z\"",
     "p:1:26: found a pattern without its closing slash"},
    {"pattern of nothing", "hold \"x\" if text matches //", "a pattern of 1 to 200 bytes"},
    {"pattern letter", "hold \"x\" if text matches /y/g", "no other letter than i behind"},
    {"no pattern", "hold \"x\" if text matches /(y/i",
     "p:1:26: found a pattern between slashes, expected a regular expression: "},
    {"not and a text", "hold \"x\" if not text contains \"y\"",
     "found ‘text’, expected a yes/no fact"},
    {"any what", "hold \"x\" if any recipients in vip",
     "p:1:17: found ‘recipients’, expected ‘recipient’ (did you mean ‘recipient’?)"},
    {"all what", "hold \"x\" if all recipient in vip", "did you mean ‘recipients’?"},
    {"list without a reader", "hold \"x\" if any recipient in vip",
     "p:1:30: found ‘vip’, expected no other file: this policy stands alone"},
    {"include without a reader", "include other",
     "p:1:9: found ‘other’, expected no other file"},
    {"include nothing", "include", "expected the file of a policy, in double quotes when"},
    {"expect what", "expect hodl when novel = 1", "did you mean ‘hold’?"},
    {"expect if", "expect hold if novel = 1", "found ‘if’, expected ‘when’ or the end"},
    {"expect more than", "expect hold when novel > 1", "found ‘>’, expected ‘=’"},
    {"expect reject", "expect reject when novel = 1",
     "p:1:8: found ‘reject’, expected one of release, delay, draft, hold, refuse"},
    {"a second rule on the line", "hold \"x\" hold \"y\"",
     "found ‘hold’, expected ‘if’, ‘unsafe’ or"},
    {"lone return", "hold \"x\"\rhold \"y\"", "p:1:9: found a carriage return"},
    {"CRLF", "# c\nhold \"x\"\r\n",
     "p:2:9: found a carriage return, expected lines that end with a line feed alone"},
    {"byte order mark", "\ufeffhold \"x\"", "p:1:1: found U+FEFF"},
    {"curly quotes", "hold “x”", "p:1:6: found ‘“’, expected a reason in double quotes"},
    {"not UTF-8", "draft \"x\"\nhold \"\xff\"", "p:2:7: found a byte that is not UTF-8"},
};

static void
test_wrong(gconstpointer data)
{
    guint row = GPOINTER_TO_UINT(data);
    g_autoptr(GError) error = NULL;

    g_assert_null(policy_parse(wrong[row].text, "p", NULL, &error));
    g_assert_error(error, POLICY_ERROR, POLICY_ERROR_SYNTAX);
    if (!strstr(error->message, wrong[row].message))
        g_test_fail_printf("%s: expected “%s”, found “%s”", wrong[row].name,
                           wrong[row].message, error->message);
    g_assert_true(g_utf8_validate(error->message, -1, NULL));
}

/* 64 KiB, 500 rules and 200 bytes of reason load, one more of each does not. */
static void
test_size(void)
{
    for (guint more = 0; more <= 1; more++) {
        g_autofree char *spaces = g_strnfill(64 * 1024 + more, ' ');
        g_autoptr(GString) lines = g_string_new("# not counted\n\n");
        for (guint i = 0; i < 500 + more; i++)
            g_string_append(lines,
                            i % 2 ? "hold \"x\"\n" : "limit 1 automatic per day else hold\n");
        g_autofree char *reason = g_strnfill(200 + more, 'a');
        g_autofree char *rule = g_strdup_printf("hold \"%s\"", reason);
        const char *texts[] = {spaces, lines->str, rule};
        for (guint i = 0; i < G_N_ELEMENTS(texts); i++) {
            g_autoptr(GError) error = NULL;
            g_autoptr(Policy) policy = policy_parse(texts[i], "p", NULL, &error);
            g_assert_cmpint(policy != NULL, ==, !more);
            g_assert_cmpint(error != NULL, ==, more);
        }
    }
}

/* A22: the text alone makes the version; B16: a word that is none finds no mode. */
static void
test_names(void)
{
    g_autoptr(Policy) policy = policy_parse("draft \"d\"\n", "p", NULL, NULL);
    g_autoptr(Policy) other = policy_parse("draft \"e\"\n", "p", NULL, NULL);
    g_autoptr(Policy) again = policy_ref(policy);
    Tier tier;
    Mode mode;

    g_assert_cmpstr(policy_version(again), ==,
                    "bf21e05948d7cbdcd2a5e92517b9846edacd8658c59b881486ffc2b6a89195c6");
    g_assert_cmpstr(policy_version(other), !=, policy_version(policy));
    for (Tier t = TIER_HOLD; t <= TIER_REFUSE; t++) {
        g_assert_true(tier_find(tier_name(t), &tier));
        g_assert_cmpint(tier, ==, t);
    }
    for (Mode m = MODE_DRAFT; m <= MODE_HYBRID; m++) {
        g_assert_true(mode_find(mode_name(m), &mode));
        g_assert_cmpint(mode, ==, m);
    }
    g_assert_false(tier_find("reject", &tier));
    g_assert_false(tier_find("", &tier));
    g_assert_false(mode_find("Hybrid", &mode));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (guint i = 0; i < G_N_ELEMENTS(wrong); i++) {
        g_autofree char *path = g_strconcat("/grammar/wrong/", wrong[i].name, NULL);
        g_test_add_data_func(path, GUINT_TO_POINTER(i), test_wrong);
    }
    g_test_add_func("/grammar/size", test_size);
    g_test_add_func("/grammar/names", test_names);
    return g_test_run();
}
