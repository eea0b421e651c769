#include <stdio.h>
#include <sysexits.h>

#include "cli/command.h"
#include "cli/output.h"
#include "lib/escape.h"
#include "lib/policies.h"
#include "policy/check.h"
#include "policy/classes.h"
#include "policy/proof.h"

/* Every word but replay works on files alone and asks no relay. */

static int
say(const char *sentence, int status)
{
    g_autofree char *safe = escape_line(sentence);

    fprintf(status == EX_OK ? stdout : stderr, "%s\n", safe);
    return status;
}

static int
say_all(const GPtrArray *sentences, int status)
{
    for (guint i = 0; i < sentences->len; i++)
        say(g_ptr_array_index(sentences, i), status);
    return sentences->len > 0 ? status : EX_OK;
}

static int
check(const Policy *policy)
{
    g_autoptr(GError) expectation = NULL, monotony = NULL;
    g_autoptr(GPtrArray) unreachable = proof_unreachable(policy);
    g_autoptr(GPtrArray) claims = check_claims(policy);
    int status = EX_OK;

    say_all(claims, EX_OK);
    if (!check_expectations(policy, NULL, &expectation))
        status = say(expectation->message, EX_DATAERR);
    if (!proof_monotony(policy, &monotony))
        status = say(monotony->message, EX_DATAERR);
    if (unreachable && say_all(unreachable, EX_DATAERR) != EX_OK)
        status = EX_DATAERR;
    if (status == EX_OK) {
        g_autofree char *sentence = g_strdup_printf(
            "%s: more risk never gets a laxer tier, except where a line is unsafe",
            policy_name(policy));
        say(sentence, EX_OK);
    }
    return status;
}

static int
test(const Policy *policy)
{
    g_autoptr(GError) error = NULL;
    guint passed;

    if (!check_expectations(policy, &passed, &error))
        return say(error->message, EX_DATAERR);
    g_autofree char *sentence = g_strdup_printf("%s: %u passed", policy_name(policy), passed);
    return say(sentence, EX_OK);
}

/* Whether what such a line does can be taken back (B25). */
static const char *
undo_of(Tier tier)
{
    switch (tier) {
    case TIER_RELEASE:
        return "never";
    case TIER_DELAY:
        return "until due";
    case TIER_DRAFT:
    case TIER_HOLD:
    case TIER_REFUSE:
        return "yes";
    }
    g_assert_not_reached();
}

static void
add_class(GPtrArray *rows, const PolicyClass *class)
{
    command_add_row(rows, class->line ? g_strdup_printf("%u", class->line) : g_strdup("-"),
                    g_strdup(class->applies ? tier_name(class->tier) : "(nothing)"),
                    g_strdup(undo_of(class->tier)), g_strdup(class->outside ? "yes" : "no"),
                    g_strdup(class->stranger ? "yes" : "no"), escape_line(class->reason),
                    escape_line(*class->conditions ? class->conditions : "-"), NULL);
}

static int
print_classes(const Policy *policy)
{
    enum { FLEXIBLE_FROM = 5 };
    g_autoptr(GPtrArray) classes = policy_classes(policy);
    g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func((GDestroyNotify)g_strfreev);

    command_add_row(rows, g_strdup("LINE"), g_strdup("TIER"), g_strdup("UNDO"),
                    g_strdup("OUTSIDE"), g_strdup("STRANGERS"), g_strdup("WHY"),
                    g_strdup("IF"), NULL);
    for (guint i = 0; i < classes->len; i++)
        add_class(rows, g_ptr_array_index(classes, i));
    guint columns = output_terminal_columns();
    g_autofree char *table = output_table(rows, FLEXIBLE_FROM, columns ? columns : G_MAXINT);
    fputs(table, stdout);
    return EX_OK;
}

static const struct {
    const char *word;
    int (*run)(const Policy *policy);
} WORDS[] = {{"check", check}, {"test", test}, {"classes", print_classes}};

int
cmd_policy(const Session *session, char **words)
{
    guint word = 0;
    int status = EX_OK;

    if (g_str_equal(words[0], "replay") && words[1] == NULL)
        return cmd_replay(session);
    if (session->json || g_hash_table_size(session->options) > 0)
        return command_misused(words[0], "replay, which alone takes them");
    while (word < G_N_ELEMENTS(WORDS) && !g_str_equal(WORDS[word].word, words[0]))
        word++;
    if (word == G_N_ELEMENTS(WORDS))
        return command_misused(words[0], "check, test, classes or replay");
    if (!words[1])
        return command_misused(words[0], "it with a FILE");
    for (guint i = 1; words[i]; i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(Policy) policy = policies_parse(words[i], &error);
        int found = policy ? WORDS[word].run(policy) : say(error->message, EX_DATAERR);
        status = found != EX_OK ? found : status;
    }
    return status;
}
