/* The lines of a policy, a function a phrase; exeat-policy(5) has the grammar whole. A new
 * kind of line is a row of STATEMENTS, a new kind of condition is in grammar-condition.c. */
#include "policy/parser.h"

#include <string.h>

#define TEXT_MAX      (64 * 1024)
#define LINES_MAX     500 /* of a policy with all it includes */
#define DEPTH_MAX     8
#define REASON_MAX    200 /* bytes: a reason must fit a line of an SMTP reply */
#define PATH_SIZE_MAX 1000

static Line *
begin_line(Parser *parser, LineKind kind)
{
    return line_new(kind, parser->file, parser->lexer.line);
}

/* "A -> B -> C" */
static char *
describe_chain(const Parser *parser, const char *path)
{
    GString *text = g_string_new(NULL);

    for (guint i = 0; i < parser->chain->len; i++)
        g_string_append_printf(text, "%s -> ",
                               (const char *)g_ptr_array_index(parser->chain, i));
    g_string_append(text, path);
    return g_string_free(text, FALSE);
}

gboolean
parser_path(Parser *parser, const char *what, char **path_out, GError **error)
{
    Lexer *lexer = &parser->lexer;
    g_autofree char *name = lexer_text(lexer);

    gboolean is_word = lexer->kind == TOKEN_WORD && lexer->start[lexer->length] != '/';

    if ((!is_word && lexer->kind != TOKEN_TEXT) || !*name || strlen(name) > PATH_SIZE_MAX) {
        g_autofree char *expected =
            g_strconcat(what, ", in double quotes when it is more than a word", NULL);
        return lexer_fail(lexer, expected, NULL, error);
    }
    if (!parser->reader)
        return lexer_fail(lexer, "no other file: this policy stands alone", NULL, error);
    g_autofree char *folder = g_path_get_dirname(parser->file);
    *path_out = g_path_is_absolute(name) || g_str_equal(folder, ".")
                    ? g_steal_pointer(&name)
                    : g_build_filename(folder, name, NULL);
    return TRUE;
}

char *
parser_read(Parser *parser, const char *path, GError **error)
{
    Lexer *lexer = &parser->lexer;
    char *text = parser->reader->read(path, parser->reader->data, error);

    if (!text) {
        g_prefix_error(error, "%s:%u: ", lexer->name, lexer->line);
        return NULL;
    }
    /* The names, because the same text may be cut into files in two ways. */
    g_checksum_update(parser->checksum, (const guchar *)"", 1);
    g_checksum_update(parser->checksum, (const guchar *)lexer->start, (gssize)lexer->length);
    g_checksum_update(parser->checksum, (const guchar *)"", 1);
    g_checksum_update(parser->checksum, (const guchar *)text, -1);
    return text;
}

/* first and conditions, up to the end of the line or the word stop, which may be NULL. */
static gboolean
take_conditions(Parser *parser, const char *first, const char *stop,
                gboolean (*take)(Parser *, Line *, GError **), Line *line,
                gboolean *stopped_out, GError **error)
{
    const char *words[] = {first, stop, NULL};
    guint next;

    if (!phrase_end_or(&parser->lexer, words, &next, error))
        return FALSE;
    words[0] = "and";
    while (next == 0) {
        if (!take(parser, line, error) || !phrase_end_or(&parser->lexer, words, &next, error))
            return FALSE;
    }
    *stopped_out = words[next] != NULL;
    return TRUE;
}

/* Takes conditions to the end of the line and adds the line. */
static gboolean
finish_line(Parser *parser, Line *line, GError **error)
{
    g_autoptr(Line) owned = line;
    gboolean stopped;

    if (!take_conditions(parser, line->kind == LINE_EXPECT ? "when" : "if", NULL,
                         line->kind == LINE_EXPECT ? parser_supposition : parser_condition,
                         line, &stopped, error))
        return FALSE;
    policy_add(parser->policy, g_steal_pointer(&owned));
    return TRUE;
}

/* What follows the tier. */
static gboolean
take_rule(Parser *parser, Tier tier, GError **error)
{
    Lexer *lexer = &parser->lexer;
    g_autoptr(Line) line = begin_line(parser, LINE_RULE);
    gboolean unsafe;

    line->tier = tier;
    if (tier == TIER_DELAY && !phrase_wait(lexer, &line->wait_min, &line->wait_max, error))
        return FALSE;
    if (!phrase_text(lexer, "a reason", REASON_MAX, &line->reason, error) ||
        !take_conditions(parser, "if", "unsafe", parser_condition, line, &unsafe, error))
        return FALSE;
    if (unsafe && (!phrase_text(lexer, "a reason", REASON_MAX, &line->unsafe, error) ||
                   !phrase_end(lexer, error)))
        return FALSE;
    for (guint i = 0; i < line->conditions->len; i++)
        if (condition_is_claim(line_condition(line, i)))
            line->kind = LINE_CLAIM;
    policy_add(parser->policy, g_steal_pointer(&line));
    return TRUE;
}

