/* phrase.h - the small phrases of the policy language: words, numbers, times, texts
 *
 * Each takes what stands at the lexer and goes on behind it, or says what was found and what
 * was expected (POLICY_ERROR_SYNTAX) and returns FALSE. */
#pragma once

#include "policy/lexer.h"

/* One of words, NULL-terminated: which one it was. */
gboolean phrase_one_of(Lexer *lexer, const char *const *words, guint *index_out,
                       GError **error);

gboolean phrase_word(Lexer *lexer, const char *word, GError **error);

gboolean phrase_is_at_end(const Lexer *lexer);

/* One of the words that may go on, or the end of the line, which is the index of the NULL
 * behind them. */
gboolean phrase_end_or(Lexer *lexer, const char *const *words, guint *index_out,
                       GError **error);

gboolean phrase_end(Lexer *lexer, GError **error);

/* A whole number; is_bytes: K and M may follow it. */
gboolean phrase_number(Lexer *lexer, gboolean is_bytes, gint64 *number_out, GError **error);

/* "2h-6h" or "3h", in seconds. */
gboolean phrase_wait(Lexer *lexer, gint64 *shortest_out, gint64 *longest_out, GError **error);

/* A text in double quotes of 1 to most bytes, spaces at its ends taken off. what: for
 * messages, "a reason". */
gboolean phrase_text(Lexer *lexer, const char *what, gsize most, char **text_out,
                     GError **error);

/* A word, or a text in double quotes that may be empty, of at most so many bytes. */
gboolean phrase_name(Lexer *lexer, const char *what, gsize most, char **name_out,
                     GError **error);
