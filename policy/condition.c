#include "policy/condition.h"

#include <string.h>

/* PCRE2 counts this for each place at which a match may begin. Higher, and an agent that knows
 * a careless pattern such as (a+)+b could occupy the judge for seconds. */
#define STEPS_MAX "2000"

void
condition_clear(Condition *condition)
{
    g_free(condition->class);
    g_clear_pointer(&condition->pattern, g_regex_unref);
    g_clear_pointer(&condition->list, g_hash_table_unref);
    g_free(condition->text);
}

GRegex *
condition_compile(const char *pattern, gboolean is_literal, gboolean ignores_case,
                  GError **error)
{
    g_autofree char *escaped = is_literal ? g_regex_escape_string(pattern, -1) : NULL;
    g_autofree char *limited =
        g_strconcat("(*LIMIT_MATCH=" STEPS_MAX ")", escaped ? escaped : pattern, NULL);

    return g_regex_new(limited, G_REGEX_MULTILINE | (ignores_case ? G_REGEX_CASELESS : 0), 0,
                       error);
}

gboolean
condition_is_claim(const Condition *condition)
{
    return condition->kind == CONDITION_DECLARED || condition->kind == CONDITION_SUBJECT ||
           condition->kind == CONDITION_TEXT;
}

static gboolean
compare(gint64 value, Operator operator, gint64 number)
{
    switch (operator) {
    case OPERATOR_EQUAL:
        return value == number;
    case OPERATOR_UNEQUAL:
        return value != number;
    case OPERATOR_LESS:
        return value < number;
    case OPERATOR_AT_MOST:
        return value <= number;
    case OPERATOR_MORE:
        return value > number;
    case OPERATOR_AT_LEAST:
        return value >= number;
    }
    g_assert_not_reached();
}

static Truth
truth_of(gboolean holds)
{
    return holds ? TRUTH_YES : TRUTH_NO;
}

static Truth
ask_fact(const Condition *condition, const Facts *facts)
{
    FactValue value = facts->values[condition->fact];

    return value.known
               ? truth_of(compare(value.number, condition->operator, condition->number))
               : TRUTH_UNKNOWN;
}

/* A search that was broken off is no answer, and neither is one of the beginning alone. */
static Truth
search(const GRegex *pattern, const char *text)
{
    g_autoptr(GError) error = NULL;

    if (!text)
        return TRUTH_UNKNOWN;
    gsize length = strnlen(text, CONDITION_TEXT_MAX + 1);
    gboolean is_cut = length > CONDITION_TEXT_MAX;
    if (is_cut)
        length = g_utf8_find_prev_char(text, text + CONDITION_TEXT_MAX + 1) - text;
    if (g_regex_match_full(pattern, text, (gssize)length, 0, 0, NULL, &error))
        return TRUTH_YES;
    return error || is_cut ? TRUTH_UNKNOWN : TRUTH_NO;
}

static guint
count_listed(const Condition *condition, const Facts *facts)
{
    guint count = 0;

    for (guint i = 0; facts->recipients[i]; i++) {
        const char *recipient = facts->recipients[i];
        const char *at = strrchr(recipient, '@');
        count += g_hash_table_contains(condition->list, recipient) ||
                 (at && g_hash_table_contains(condition->list, at));
    }
    return count;
}

/* Nobody is not everybody: without recipients neither any nor all are listed. */
static Truth
ask_recipients(const Condition *condition, const Facts *facts)
{
    if (!facts->recipients)
        return TRUTH_UNKNOWN;
    guint total = g_strv_length((char **)facts->recipients);
    guint needed = condition->kind == CONDITION_ALL_RECIPIENTS ? MAX(total, 1) : 1;
    return truth_of(count_listed(condition, facts) >= needed);
}

static Truth
ask_text(const Condition *condition, const Facts *facts)
{
    Truth plain = search(condition->pattern, facts->text);
    Truth html = plain == TRUTH_YES ? TRUTH_NO : search(condition->pattern, facts->html);

    return MAX(plain, html);
}

Truth
condition_ask(const Condition *condition, const Facts *facts)
{
    switch (condition->kind) {
    case CONDITION_FACT:
        return ask_fact(condition, facts);
    case CONDITION_DECLARED:
        return truth_of(g_ascii_strcasecmp(condition->class, facts->declared) == 0);
    case CONDITION_SUBJECT:
        return search(condition->pattern, facts->subject);
    case CONDITION_TEXT:
        return ask_text(condition, facts);
    case CONDITION_ANY_RECIPIENT:
    case CONDITION_ALL_RECIPIENTS:
        return ask_recipients(condition, facts);
    }
    g_assert_not_reached();
}

static char *
describe_fact(Fact fact, FactValue value)
{
    if (!value.known)
        return g_strdup_printf("%s unknown", fact_name(fact));
    if (fact_kind(fact) == FACT_KIND_FLAG)
        return g_strdup_printf("%s = %s", fact_name(fact), value.number ? "yes" : "no");
    return g_strdup_printf("%s = %" G_GINT64_FORMAT, fact_name(fact), value.number);
}

char *
condition_describe(const Condition *condition, const Facts *facts)
{
    static const char *const found[] = {
        [TRUTH_NO] = "not found", [TRUTH_UNKNOWN] = "unknown", [TRUTH_YES] = "found"};

    switch (condition->kind) {
    case CONDITION_FACT:
        return describe_fact(condition->fact, facts->values[condition->fact]);
    case CONDITION_DECLARED:
        return g_strdup(condition_ask(condition, facts) == TRUTH_YES ? "declared"
                                                                     : "not declared");
    case CONDITION_SUBJECT:
    case CONDITION_TEXT:
        return g_strdup(found[condition_ask(condition, facts)]);
    case CONDITION_ANY_RECIPIENT:
    case CONDITION_ALL_RECIPIENTS:
        if (!facts->recipients)
            return g_strdup("recipients unknown");
        return g_strdup_printf("%u of %u recipients", count_listed(condition, facts),
                               g_strv_length((char **)facts->recipients));
    }
    g_assert_not_reached();
}
