/* The conditions of a line. A new kind is a branch of parser_condition(). */
#include "policy/parser.h"

#include <string.h>

#define CLASS_MAX   (G_SIZEOF_MEMBER(Facts, declared) - 1)
#define PATTERN_MAX 200 /* bytes */
#define ENTRIES_MAX 50000

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
    guint operator;

    if (!phrase_one_of(lexer, operators, &operator, error) ||
        !phrase_number(lexer, is_bytes, &condition->number, error))
        return FALSE;
    condition->operator= operator;
    return TRUE;
}

/* A fact by its name; only a yes/no fact when flags_only. */
static gboolean
take_fact(Lexer *lexer, gboolean flags_only, Fact *fact_out, GError **error)
{
    static const char *const others[] = {"not", "declared", "subject", "text", "any", "all"};
    const char *words[FACT_COUNT + G_N_ELEMENTS(others) + 1] = {NULL};
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
    for (guint i = 0; i < G_N_ELEMENTS(others) && !flags_only; i++)
        words[count++] = others[i];
    return lexer_fail(lexer, flags_only ? "a yes/no fact" : "a fact", words, error);
}

/* What follows "declared". An empty class stands for none declared. */
static gboolean
take_class(Lexer *lexer, Condition *condition, GError **error)
{
    condition->kind = CONDITION_DECLARED;
    return phrase_word(lexer, "=", error) &&
           phrase_name(lexer, "a class", CLASS_MAX, &condition->class, error);
}

/* A pattern between slashes, with the letter i to ignore case. */
static gboolean
take_pattern(Lexer *lexer, Condition *condition, GError **error)
{
    g_autoptr(GError) problem = NULL;

    if (lexer->kind != TOKEN_PATTERN)
        return lexer_fail(lexer, "a pattern between slashes, such as /invoice [0-9]+/i", NULL,
                          error);
    g_autofree char *text = lexer_text(lexer);
    char *end = strrchr(text, '/');
    gboolean ignores_case = strcmp(end, "/i") == 0;
    if (!ignores_case && end[1])
        return lexer_fail(lexer, "no other letter than i behind the pattern", NULL, error);
    *end = '\0';
    if (end == text + 1 || end - text > PATTERN_MAX)
        return lexer_fail(lexer, "a pattern of 1 to " G_STRINGIFY(PATTERN_MAX) " bytes", NULL,
                          error);
    condition->pattern = condition_compile(text + 1, FALSE, ignores_case, &problem);
    if (!condition->pattern) {
        g_autofree char *expected =
            g_strconcat("a regular expression: ", problem->message, NULL);
        return lexer_fail(lexer, expected, NULL, error);
    }
    lexer_next(lexer);
    return TRUE;
}

/* What follows "subject" or "text". */
static gboolean
take_search(Lexer *lexer, Condition *condition, GError **error)
{
    static const char *const words[] = {"contains", "matches", NULL};
    g_autofree char *wanted = NULL;
    guint how;

    if (!phrase_one_of(lexer, words, &how, error))
        return FALSE;
    if (how == 1)
        return take_pattern(lexer, condition, error);
    if (!phrase_text(lexer, "a text", PATTERN_MAX, &wanted, error))
        return FALSE;
    condition->pattern = condition_compile(wanted, TRUE, TRUE, error);
    return condition->pattern != NULL;
}

/* One entry a line; what follows a hash is a comment. */
static GHashTable *
parse_list(Parser *parser, const char *text, const char *path, GError **error)
{
    g_autoptr(GHashTable) list = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

    if (!lexer_check_ends(text, path, error))
        return NULL;
    for (guint i = 0; lines[i]; i++) {
        lines[i][strcspn(lines[i], "#")] = '\0';
        if (!*g_strstrip(lines[i]))
            continue;
        char *entry = parser->reader->normalise(lines[i], parser->reader->data);
        if (!entry || g_hash_table_size(list) == ENTRIES_MAX) {
            Lexer lexer = {.name = path, .line = i + 1, .line_start = lines[i]};
            lexer_fail_at(&lexer, lines[i], entry ? "one entry more" : "another line",
                          entry ? "at most " G_STRINGIFY(ENTRIES_MAX)
                                : "an address or @domain, a comment after #, or nothing",
                          error);
            g_free(entry);
            return NULL;
        }
        g_hash_table_add(list, entry);
    }
    return g_steal_pointer(&list);
}

/* The list that the lexer names; each file is read once. */
static GHashTable *
read_list(Parser *parser, GError **error)
{
    g_autofree char *path = NULL;

    if (!parser_path(parser, "the file of a list", &path, error))
        return NULL;
    GHashTable *list = g_hash_table_lookup(parser->lists, path);
    if (list)
        return g_hash_table_ref(list);
    g_autofree char *text = parser_read(parser, path, error);
    list = text ? parse_list(parser, text, path, error) : NULL;
    if (list)
        g_hash_table_insert(parser->lists, g_steal_pointer(&path), g_hash_table_ref(list));
    return list;
}