static gboolean
take_limit_words(Lexer *lexer, Condition *condition, Line *line, GError **error)
{
    static const char *const counted[] = {"automatic", "recipients", NULL};
    static const char *const spans[] = {"conversation", "recipient", "hour", "day", NULL};
    static const char *const day[] = {"day", NULL};
    static const Fact facts[] = {FACT_AUTO_SENDS, FACT_AUTO_RECIPIENT, FACT_SENT_HOUR,
                                 FACT_SENT_DAY};
    static const char *const tiers[] = {"draft", "hold", NULL};
    guint what, span, tier;

    if (!phrase_number(lexer, FALSE, &condition->number, error) ||
        !phrase_one_of(lexer, counted, &what, error) || !phrase_word(lexer, "per", error) ||
        !phrase_one_of(lexer, what == 0 ? spans : day, &span, error) ||
        !phrase_word(lexer, "else", error) || !phrase_one_of(lexer, tiers, &tier, error) ||
        !phrase_end(lexer, error))
        return FALSE;
    line->tier = tier == 0 ? TIER_DRAFT : TIER_HOLD;
    condition->fact = what == 0 ? facts[span] : FACT_FANOUT_DAY;
    line->reason =
        g_strdup_printf("limit of %" G_GINT64_FORMAT " %s per %s", condition->number,
                        counted[what], what == 0 ? spans[span] : day[span]);
    return TRUE;
}

/* What follows "limit". The sends of the past are counted without this one, the recipients of
 * the day with its own (XB14). */
static gboolean
take_limit(Parser *parser, G_GNUC_UNUSED Tier tier, GError **error)
{
    g_autoptr(Line) line = begin_line(parser, LINE_LIMIT);
    Condition condition = {0};

    if (!take_limit_words(&parser->lexer, &condition, line, error))
        return FALSE;
    gboolean own = condition.fact == FACT_FANOUT_DAY;
    condition.operator= own ? OPERATOR_MORE : OPERATOR_AT_LEAST;
    condition.text = g_strdup_printf("%s %s %" G_GINT64_FORMAT, fact_name(condition.fact),
                                     own ? ">" : ">=", condition.number);
    g_array_append_val(line->conditions, condition);
    policy_add(parser->policy, g_steal_pointer(&line));
    return TRUE;
}

/* What follows "approvals". */
static gboolean
take_approvals(Parser *parser, G_GNUC_UNUSED Tier tier, GError **error)
{
    static const char *const numbers[] = {"1", "2", "3", "4", "5", NULL};
    guint index;

    if (!phrase_one_of(&parser->lexer, numbers, &index, error))
        return FALSE;
    Line *line = begin_line(parser, LINE_APPROVALS);
    line->approvals = index + 1;
    return finish_line(parser, line, error);
}

/* What follows "never". */
static gboolean
take_never(Parser *parser, G_GNUC_UNUSED Tier tier, GError **error)
{
    if (!phrase_word(&parser->lexer, "automatic", error))
        return FALSE;
    Line *line = begin_line(parser, LINE_NEVER);
    line->tier = TIER_HOLD;
    line->reason = g_strdup("never automatic");
    return finish_line(parser, line, error);
}

/* What follows "expect". */
static gboolean
take_expect(Parser *parser, G_GNUC_UNUSED Tier tier, GError **error)
{
    static const Tier tiers[] = {TIER_RELEASE, TIER_DELAY, TIER_DRAFT, TIER_HOLD, TIER_REFUSE};
    const char *words[G_N_ELEMENTS(tiers) + 1] = {NULL};
    guint index;

    for (guint i = 0; i < G_N_ELEMENTS(tiers); i++)
        words[i] = tier_name(tiers[i]);
    if (!phrase_one_of(&parser->lexer, words, &index, error))
        return FALSE;
    Line *line = begin_line(parser, LINE_EXPECT);
    line->tier = tiers[index];
    return finish_line(parser, line, error);
}

static gboolean read_text(Parser *parser, const char *text, GError **error);

