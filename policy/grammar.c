/* The grammar, a function a phrase; exeat-policy(5) has it whole. A new kind of line is a row
 * of statements[], a new kind of condition a branch of take_condition(). */
#include "policy/rules-private.h"

#include <string.h>

#include "policy/lexer.h"

#define TEXT_MAX   (64 * 1024)
#define LINES_MAX  500
#define REASON_MAX 200 /* bytes: a reason must fit a line of an SMTP reply */
#define WAIT_MAX   (30 * 24 * 60 * 60)
#define CLASS_MAX  (G_SIZEOF_MEMBER(Facts, declared) - 1)

/* One of words, NULL-terminated: which one it was. */
static gboolean
take_one_of(Lexer *lexer, const char *const *words, guint *index_out, GError **error)
{
    for (guint i = 0; words[i]; i++) {
        if (lexer_skip(lexer, words[i])) {
            *index_out = i;
            return TRUE;
        }
    }
    g_autofree char *list = g_strjoinv(", ", (char **)words);
    g_autofree char *expected = g_strdup_printf(words[1] ? "one of %s" : "‘%s’", list);
    return lexer_fail(lexer, expected, words, error);
}

static gboolean
take_word(Lexer *lexer, const char *word, GError **error)
{
    const char *const words[] = {word, NULL};
    guint index;

    return take_one_of(lexer, words, &index, error);
}

static gboolean
is_at_end(const Lexer *lexer)
{
    return lexer->kind == TOKEN_END_OF_LINE || lexer->kind == TOKEN_END_OF_TEXT;
}

/* The end of the line, or the word that carries it on. */
static gboolean
take_end_or(Lexer *lexer, const char *word, gboolean *ended_out, GError **error)
{
    const char *const words[] = {word, NULL};
    g_autofree char *expected = g_strdup_printf("‘%s’ or the end of the line", word);

    *ended_out = is_at_end(lexer);
    return *ended_out || lexer_skip(lexer, word) || lexer_fail(lexer, expected, words, error);
}

/* Digits, then at most one letter of units; worths says what each stands for. Without a letter
 * the number itself, if bare is set. */
static gboolean
parse_amount(const char *text, const char *units, const gint64 *worths, gboolean bare,
             gint64 *amount_out)
{
    gsize digits = strspn(text, "0123456789");
    const char *unit = text[digits] ? strchr(units, text[digits]) : NULL;
    gint64 worth = unit ? worths[unit - units] : 1;
    g_autofree char *number = g_strndup(text, digits);

    gboolean is_whole = unit ? text[digits + 1] == '\0' : text[digits] == '\0' && bare;
    if (!is_whole)
        return FALSE;
    gint64 amount;
    if (!g_ascii_string_to_signed(number, 10, 0, G_MAXINT64 / worth, &amount, NULL))
        return FALSE;
    *amount_out = amount * worth;
    return TRUE;
}

static gboolean
parse_time(const char *text, gint64 *seconds_out)
{
    static const gint64 worths[] = {1, 60, 60 * 60, 24 * 60 * 60};

    return parse_amount(text, "smhd", worths, FALSE, seconds_out) && *seconds_out > 0 &&
           *seconds_out <= WAIT_MAX;
}

static gboolean
take_number(Lexer *lexer, gboolean is_bytes, gint64 *number_out, GError **error)
{
    static const gint64 worths[] = {1024, 1024 * 1024};
    g_autofree char *text = lexer_text(lexer);

    if (lexer->kind != TOKEN_WORD ||
        !parse_amount(text, is_bytes ? "KM" : "", worths, TRUE, number_out))
        return lexer_fail(lexer,
                          is_bytes ? "a number such as 5000, 40K or 2M" : "a whole number",
                          NULL, error);
    lexer_next(lexer);
    return TRUE;
}

/* "2h-6h" or "3h" */
static gboolean
take_wait(Lexer *lexer, Rule *rule, GError **error)
{
    g_autofree char *text = lexer_text(lexer);
    g_auto(GStrv) ends = g_strsplit(text, "-", 2);

    if (lexer->kind != TOKEN_WORD || !parse_time(ends[0], &rule->wait_min) ||
        !parse_time(ends[ends[1] ? 1 : 0], &rule->wait_max))
        return lexer_fail(lexer, "a time from 1s to 30d, such as 3h or 2h-6h", NULL, error);
    if (rule->wait_min > rule->wait_max)
        return lexer_fail(lexer, "the shorter time first", NULL, error);
    lexer_next(lexer);
    return TRUE;
}

