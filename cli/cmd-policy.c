#include <stdio.h>
#include <sysexits.h>

#include "cli/command.h"
#include "cli/output.h"
#include "lib/escape.h"
#include "lib/policies.h"
#include "policy/check.h"
#include "policy/classes.h"
#include "policy/proof.h"

/* Every word but replay works on files alone and asks no relay. What it finds in a file is an
 * a{sv}, with "faults" for what is to be mended; people and programs get the same. */

static void
print_sentences(GVariant *found, const char *key, FILE *to)
{
    g_auto(GStrv) sentences = answer_list(found, key);

    for (guint i = 0; sentences[i] != NULL; i++) {
        g_autofree char *safe = escape_line(sentences[i]);

        fprintf(to, "%s\n", safe);
    }
}

static void
insert_sentences(GVariantDict *dict, const char *key, const GPtrArray *sentences)
{
    g_variant_dict_insert_value(
        dict, key, g_variant_new_strv((const char *const *)sentences->pdata, sentences->len));
}

static void
check(const Policy *policy, GVariantDict *dict, GPtrArray *faults)
{
    g_autoptr(GError) expectation = NULL, monotony = NULL;
    g_autoptr(GPtrArray) unreachable = proof_unreachable(policy);
    g_autoptr(GPtrArray) claims = check_claims(policy);

    if (!check_expectations(policy, NULL, &expectation))
        g_ptr_array_add(faults, g_strdup(expectation->message));
    if (!proof_monotony(policy, &monotony))
        g_ptr_array_add(faults, g_strdup(monotony->message));
    for (guint i = 0; unreachable != NULL && i < unreachable->len; i++)
        g_ptr_array_add(faults, g_strdup(g_ptr_array_index(unreachable, i)));
    insert_sentences(dict, "claims", claims);
}

static void
print_check(GVariant *found)
{
    g_auto(GStrv) faults = answer_list(found, "faults");
    g_autofree char *file = escape_line(answer_text(found, "file"));

    print_sentences(found, "claims", stdout);
    if (faults[0] == NULL)
        printf("%s: more risk never gets a laxer tier, except where a line is unsafe\n", file);
}

static void
test(const Policy *policy, GVariantDict *dict, GPtrArray *faults)
{
    g_autoptr(GError) error = NULL;
    guint passed = 0;

    if (check_expectations(policy, &passed, &error))
        g_variant_dict_insert(dict, "passed", "u", passed);
    else
        g_ptr_array_add(faults, g_strdup(error->message));
}

