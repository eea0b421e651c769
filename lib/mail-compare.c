#include "lib/mail-private.h"

#include <string.h>

/* What only lays a text out: quotation marks, bullets, brackets, ends of sentences. A sign
 * before a number, a currency and a percentage say something. */
static gboolean
is_layout(gunichar c)
{
    if (c < 0x80)
        return strchr(".,;:!?\"'()[]{}<>*_|~=-`#", (int)c) != NULL;
    return g_unichar_ispunct(c) && g_unichar_type(c) != G_UNICODE_CURRENCY_SYMBOL &&
           g_unichar_type(c) != G_UNICODE_MATH_SYMBOL;
}

/* The next word at *p without what lays it out around it; FALSE at the end. */
static gboolean
next_word(const char **p, const char **word_out, gsize *length_out)
{
    const char *start = *p, *end;

    while (*start == ' ' || is_layout(g_utf8_get_char(start))) {
        if (*start == 0)
            return FALSE;
        if (*start == '-' && g_ascii_isdigit(start[1]))
            break;
        start = g_utf8_next_char(start);
    }
    if (*start == 0)
        return FALSE;
    end = start + strcspn(start, " ");
    *p = end;
    for (const char *last = end; last > start; end = last) {
        last = g_utf8_prev_char(last);
        if (!is_layout(g_utf8_get_char(last)))
            break;
    }
    *word_out = start;
    *length_out = (gsize)(end - start);
    return TRUE;
}

gboolean
mail_same_words(const char *one, const char *other)
{
    g_autofree char *a = mail_fold(one);
    g_autofree char *b = mail_fold(other);
    const char *p = a, *q = b;
    const char *word = NULL, *match = NULL;
    gsize length = 0, match_length = 0;

    while (next_word(&p, &word, &length))
        if (!next_word(&q, &match, &match_length) || length != match_length ||
            memcmp(word, match, length) != 0)
            return FALSE;
    return !next_word(&q, &match, &match_length);
}