static gboolean
take_reason(Lexer *lexer, Rule *rule, GError **error)
{
    g_autofree char *reason = lexer_text(lexer);

    if (lexer->kind != TOKEN_TEXT || !*g_strstrip(reason))
        return lexer_fail(lexer, "a reason in double quotes", NULL, error);
    if (strlen(reason) > REASON_MAX)
        return lexer_fail(lexer, "a reason of at most " G_STRINGIFY(REASON_MAX) " bytes", NULL,
                          error);
    rule->reason = g_steal_pointer(&reason);
    lexer_next(lexer);
    return TRUE;
}

/* What follows "declared". An empty class stands for none declared. */
static gboolean
take_class(Lexer *lexer, Condition *condition, GError **error)
{
    if (!take_word(lexer, "=", error))
        return FALSE;
    if (lexer->kind != TOKEN_WORD && lexer->kind != TOKEN_TEXT)
        return lexer_fail(lexer, "a word, or a text in double quotes", NULL, error);
    g_autofree char *name = lexer_text(lexer);
    if (strlen(name) > CLASS_MAX)
        return lexer_fail(lexer, "a class of at most 64 bytes", NULL, error);
    condition->declared = g_steal_pointer(&name);
    lexer_next(lexer);
    return TRUE;
}

static gboolean
take_comparison(Lexer *lexer, Condition *condition, GError **error)
{
    static const char *const operators[] = {
        [OPERATOR_EQUAL] = "=",
        [OPERATOR_UNEQUAL] = "!=",
        [OPERATOR_LESS] = "<",
        [OPERATOR_AT_MOST] = "<=",
        [OPERATOR_MORE] = ">",
        [OPERATOR_AT_LEAST] = ">=",
        NULL,
    };
    gboolean is_bytes =
        condition->fact == FACT_ATTACHMENT_BYTES || condition->fact == FACT_SIZE;

    return take_one_of(lexer, operators, &condition->operator, error) &&
           take_number(lexer, is_bytes, &condition->number, error);
}

/* A fact by its name; only a yes/no fact when flags_only. */
static gboolean
take_fact(Lexer *lexer, gboolean flags_only, Fact *fact_out, GError **error)
{
    const char *words[FACT_COUNT + 3] = {NULL};
    guint count = 0;

    for (guint i = 0; i < FACT_COUNT; i++) {
        if (flags_only && fact_kind(i) != FACT_KIND_FLAG)
            continue;
        if (lexer_skip(lexer, fact_name(i))) {
            *fact_out = i;
            return TRUE;
        }
        words[count++] = fact_name(i);
    }
    if (flags_only)
        return lexer_fail(lexer, "a yes/no fact", words, error);
    words[count++] = "not";
    words[count] = "declared";
    return lexer_fail(lexer, "a fact", words, error);
}

static gboolean
take_condition(Lexer *lexer, Rule *rule, GError **error)
{
    Condition condition = {.operator= OPERATOR_EQUAL, .number = 1};
    gboolean taken;

    if (lexer_is(lexer, "declared") &&
        tier_strictness(rule->tier) <= tier_strictness(TIER_DELAY))
        return lexer_fail(
            lexer, "a fact: the class an agent declares may only make a verdict stricter",
            NULL, error);
    if (lexer_skip(lexer, "declared")) {
        rule->is_claim = TRUE;
        taken = take_class(lexer, &condition, error);
    } else if (lexer_skip(lexer, "not")) {
        condition.number = 0;
        taken = take_fact(lexer, TRUE, &condition.fact, error);
    } else {
        taken = take_fact(lexer, FALSE, &condition.fact, error) &&
                (fact_kind(condition.fact) == FACT_KIND_FLAG ||
                 take_comparison(lexer, &condition, error));
    }
    if (taken)
        g_array_append_val(rule->conditions, condition);
    return taken;
}

