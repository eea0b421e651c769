#include "lib/mail-private.h"

#include <string.h>

#define PREFIX_MAX 60 /* bytes before its colon */

/* In other words than the short ones: "Forwarded message: x". */
static gboolean
says_forwarded(const char *folded)
{
    return mail_word_forwards(folded) ||
           mail_word_marker(folded, MAIL_MARKER_FIRST) == MAIL_WORD_FORWARD;
}

/* Spaces, and signs that a server or a person put there: "⚠ WG: x". */
static const char *
skip_signs(const char *p)
{
    while (*p != 0 && *p != '[' && *p != '(' && !g_unichar_isalnum(g_utf8_get_char(p)))
        p = g_utf8_next_char(p);
    return p;
}

/* The prefix at p: its kind, and where the subject goes on after it. */
static MailWord
read_prefix(const char *p, const char **rest_out)
{
    const char *colon = p + strcspn(p, ":;/");

    if (*colon == 0 || colon - p > PREFIX_MAX)
        return MAIL_WORD_NONE;
    g_autofree char *word = g_strndup(p, (gsize)(colon - p));
    word[strcspn(word, "[(^")] = 0; /* Re[2]: Re(2): Re^2: */
    g_strchomp(word);
    if (g_str_has_suffix(word, ".")) /* Odp.: */
        word[strlen(word) - 1] = 0;
    MailWord kind = mail_word_prefix(word);
    if (kind == MAIL_WORD_NONE && says_forwarded(word))
        kind = MAIL_WORD_FORWARD;
    if (*colon != ':' && kind != MAIL_WORD_REPLY) /* "RE/FW:", but not "I/O:" */
        return MAIL_WORD_NONE;
    if (kind != MAIL_WORD_NONE)
        *rest_out = colon + 1;
    return kind;
}

/* Words that are forwards wherever they stand: "FYI: Fwd: x", "(Fwd) x", "Fwd - x". */
static gboolean
has_sure_prefix(const char *folded)
{
    return strstr(folded, "fw") != NULL &&
           g_regex_match_simple("(^|[\\s:\\[(\"'>/|])fwd?\\s*(\\[\\d+\\])?:|"
                                "(^|[\\[(\"'>])fwd?\\s*([\\])>;|]|[-–—] )",
                                folded, 0, 0);
}

/* The subject with the brackets of other scripts as plain ones. */
static char *
plain_brackets(const char *subject)
{
    g_autoptr(GString) plain = g_string_new(subject);

    g_string_replace(plain, "【", "[", 0);
    g_string_replace(plain, "】", "]", 0);
    g_string_replace(plain, "〔", "[", 0);
    g_string_replace(plain, "〕", "]", 0);
    return g_strdup(plain->str);
}

gboolean
mail_subject_forwards(const char *subject)
{
    g_autofree char *plain = plain_brackets(subject);
    g_autofree char *folded = mail_fold(plain);
    const char *p = folded;

    if (g_str_has_suffix(folded, "(fwd)") || g_str_has_suffix(folded, "(fw)") ||
        has_sure_prefix(folded))
        return TRUE;
    for (;;) {
        p = skip_signs(p);
        gboolean first = p == folded;
        MailWord word = read_prefix(*p == '[' || *p == '(' ? p + 1 : p, &p);
        /* A word that can mean both is a forward only where this message begins with it. */
        if (word == MAIL_WORD_FORWARD || (first && (word & MAIL_WORD_FORWARD) != 0))
            return TRUE;
        if (word != MAIL_WORD_NONE)
            continue;
        /* A tag such as [list] may stand before the prefix, or be one. */
        const char *close = *p == '[' ? strchr(p, ']') : *p == '(' ? strchr(p, ')') : NULL;
        if (close == NULL)
            return FALSE;
        g_autofree char *tag = g_strndup(p + 1, (gsize)(close - p - 1));
        if (says_forwarded(tag) || mail_word_prefix(tag) == MAIL_WORD_FORWARD)
            return TRUE;
        if (*p == '(')
            return FALSE;
        p = close + 1;
    }
}
