/* lexer.h - the words of a policy file, one at a time, and what to say when one is wrong
 *
 * Knows no grammar; rules.c does. It cannot fail: what is no word of the language becomes a
 * token of its own kind, which no rule of the grammar takes. The text must be UTF-8 and
 * outlive it. */
#pragma once

#include <glib.h>

typedef enum {
    TOKEN_END_OF_TEXT,
    TOKEN_END_OF_LINE,
    TOKEN_WORD,     /* ASCII letters, digits, "_", "-", "." */
    TOKEN_TEXT,     /* printable characters between double quotes, on one line */
    TOKEN_OPERATOR, /* a run of "=", "!", "<", ">" */
    TOKEN_PATTERN,  /* between slashes, on one line, then letters; a slash in it as \/ */
    TOKEN_UNCLOSED, /* a text or pattern without its end */
    TOKEN_OTHER     /* any other character, also one that may not stand in a text */
} TokenKind;

typedef struct {
    const char *name; /* of the file, for messages */
    guint line;       /* of the current token */
    const char *line_start;
    TokenKind kind;
    const char *start; /* the current token, quotes included */
    gsize length;
    const char *before_end; /* end of the token before it */
} Lexer;

/* Starts at the first token. Both strings are borrowed. */
void lexer_init(Lexer *lexer, const char *text, const char *name);

/* Goes on to the next token; stays at the end of the text. */
void lexer_next(Lexer *lexer);

/* TRUE when the current token is that word or operator. */
gboolean lexer_is(const Lexer *lexer, const char *word);

/* The same, and goes on if it is. */
gboolean lexer_skip(Lexer *lexer, const char *word);

/* The current token without quotes, a pattern with its slashes. The caller frees. */
char *lexer_text(const Lexer *lexer);

/* Says what was found and what was expected: "FILE:LINE:COLUMN: found ‘fuo’, expected a fact".
 * words: what may stand here, to name the one that was perhaps meant; may be NULL. Always
 * FALSE. Sets POLICY_ERROR_SYNTAX. */
gboolean lexer_fail(const Lexer *lexer, const char *expected, const char *const *words,
                    GError **error);

/* The same for a thing found at any place of the text. */
gboolean lexer_fail_at(const Lexer *lexer, const char *place, const char *found,
                       const char *expected, GError **error);

/* Refuses the first carriage return of a text (exeat.conf refuses them, too). */
gboolean lexer_check_ends(const char *text, const char *name, GError **error);