/* What follows the tier. */
static gboolean
take_rule(Lexer *lexer, Tier tier, Policy *policy, GError **error)
{
    g_autoptr(Rule) rule = rule_new(lexer->line);
    gboolean ended;

    rule->tier = tier;
    if (tier == TIER_DELAY && !take_wait(lexer, rule, error))
        return FALSE;
    if (!take_reason(lexer, rule, error) || !take_end_or(lexer, "if", &ended, error))
        return FALSE;
    while (!ended) {
        if (!take_condition(lexer, rule, error) || !take_end_or(lexer, "and", &ended, error))
            return FALSE;
    }
    GPtrArray *home = rule->is_claim ? policy->claims : policy->rules;
    g_ptr_array_add(home, g_steal_pointer(&rule));
    return TRUE;
}

/* What follows "limit". */
static gboolean
take_limit(Lexer *lexer, Policy *policy, GError **error)
{
    static const char *const counted[] = {"automatic", "recipients", NULL};
    static const char *const spans[] = {"conversation", "recipient", "hour", "day", NULL};
    static const char *const day[] = {"day", NULL};
    static const Fact facts[] = {FACT_AUTO_SENDS, FACT_AUTO_RECIPIENT, FACT_SENT_HOUR,
                                 FACT_SENT_DAY};
    static const char *const tiers[] = {"draft", "hold", NULL};
    g_autoptr(Limit) limit = g_new0(Limit, 1);
    guint what, span, tier;

    limit->line = lexer->line;
    if (!take_number(lexer, FALSE, &limit->number, error) ||
        !take_one_of(lexer, counted, &what, error) || !take_word(lexer, "per", error) ||
        !take_one_of(lexer, what == 0 ? spans : day, &span, error) ||
        !take_word(lexer, "else", error) || !take_one_of(lexer, tiers, &tier, error))
        return FALSE;
    if (!is_at_end(lexer))
        return lexer_fail(lexer, "the end of the line", NULL, error);
    limit->tier = tier == 0 ? TIER_DRAFT : TIER_HOLD;
    limit->fact = what == 0 ? facts[span] : FACT_FANOUT_DAY;
    limit->text = g_strdup_printf("limit of %" G_GINT64_FORMAT " %s per %s", limit->number,
                                  counted[what], what == 0 ? spans[span] : day[span]);
    g_ptr_array_add(policy->limits, g_steal_pointer(&limit));
    return TRUE;
}

static gboolean
take_statement(Lexer *lexer, Policy *policy, GError **error)
{
    static const char *const words[] = {"release", "delay", "draft", "hold",
                                        "refuse",  "limit", NULL};
    Tier tier;
    guint index;

    if (!take_one_of(lexer, words, &index, error))
        return FALSE;
    return tier_find(words[index], &tier) ? take_rule(lexer, tier, policy, error)
                                          : take_limit(lexer, policy, error);
}

/* What no token can say: too long, or no text at all. */
static gboolean
check_text(const char *text, const char *name, GError **error)
{
    Lexer lexer = {.name = name, .line = 1, .line_start = text};
    const char *end;

    if (strlen(text) > TEXT_MAX)
        return lexer_fail_at(&lexer, text, "a longer text", "at most 64 KiB", error);
    if (g_utf8_validate(text, -1, &end))
        return TRUE;
    for (const char *at = text; at < end; at++) {
        if (*at == '\n') {
            lexer.line++;
            lexer.line_start = at + 1;
        }
    }
    return lexer_fail_at(&lexer, end, "a byte that is not UTF-8", "UTF-8", error);
}

Policy *
policy_parse(const char *text, const char *name, GError **error)
{
    Lexer lexer;

    if (!check_text(text, name, error))
        return NULL;
    g_autoptr(Policy) policy = policy_new(text);
    lexer_init(&lexer, text, name);
    for (guint statements = 0; lexer.kind != TOKEN_END_OF_TEXT;) {
        if (lexer.kind == TOKEN_END_OF_LINE) {
            lexer_next(&lexer);
            continue;
        }
        if (++statements > LINES_MAX) {
            lexer_fail_at(&lexer, lexer.start, "one rule more", "at most 500", error);
            return NULL;
        }
        if (!take_statement(&lexer, policy, error))
            return NULL;
    }
    return g_steal_pointer(&policy);
}
