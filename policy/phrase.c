#include "policy/phrase.h"

#include <string.h>

#define WAIT_MAX (30 * 24 * 60 * 60)

gboolean
phrase_one_of(Lexer *lexer, const char *const *words, guint *index_out, GError **error)
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

gboolean
phrase_word(Lexer *lexer, const char *word, GError **error)
{
    const char *const words[] = {word, NULL};
    guint index;

    return phrase_one_of(lexer, words, &index, error);
}

gboolean
phrase_is_at_end(const Lexer *lexer)
{
    return lexer->kind == TOKEN_END_OF_LINE || lexer->kind == TOKEN_END_OF_TEXT;
}

gboolean
phrase_end_or(Lexer *lexer, const char *const *words, guint *index_out, GError **error)
{
    guint index = 0;

    while (words[index] && !lexer_is(lexer, words[index]))
        index++;
    if (words[index]) {
        lexer_next(lexer);
    } else if (!phrase_is_at_end(lexer)) {
        g_autofree char *list = g_strjoinv("’, ‘", (char **)words);
        g_autofree char *expected = g_strdup_printf("‘%s’ or the end of the line", list);
        return lexer_fail(lexer, expected, words, error);
    }
    *index_out = index;
    return TRUE;
}

gboolean
phrase_end(Lexer *lexer, GError **error)
{
    return phrase_is_at_end(lexer) || lexer_fail(lexer, "the end of the line", NULL, error);
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

gboolean
phrase_number(Lexer *lexer, gboolean is_bytes, gint64 *number_out, GError **error)
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

gboolean
phrase_wait(Lexer *lexer, gint64 *shortest_out, gint64 *longest_out, GError **error)
{
    g_autofree char *text = lexer_text(lexer);
    g_auto(GStrv) ends = g_strsplit(text, "-", 2);
    gint64 shortest, longest;

    if (lexer->kind != TOKEN_WORD || !parse_time(ends[0], &shortest) ||
        !parse_time(ends[ends[1] ? 1 : 0], &longest))
        return lexer_fail(lexer, "a time from 1s to 30d, such as 3h or 2h-6h", NULL, error);
    if (shortest > longest)
        return lexer_fail(lexer, "the shorter time first", NULL, error);
    *shortest_out = shortest;
    *longest_out = longest;
    lexer_next(lexer);
    return TRUE;
}

static gboolean
fail_too_long(Lexer *lexer, const char *what, gsize most, GError **error)
{
    g_autofree char *expected =
        g_strdup_printf("%s of at most %" G_GSIZE_FORMAT " bytes", what, most);

    return lexer_fail(lexer, expected, NULL, error);
}

gboolean
phrase_text(Lexer *lexer, const char *what, gsize most, char **text_out, GError **error)
{
    g_autofree char *text = lexer_text(lexer);

    if (lexer->kind != TOKEN_TEXT || !*g_strstrip(text)) {
        g_autofree char *expected = g_strconcat(what, " in double quotes", NULL);
        return lexer_fail(lexer, expected, NULL, error);
    }
    if (strlen(text) > most)
        return fail_too_long(lexer, what, most, error);
    *text_out = g_steal_pointer(&text);
    lexer_next(lexer);
    return TRUE;
}

gboolean
phrase_name(Lexer *lexer, const char *what, gsize most, char **name_out, GError **error)
{
    if (lexer->kind != TOKEN_WORD && lexer->kind != TOKEN_TEXT) {
        g_autofree char *expected =
            g_strconcat(what, ": a word, or a text in double quotes", NULL);
        return lexer_fail(lexer, expected, NULL, error);
    }
    g_autofree char *name = lexer_text(lexer);
    if (strlen(name) > most)
        return fail_too_long(lexer, what, most, error);
    *name_out = g_steal_pointer(&name);
    lexer_next(lexer);
    return TRUE;
}