/* Reads another file's lines in this place. */
static gboolean
include_text(Parser *parser, const char *path, const char *text, GError **error)
{
    const Lexer lexer = parser->lexer;
    const char *file = parser->file;

    g_ptr_array_add(parser->policy->files, g_strdup(path));
    parser->file = g_ptr_array_index(parser->policy->files, parser->policy->files->len - 1);
    g_ptr_array_add(parser->chain, (gpointer)parser->file);
    gboolean good = read_text(parser, text, error);
    g_ptr_array_remove_index(parser->chain, parser->chain->len - 1);
    parser->file = file;
    parser->lexer = lexer;
    return good;
}

/* What follows "include". */
static gboolean
take_include(Parser *parser, G_GNUC_UNUSED Tier tier, GError **error)
{
    Lexer *lexer = &parser->lexer;
    g_autofree char *path = NULL;

    if (!parser_path(parser, "the file of a policy", &path, error))
        return FALSE;
    g_autofree char *chain = describe_chain(parser, path);
    if (g_ptr_array_find_with_equal_func(parser->chain, path, g_str_equal, NULL))
        return lexer_fail_at(lexer, lexer->start, chain, "no file that includes itself",
                             error);
    if (parser->chain->len == DEPTH_MAX)
        return lexer_fail_at(lexer, lexer->start, chain,
                             "at most " G_STRINGIFY(DEPTH_MAX) " files inside each other",
                             error);
    g_autofree char *text = parser_read(parser, path, error);
    if (!text || !include_text(parser, path, text, error))
        return FALSE;
    lexer_next(lexer);
    return phrase_end(lexer, error);
}

static const struct {
    const char *word;
    gboolean (*take)(Parser *parser, Tier tier, GError **error);
    Tier tier; /* of a rule */
} STATEMENTS[] = {
    {"release", take_rule, TIER_RELEASE},
    {"delay", take_rule, TIER_DELAY},
    {"draft", take_rule, TIER_DRAFT},
    {"hold", take_rule, TIER_HOLD},
    {"refuse", take_rule, TIER_REFUSE},
    {"limit", take_limit, 0},
    {"never", take_never, 0},
    {"approvals", take_approvals, 0},
    {"expect", take_expect, 0},
    {"include", take_include, 0},
};

static gboolean
take_statement(Parser *parser, GError **error)
{
    const char *words[G_N_ELEMENTS(STATEMENTS) + 1] = {NULL};
    guint index;

    for (guint i = 0; i < G_N_ELEMENTS(STATEMENTS); i++)
        words[i] = STATEMENTS[i].word;
    return phrase_one_of(&parser->lexer, words, &index, error) &&
           STATEMENTS[index].take(parser, STATEMENTS[index].tier, error);
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
        return lexer_check_ends(text, name, error);
    for (const char *at = text; at < end; at++) {
        if (*at == '\n') {
            lexer.line++;
            lexer.line_start = at + 1;
        }
    }
    return lexer_fail_at(&lexer, end, "a byte that is not UTF-8", "UTF-8", error);
}

static gboolean
read_text(Parser *parser, const char *text, GError **error)
{
    Lexer *lexer = &parser->lexer;

    if (!check_text(text, parser->file, error))
        return FALSE;
    lexer_init(lexer, text, parser->file);
    while (lexer->kind != TOKEN_END_OF_TEXT) {
        if (lexer->kind == TOKEN_END_OF_LINE) {
            lexer_next(lexer);
            continue;
        }
        if (++parser->statements > LINES_MAX)
            return lexer_fail_at(lexer, lexer->start, "one line more",
                                 "at most " G_STRINGIFY(LINES_MAX), error);
        if (!take_statement(parser, error))
            return FALSE;
    }
    return TRUE;
}

Policy *
policy_parse(const char *text, const char *name, const PolicyReader *reader, GError **error)
{
    g_autoptr(Policy) policy = policy_new(name);
    g_autoptr(GChecksum) checksum = g_checksum_new(G_CHECKSUM_SHA256);
    g_autoptr(GHashTable) lists = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
                                                        (GDestroyNotify)g_hash_table_unref);
    g_autoptr(GPtrArray) chain = g_ptr_array_new();
    Parser parser = {.policy = policy,
                     .reader = reader,
                     .checksum = checksum,
                     .lists = lists,
                     .file = policy_name(policy),
                     .chain = chain};

    g_ptr_array_add(chain, (gpointer)parser.file);
    g_checksum_update(checksum, (const guchar *)text, -1);
    if (!read_text(&parser, text, error))
        return NULL;
    policy->version = g_strdup(g_checksum_get_string(checksum));
    return g_steal_pointer(&policy);
}
