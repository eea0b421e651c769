#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "cli/command.h"
#include "cli/output.h"

enum { POLICY_DIGITS = 12 };

#define INDENT "    "

/* "hold “first contact”", or "approvals 2". */
static char *
describe_effect(GVariant *line)
{
    const char *kind = answer_text(line, "kind");

    if (g_str_equal(kind, "approvals"))
        return g_strdup_printf("approvals %" G_GINT64_FORMAT,
                               answer_number(line, "approvals"));
    return g_strdup_printf("%s%s “%s”",
                           g_str_equal(kind, "limit")   ? "limit "
                           : g_str_equal(kind, "never") ? "never automatic "
                                                        : "",
                           answer_text(line, "tier"), answer_text(line, "reason"));
}

static const char *
describe_part(GVariant *line)
{
    const char *truth = answer_text(line, "truth");

    if (answer_flag(line, "decides", FALSE))
        return "decides";
    if (g_str_equal(truth, "no"))
        return "does not apply";
    if (g_str_equal(truth, "unknown"))
        return "cannot be told";
    return g_str_equal(answer_text(line, "kind"), "approvals")
               ? "applies"
               : "applies, but something else decides";
}

/* Each condition with its truth and what the facts say. */
static void
print_conditions(GVariant *line)
{
    g_autoptr(GVariant) conditions = answer_array(line, "conditions", "aa{sv}");

    for (gsize i = 0; i < g_variant_n_children(conditions); i++) {
        g_autoptr(GVariant) condition = g_variant_get_child_value(conditions, i);
        const char *text = answer_text(condition, "text");
        const char *value = answer_text(condition, "value");
        g_autofree char *first =
            g_strdup_printf("%s%-8s", INDENT, answer_text(condition, "truth"));
        g_autofree char *rest =
            g_str_equal(text, value) ? g_strdup(text) : g_strdup_printf("%s: %s", text, value);

        output_print(first, INDENT INDENT INDENT, rest);
    }
}

static void
print_rule(GVariant *line)
{
    g_autofree char *file = g_path_get_basename(answer_text(line, "file"));
    g_autofree char *effect = describe_effect(line);
    g_autofree char *text = g_strdup_printf(
        "%s%s:%" G_GINT64_FORMAT ": %s: %s", answer_flag(line, "floor", FALSE) ? "floor " : "",
        file, answer_number(line, "line"), effect, describe_part(line));

    output_print(answer_flag(line, "decides", FALSE) ? "> " : "  ", INDENT, text);
    print_conditions(line);
}

static void
print_nearest(GVariant *answer)
{
    g_autoptr(GVariant) nearest = answer_array(answer, "nearest", "aa{sv}");

    for (gsize i = 0; i < g_variant_n_children(nearest); i++) {
        g_autoptr(GVariant) change = g_variant_get_child_value(nearest, i);
        g_autofree char *text =
            g_strdup_printf("With %s = %s instead of %s: %s, %s", answer_text(change, "fact"),
                            answer_text(change, "to"), answer_text(change, "from"),
                            answer_text(change, "tier"), answer_text(change, "reason"));

        output_print("", INDENT, text);
    }
    if (g_variant_n_children(nearest) == 0)
        puts("No other value of a single fact gives another tier.");
}

/* What was decided when it came, where that was something else. */
static void
print_judged(GVariant *answer)
{
    g_autoptr(GVariant) judged = answer_array(answer, "judged", "a{sv}");
    gboolean same = g_str_equal(answer_text(judged, "policy"), answer_text(answer, "policy"));
    g_autofree char *text = g_strdup_printf(
        "It was judged under %s: %s, %s", same ? "the same policy" : "another policy",
        answer_text(judged, "tier"), answer_text(judged, "reason"));

    if (!same || !g_str_equal(answer_text(judged, "tier"), answer_text(answer, "tier")))
        output_print("", INDENT, text);
}

static void
print_answer(GVariant *answer)
{
    g_autoptr(GVariant) lines = answer_array(answer, "lines", "aa{sv}");
    g_autofree char *verdict =
        g_strdup_printf("%s: %s, %s", answer_text(answer, "id"), answer_text(answer, "tier"),
                        answer_text(answer, "reason"));
    g_autofree char *setting = g_strdup_printf(
        "Account %s, mode %s, policy %.*s", answer_text(answer, "account"),
        answer_text(answer, "mode"), POLICY_DIGITS, answer_text(answer, "policy"));

    output_print("", INDENT, verdict);
    output_print("", INDENT, setting);
    print_judged(answer);
    putchar('\n');
    for (gsize i = 0; i < g_variant_n_children(lines); i++) {
        g_autoptr(GVariant) line = g_variant_get_child_value(lines, i);
        print_rule(line);
    }
    putchar('\n');
    print_nearest(answer);
}

int
cmd_explain(const Session *session, char **words)
{
    const GPtrArray *suppositions = session->suppositions;
    GVariantDict arguments;
    int status;

    for (guint i = 0; i < suppositions->len; i++)
        if (!g_utf8_validate(g_ptr_array_index(suppositions, i), -1, NULL))
            return command_misused(g_ptr_array_index(suppositions, i), "text");
    g_variant_dict_init(&arguments, NULL);
    g_variant_dict_insert(&arguments, "id", "s", words[0]);
    g_variant_dict_insert_value(
        &arguments, "suppose",
        g_variant_new_strv((const char *const *)suppositions->pdata, suppositions->len));
    g_autoptr(GVariant) answer =
        request_ask(session, "explain", g_variant_dict_end(&arguments), &status);
    if (answer == NULL)
        return status;
    if (session->json)
        return command_print_json(answer);
    print_answer(answer);
    return EX_OK;
}
