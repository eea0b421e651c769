/* The strict reader of key files: what it refuses, and the words it does so with (XF10). */
#include "lib/keyfile.h"

#include <string.h>

#include "lib/error.h"

typedef struct {
    const char *name;
    const char *text;
    const char *expected; /* the whole message */
} Refusal;

#define FORM    "[group], key = value, or a comment line that starts with #"
#define CONTROL "a line without control characters (also no carriage return)"

static const Refusal REFUSALS[] = {
    {"key-before-group", "# first\na = b\n",
     "f:2: found “a = b”, expected a [group] before the first key"},
    {"group-twice", "[a]\n[b]\n\n[a]\n",
     "f:4: found “[a]”, expected each group once: it began in line 1"},
    {"after-group", "[a] # mine\n",
     "f:1: found “[a] # mine”, expected [group] and nothing after it"},
    {"group-open", "[a\n", "f:1: found “[a”, expected [group] and nothing after it"},
    {"group-nested", "[a]]\n", "f:1: found “[a]]”, expected [group] and nothing after it"},
    {"group-empty", "[]\n", "f:1: found “[]”, expected [group] and nothing after it"},
    {"key-twice", "[a]\nb = 1\nb=2\n",
     "f:3: found “b”, expected each key once in a group: it stands in line 2"},
    {"key-alone", "[a]\nb\n", "f:2: found “b”, expected " FORM},
    {"no-key", "[a]\n= b\n", "f:2: found “= b”, expected " FORM},
    {"semicolon-line", "[a]\n; b\n", "f:2: found “; b”, expected " FORM},
    {"no-value", "[a]\nb = \n", "f:2: found “b =”, expected a value after the ="},
    {"hash", "[a]\nb = 14d # two weeks\n",
     "f:2: found “14d # two weeks”, expected the value alone: a comment is a line of its own"},
    {"hash-tab", "[a]\nb = x\t#y\n",
     "f:2: found “x\t#y”, expected the value alone: a comment is a line of its own"},
    {"hash-first", "[a]\nb = #y\n",
     "f:2: found “#y”, expected the value alone: a comment is a line of its own"},
    {"semicolon", "[a]\nb = x;y\n",
     "f:2: found “x;y”, expected the value alone: a comment is a line of its own"},
    {"carriage-return", "[a]\r\n", "f:1: found “[a]\r”, expected " CONTROL},
    {"escape", "[a]\nb = \x1b[2J\n", "f:2: found “b = \x1b[2J”, expected " CONTROL},
    {"c1", "[a]\nb = \xc2\x9b\n", "f:2: found “b = \xc2\x9b”, expected " CONTROL},
    {"long", "[a]\nüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüü\n",
     "f:2: found “üüüüüüüüüüüüüüüüüüüüüüüüüüüüü…”, expected " FORM},
};

static void
test_refusal(gconstpointer data)
{
    const Refusal *row = data;
    g_autoptr(GError) error = NULL;

    g_assert_null(keyfile_parse(row->text, "f", &error));
    g_assert_error(error, EXEAT_ERROR, ERROR_CONFIG);
    g_assert_cmpstr(error->message, ==, row->expected);
}

static void
test_reads(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(KeyFile) file =
        keyfile_parse("# c ; d\n  [a b]  \n\tkey=x = y#z\n\n[c]\nkey = 2", "f", &error);

    g_assert_no_error(error);
    g_assert_cmpuint(file->groups->len, ==, 2);
    const KeyLine *line = keygroup_line(keyfile_group(file, "a b"), "key");
    g_assert_cmpstr(line->text, ==, "x = y#z");
    g_assert_cmpuint(line->line, ==, 3);
    g_assert_cmpstr(keygroup_line(keyfile_group(file, "c"), "key")->text, ==, "2");
    g_assert_null(keyfile_group(file, "A B"));
    g_assert_null(keygroup_line(keyfile_group(file, "c"), "Key"));
}

static void
test_nearest(void)
{
    static const char *const KNOWN[] = {"approvers", "approval-life", "admins", NULL};
    static const struct {
        const char *text;
        const char *nearest;
    } ROWS[] = {{"[a]\naprovers = 1\n", " (did you mean “approvers”?)"},
                {"[a]\nAdmin = 1\n", " (did you mean “admins”?)"},
                {"[a]\napproval-lif = 1\n", " (did you mean “approval-life”?)"},
                {"[a]\nsomething = 1\n", "expected a key of [a]"}};

    for (gsize i = 0; i < G_N_ELEMENTS(ROWS); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(KeyFile) file = keyfile_parse(ROWS[i].text, "f", NULL);
        g_assert_false(keygroup_check(file, keyfile_group(file, "a"), KNOWN, &error));
        g_assert_true(g_str_has_suffix(error->message, ROWS[i].nearest));
    }
    g_autoptr(KeyFile) file = keyfile_parse("[a]\nadmins = 1\n", "f", NULL);
    g_assert_true(keygroup_check(file, keyfile_group(file, "a"), KNOWN, NULL));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (gsize i = 0; i < G_N_ELEMENTS(REFUSALS); i++) {
        g_autofree char *path = g_strconcat("/keyfile/refuses/", REFUSALS[i].name, NULL);
        g_test_add_data_func(path, &REFUSALS[i], test_refusal);
    }
    g_test_add_func("/keyfile/reads", test_reads);
    g_test_add_func("/keyfile/nearest", test_nearest);
    return g_test_run();
}