static void
print_test(GVariant *found)
{
    g_auto(GStrv) faults = answer_list(found, "faults");
    g_autofree char *file = escape_line(answer_text(found, "file"));

    if (faults[0] == NULL)
        printf("%s: %" G_GINT64_FORMAT " passed\n", file, answer_number(found, "passed"));
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

static GVariant *
view_class(const PolicyClass *class)
{
    GVariantDict dict;

    g_variant_dict_init(&dict, NULL);
    g_variant_dict_insert(&dict, "file", "s", class->line > 0 ? class->file : "");
    g_variant_dict_insert(&dict, "line", "u", class->line);
    g_variant_dict_insert(&dict, "tier", "s", tier_name(class->tier));
    g_variant_dict_insert(&dict, "applies", "b", class->applies);
    g_variant_dict_insert(&dict, "undo", "s", undo_of(class->tier));
    g_variant_dict_insert(&dict, "outside", "b", class->outside);
    g_variant_dict_insert(&dict, "strangers", "b", class->stranger);
    g_variant_dict_insert(&dict, "reason", "s", class->reason);
    g_variant_dict_insert(&dict, "conditions", "s", class->conditions);
    return g_variant_dict_end(&dict);
}

static void
list_classes(const Policy *policy, GVariantDict *dict, G_GNUC_UNUSED GPtrArray *faults)
{
    g_autoptr(GPtrArray) classes = policy_classes(policy);
    GVariantBuilder builder;

    g_variant_builder_init(&builder, G_VARIANT_TYPE("aa{sv}"));
    for (guint i = 0; i < classes->len; i++)
        g_variant_builder_add_value(&builder, view_class(g_ptr_array_index(classes, i)));
    g_variant_dict_insert_value(dict, "classes", g_variant_builder_end(&builder));
}

static void
add_class(GPtrArray *rows, GVariant *class)
{
    gint64 line = answer_number(class, "line");
    const char *conditions = answer_text(class, "conditions");
    gboolean applies = answer_flag(class, "applies", TRUE);

    command_add_row(rows,
                    line > 0 ? g_strdup_printf("%" G_GINT64_FORMAT, line) : g_strdup("-"),
                    g_strdup(applies ? answer_text(class, "tier") : "(nothing)"),
                    g_strdup(answer_text(class, "undo")),
                    g_strdup(answer_flag(class, "outside", TRUE) ? "yes" : "no"),
                    g_strdup(answer_flag(class, "strangers", TRUE) ? "yes" : "no"),
                    escape_line(answer_text(class, "reason")),
                    escape_line(*conditions ? conditions : "-"), NULL);
}

static void
print_classes(GVariant *found)
{
    enum { FLEXIBLE_FROM = 5 };
    g_autoptr(GVariant) classes = answer_array(found, "classes", "aa{sv}");
    g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func((GDestroyNotify)g_strfreev);

    if (g_variant_n_children(classes) == 0)
        return;
    command_add_row(rows, g_strdup("LINE"), g_strdup("TIER"), g_strdup("UNDO"),
                    g_strdup("OUTSIDE"), g_strdup("STRANGERS"), g_strdup("WHY"),
                    g_strdup("IF"), NULL);
    for (gsize i = 0; i < g_variant_n_children(classes); i++) {
        g_autoptr(GVariant) class = g_variant_get_child_value(classes, i);

        add_class(rows, class);
    }
    guint columns = output_terminal_columns();
    g_autofree char *table = output_table(rows, FLEXIBLE_FROM, columns ? columns : G_MAXINT);
    fputs(table, stdout);
}

typedef struct {
    const char *word;
    void (*look)(const Policy *policy, GVariantDict *dict, GPtrArray *faults);
    void (*print)(GVariant *found);
} Word;

static const Word WORDS[] = {{"check", check, print_check},
                             {"test", test, print_test},
                             {"classes", list_classes, print_classes}};

/* *status_inout: EX_DATAERR when there is something to mend. */
static GVariant *
look_at(const Word *word, const char *file, int *status_inout)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(Policy) policy = policies_parse(file, &error);
    g_autoptr(GPtrArray) faults = g_ptr_array_new_with_free_func(g_free);
    GVariantDict dict;

    g_variant_dict_init(&dict, NULL);
    g_variant_dict_insert(&dict, "file", "s", policy ? policy_name(policy) : file);
    if (policy != NULL) {
        g_variant_dict_insert(&dict, "version", "s", policy_version(policy));
        word->look(policy, &dict, faults);
    } else {
        g_ptr_array_add(faults, g_strdup(error->message));
    }
    insert_sentences(&dict, "faults", faults);
    if (faults->len > 0)
        *status_inout = EX_DATAERR;
    return g_variant_ref_sink(g_variant_dict_end(&dict));
}

static int
look_at_all(const Word *word, char **files, gboolean json)
{
    int status = EX_OK;
    GVariantBuilder builder;
    GVariantDict dict;

    g_variant_builder_init(&builder, G_VARIANT_TYPE("aa{sv}"));
    for (guint i = 0; files[i] != NULL; i++) {
        g_autoptr(GVariant) found = look_at(word, files[i], &status);

        g_variant_builder_add_value(&builder, found);
        if (json)
            continue;
        word->print(found);
        print_sentences(found, "faults", stderr);
    }
    g_variant_dict_init(&dict, NULL);
    g_variant_dict_insert_value(&dict, "policies", g_variant_builder_end(&builder));
    g_autoptr(GVariant) answer = g_variant_ref_sink(g_variant_dict_end(&dict));
    int printed = json ? command_print_json(answer) : EX_OK;
    return printed != EX_OK ? printed : status;
}

int
cmd_policy(const Session *session, char **words)
{
    guint word = 0;

    if (g_str_equal(words[0], "replay") && words[1] == NULL)
        return cmd_replay(session);
    if (g_hash_table_size(session->options) > 0)
        return command_misused(words[0], "replay, which alone takes options");
    while (word < G_N_ELEMENTS(WORDS) && !g_str_equal(WORDS[word].word, words[0]))
        word++;
    if (word == G_N_ELEMENTS(WORDS))
        return command_misused(words[0], "check, test, classes or replay");
    if (!words[1])
        return command_misused(words[0], "it with a FILE");
    return look_at_all(&WORDS[word], words + 1, session->json);
}
