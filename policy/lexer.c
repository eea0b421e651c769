#include "policy/lexer.h"

#include <string.h>

#include "policy/rules.h"
#include "policy/spelling.h"

#define WORD_CHARS G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_-."

/* Bytes of a wrong word that a message repeats. */
#define SHOWN_MAX 40

/* Reads the text that starts at the quote under the cursor. */
static void
scan_text(Lexer *lexer)
{
    const char *end = lexer->start + 1;

    while (*end != '"') {
        gunichar c = g_utf8_get_char(end);
        gboolean over = c == '\0' || c == '\n' || c == '\r';
        if (over || !g_unichar_isprint(c)) {
            lexer->kind = over ? TOKEN_UNCLOSED : TOKEN_OTHER;
            lexer->start = over ? lexer->start : end;
            lexer->length = over ? end - lexer->start : g_utf8_next_char(end) - end;
            return;
        }
        end = g_utf8_next_char(end);
    }
    lexer->kind = TOKEN_TEXT;
    lexer->length = end + 1 - lexer->start;
}

/* Reads the pattern that starts at the slash under the cursor. */
static void
scan_pattern(Lexer *lexer)
{
    const char *end = lexer->start + 1;

    while (*end != '/' && *end != '\0' && *end != '\n' && *end != '\r')
        end += *end == '\\' && end[1] != '\0' && !strchr("\r\n", end[1]) ? 2 : 1;
    lexer->kind = *end == '/' ? TOKEN_PATTERN : TOKEN_UNCLOSED;
    if (*end == '/')
        end += 1 + strspn(end + 1, G_CSET_a_2_z);
    lexer->length = end - lexer->start;
}

static void
scan(Lexer *lexer)
{
    const char *start = lexer->start;

    if (*start == '\0') {
        lexer->kind = TOKEN_END_OF_TEXT;
        lexer->length = 0;
    } else if (*start == '\n') {
        lexer->kind = TOKEN_END_OF_LINE;
        lexer->length = 1;
    } else if (*start == '"') {
        scan_text(lexer);
    } else if (*start == '/') {
        scan_pattern(lexer);
    } else if ((lexer->length = strspn(start, WORD_CHARS)) > 0) {
        lexer->kind = TOKEN_WORD;
    } else if ((lexer->length = strspn(start, "=!<>")) > 0) {
        lexer->kind = TOKEN_OPERATOR;
    } else {
        lexer->kind = TOKEN_OTHER;
        lexer->length = g_utf8_next_char(start) - start;
    }
}

void
lexer_init(Lexer *lexer, const char *text, const char *name)
{
    *lexer = (Lexer){
        .name = name, .line = 1, .line_start = text, .start = text, .before_end = text};
    lexer_next(lexer);
}

void
lexer_next(Lexer *lexer)
{
    const char *at = lexer->start + lexer->length;

    lexer->before_end = at;
    if (lexer->length > 0 && lexer->kind == TOKEN_END_OF_LINE) {
        lexer->line++;
        lexer->line_start = at;
    }
    at += strspn(at, " \t");
    if (*at == '#')
        at += strcspn(at, "\n");
    lexer->start = at;
    scan(lexer);
}

gboolean
lexer_is(const Lexer *lexer, const char *word)
{
    return (lexer->kind == TOKEN_WORD || lexer->kind == TOKEN_OPERATOR) &&
           strlen(word) == lexer->length && memcmp(lexer->start, word, lexer->length) == 0;
}

gboolean
lexer_skip(Lexer *lexer, const char *word)
{
    if (!lexer_is(lexer, word))
        return FALSE;
    lexer_next(lexer);
    return TRUE;
}

char *
lexer_text(const Lexer *lexer)
{
    gsize quotes = lexer->kind == TOKEN_TEXT ? 1 : 0;

    return g_strndup(lexer->start + quotes, lexer->length - 2 * quotes);
}

static char *
describe(const Lexer *lexer)
{
    switch (lexer->kind) {
    case TOKEN_END_OF_TEXT:
    case TOKEN_END_OF_LINE:
        return g_strdup("the end of the line");
    case TOKEN_UNCLOSED:
        return g_strdup(*lexer->start == '/' ? "a pattern without its closing slash"
                                             : "a text without its closing quote");
    case TOKEN_TEXT:
        return g_strdup("a text in quotes");
    case TOKEN_OTHER:
        if (!g_unichar_isgraph(g_utf8_get_char(lexer->start)))
            return g_strdup_printf("U+%04X", g_utf8_get_char(lexer->start));
        break;
    case TOKEN_PATTERN:
        return g_strdup("a pattern between slashes");
    case TOKEN_WORD:
    case TOKEN_OPERATOR:
        break;
    }
    gboolean is_long = lexer->length > SHOWN_MAX;
    return g_strdup_printf("‘%.*s%s’", (int)MIN(lexer->length, SHOWN_MAX), lexer->start,
                           is_long ? "…" : "");
}

/* The word that was perhaps meant; NULL when none is near. */
static const char *
guess(const Lexer *lexer, const char *const *words)
{
    if (!words || lexer->kind != TOKEN_WORD || lexer->length > SHOWN_MAX)
        return NULL;
    g_autofree char *found = lexer_text(lexer);

    return spelling_guess(found, words);
}

gboolean
lexer_fail_at(const Lexer *lexer, const char *place, const char *found, const char *expected,
              GError **error)
{
    glong column = g_utf8_strlen(lexer->line_start, place - lexer->line_start) + 1;

    g_set_error(error, POLICY_ERROR, POLICY_ERROR_SYNTAX, "%s:%u:%ld: found %s, expected %s",
                lexer->name, lexer->line, column, found, expected);
    return FALSE;
}

gboolean
lexer_check_ends(const char *text, const char *name, GError **error)
{
    Lexer lexer = {.name = name, .line = 1, .line_start = text};
    const char *at = strchr(text, '\r');

    if (!at)
        return TRUE;
    for (const char *end; (end = memchr(lexer.line_start, '\n', at - lexer.line_start));) {
        lexer.line++;
        lexer.line_start = end + 1;
    }
    return lexer_fail_at(&lexer, at, "a carriage return",
                         "lines that end with a line feed alone", error);
}

gboolean
lexer_fail(const Lexer *lexer, const char *expected, const char *const *words, GError **error)
{
    const char *meant = guess(lexer, words);
    g_autofree char *found = describe(lexer);
    g_autofree char *hint =
        meant ? g_strdup_printf("%s (did you mean ‘%s’?)", expected, meant) : NULL;

    return lexer_fail_at(lexer, lexer->start, found, hint ? hint : expected, error);
}