/* What follows "any" or "all". */
static gboolean
take_recipients(Parser *parser, Condition *condition, GError **error)
{
    Lexer *lexer = &parser->lexer;
    const char *noun = condition->kind == CONDITION_ANY_RECIPIENT ? "recipient" : "recipients";

    if (!phrase_word(lexer, noun, error) || !phrase_word(lexer, "in", error))
        return FALSE;
    condition->list = read_list(parser, error);
    if (!condition->list)
        return FALSE;
    lexer_next(lexer);
    return TRUE;
}

/* FALSE when a line may not rest on what the agent wrote. */
static gboolean
check_claim(Lexer *lexer, const Line *line, GError **error)
{
    static const char *const words[] = {"declared", "subject", "text"};
    gboolean is_lax = (line->kind == LINE_RULE || line->kind == LINE_CLAIM) &&
                      tier_strictness(line->tier) <= tier_strictness(TIER_DELAY);

    for (guint i = 0; i < G_N_ELEMENTS(words); i++)
        if (is_lax && lexer_is(lexer, words[i]))
            return lexer_fail(
                lexer,
                "a fact: what an agent declares or writes may only make a verdict stricter",
                NULL, error);
    return TRUE;
}

static gboolean
take_condition(Parser *parser, Condition *condition, GError **error)
{
    Lexer *lexer = &parser->lexer;

    if (lexer_skip(lexer, "declared"))
        return take_class(lexer, condition, error);
    if (lexer_is(lexer, "subject") || lexer_is(lexer, "text")) {
        condition->kind = lexer_is(lexer, "text") ? CONDITION_TEXT : CONDITION_SUBJECT;
        lexer_next(lexer);
        return take_search(lexer, condition, error);
    }
    if (lexer_is(lexer, "any") || lexer_is(lexer, "all")) {
        condition->kind =
            lexer_is(lexer, "any") ? CONDITION_ANY_RECIPIENT : CONDITION_ALL_RECIPIENTS;
        lexer_next(lexer);
        return take_recipients(parser, condition, error);
    }
    if (lexer_skip(lexer, "not")) {
        condition->number = 0;
        return take_fact(lexer, TRUE, &condition->fact, error);
    }
    return take_fact(lexer, FALSE, &condition->fact, error) &&
           (fact_kind(condition->fact) == FACT_KIND_FLAG ||
            take_comparison(lexer, condition, error));
}

/* Adds what take() reads, with its own words. */
static gboolean
add_condition(Parser *parser, Line *line,
              gboolean (*take)(Parser *parser, Condition *condition, GError **error),
              GError **error)
{
    Condition condition = {.operator= OPERATOR_EQUAL, .number = 1};
    const char *start = parser->lexer.start;

    if (!take(parser, &condition, error)) {
        condition_clear(&condition);
        return FALSE;
    }
    condition.text = g_strndup(start, parser->lexer.before_end - start);
    g_array_append_val(line->conditions, condition);
    return TRUE;
}

gboolean
parser_condition(Parser *parser, Line *line, GError **error)
{
    return check_claim(&parser->lexer, line, error) &&
           add_condition(parser, line, take_condition, error);
}

/* What follows "recipient". */
static gboolean
take_address(Parser *parser, Condition *condition, GError **error)
{
    Lexer *lexer = &parser->lexer;
    const PolicyReader *reader = parser->reader;

    if (!phrase_word(lexer, "=", error))
        return FALSE;
    g_autofree char *written = lexer_text(lexer);
    condition->kind = CONDITION_ANY_RECIPIENT;
    if (lexer->kind == TOKEN_TEXT && reader)
        condition->class = reader->normalise(written, reader->data);
    if (!condition->class)
        return lexer_fail(lexer, "an address in double quotes", NULL, error);
    lexer_next(lexer);
    return TRUE;
}

static gboolean
take_supposition(Parser *parser, Condition *condition, GError **error)
{
    Lexer *lexer = &parser->lexer;

    if (lexer_skip(lexer, "declared"))
        return take_class(lexer, condition, error);
    if (lexer_skip(lexer, "recipient"))
        return take_address(parser, condition, error);
    if (lexer_is(lexer, "subject") || lexer_is(lexer, "text")) {
        condition->kind = lexer_is(lexer, "text") ? CONDITION_TEXT : CONDITION_SUBJECT;
        lexer_next(lexer);
        return phrase_word(lexer, "=", error) &&
               phrase_text(lexer, "a text", PATTERN_MAX, &condition->class, error);
    }
    if (lexer_skip(lexer, "not")) {
        condition->number = 0;
        return take_fact(lexer, TRUE, &condition->fact, error);
    }
    if (!take_fact(lexer, FALSE, &condition->fact, error))
        return FALSE;
    if (fact_kind(condition->fact) == FACT_KIND_FLAG)
        return TRUE;
    gboolean is_bytes =
        condition->fact == FACT_ATTACHMENT_BYTES || condition->fact == FACT_SIZE;
    return phrase_word(lexer, "=", error) &&
           phrase_number(lexer, is_bytes, &condition->number, error);
}

gboolean
parser_supposition(Parser *parser, Line *line, GError **error)
{
    return add_condition(parser, line, take_supposition, error);
}
