#include "lib/mail-private.h"

#include <string.h>

/* Headers that mail programs copy above a forwarded message look alike in every language: a
 * short name, a colon, and behind it a mailbox or a point in time. */
#define LABEL_CHARS 40 /* of the name */
#define LABEL_WORDS 5
#define FRAME_MIN   3 /* signs at each end of a framed line */
#define FRAME_WIDE  5 /* from here on more than a person types */
#define GROUP_MAX   4 /* digits of one number in a date */
#define DATE_GROUPS 3 /* numbers in it: day, year, hour */
#define DATE_DIGITS 6 /* of all of them */

/* The name before the colon: words of letters, and not many. NULL when it is none. */
static const char *
skip_label(const char *folded)
{
    const char *p = mail_skip_number(folded + strspn(folded, "| *_"));
    guint chars = 0, words = 1, letters = 0;

    for (; *p != 0 && *p != ':' && *p != '|'; p = g_utf8_next_char(p)) {
        gunichar c = g_utf8_get_char(p);
        letters += g_unichar_isalpha(c);
        words += c == ' ' && p[1] != ':' && p[1] != '|';
        if (++chars > LABEL_CHARS || words > LABEL_WORDS || g_unichar_isdigit(c) ||
            strchr("@<>\"=;,!?#\\", *p) != NULL)
            return NULL;
    }
    if (*p == 0 || letters == 0 || strncmp(p, "://", 3) == 0)
        return NULL;
    if (p - folded > 3 && strncmp(p - 3, "-by", 3) == 0) /* "Signed-off-by", under a change */
        return NULL;
    p += strspn(p, ":|*_ ");
    return *p != 0 ? p : NULL;
}

/* "Nora <nora@example.org>", "Nora [mailto:nora@example.org]" or the address alone. */
static MailShape
read_mailbox(const char *value)
{
    const char *at = strchr(value, '@');

    if (at == NULL || at == value || !g_ascii_isalnum(at[-1]) ||
        !(g_ascii_isalnum(at[1]) || (at[1] & 0x80) != 0))
        return MAIL_SHAPE_NONE;
    const char *start = at;
    while (start > value && start[-1] != ' ')
        start--;
    if (strchr("<[(", *start) != NULL)
        return MAIL_SHAPE_MAILBOX | MAIL_SHAPE_NAMED;
    return start == value ? MAIL_SHAPE_MAILBOX : MAIL_SHAPE_NONE;
}

const char *
mail_skip_number(const char *folded)
{
    const char *p = folded + (*folded == '(');
    gsize length = strspn(p, "0123456789");

    if (length == 0 && g_ascii_isalpha(*p) && p[1] == ')')
        length = 1;
    const gboolean listed = length > 0 && (p[length] == '.' || p[length] == ')');
    return listed && p[length + 1] == ' ' ? p + length + 2 : folded;
}

/* A year that some calendar counts now. */
static gboolean
is_year(guint number)
{
    return (number >= 1980 && number < 2100) || (number >= 2530 && number < 2640) ||
           (number >= 1380 && number < 1520);
}

/* Day, year and hour in the digits of any script. */
static gboolean
is_date(const char *value)
{
    guint groups = 0, digits = 0, number = 0, run = 0;
    gboolean year = FALSE;

    for (const char *p = value;; p = g_utf8_next_char(p)) {
        gunichar c = g_utf8_get_char(p);
        if (g_unichar_isdigit(c)) {
            number = number * 10 + (guint)g_unichar_digit_value(c);
            if (++run > GROUP_MAX)
                return FALSE;
            continue;
        }
        groups += run > 0;
        digits += run;
        year = year || (run == GROUP_MAX && is_year(number));
        number = run = 0;
        if (c == 0)
            break;
    }
    return year && groups >= DATE_GROUPS && digits >= DATE_DIGITS;
}

MailShape
mail_line_shape(const char *folded)
{
    const char *value = skip_label(folded);

    if (value == NULL)
        return MAIL_SHAPE_NONE;
    return MAIL_SHAPE_LABEL | read_mailbox(value) |
           (is_date(value) ? MAIL_SHAPE_DATE : MAIL_SHAPE_NONE);
}

static gboolean
is_frame(gunichar c)
{
    return (c < 0x80 && c != 0 && strchr("-_=*~#+<>", (int)c) != NULL) ||
           g_unichar_type(c) == G_UNICODE_DASH_PUNCTUATION || (c >= 0x2500 && c <= 0x257f);
}

MailFrame
mail_line_frame(const char *folded)
{
    const char *start = folded;
    const char *end = folded + strlen(folded);
    guint left = 0, right = 0;

    for (; *start != 0 && is_frame(g_utf8_get_char(start)); left++)
        start = g_utf8_next_char(start);
    if (start == end)
        return left >= FRAME_WIDE ? MAIL_FRAME_RULE : MAIL_FRAME_NONE;
    if (left < FRAME_MIN)
        return MAIL_FRAME_NONE;
    for (const char *last = end; last > start; end = last, right++) {
        last = g_utf8_prev_char(last);
        if (!is_frame(g_utf8_get_char(last)))
            break;
    }
    if (right < FRAME_MIN)
        return MAIL_FRAME_OPEN;
    /* "-----Original Message-----", as one program writes it, stands above answers. */
    gboolean spaced = *start == ' ' && end[-1] == ' ';
    if (left < FRAME_WIDE || right < FRAME_WIDE)
        return MAIL_FRAME_CLOSED;
    return spaced ? MAIL_FRAME_WIDE : MAIL_FRAME_LONG;
}

static gboolean
is_sign(gunichar c)
{
    return c == 0x30fc || (c > ' ' && c != ':' && !g_unichar_isalnum(c) &&
                           !g_unichar_ismark(c) && !g_unichar_isspace(c));
}

/* What people put around a sentence, too. */
static gboolean
is_bracket(gunichar c)
{
    GUnicodeType type = g_unichar_type(c);

    return c == '"' || c == '\'' || type == G_UNICODE_OPEN_PUNCTUATION ||
           type == G_UNICODE_CLOSE_PUNCTUATION || type == G_UNICODE_INITIAL_PUNCTUATION ||
           type == G_UNICODE_FINAL_PUNCTUATION;
}

/* A sentence has them at its end, even where a dash stands before it. */
static gboolean
is_stop(gunichar c)
{
    return c < 0x80 && strchr(".,;!?", (int)c) != NULL;
}

guint
mail_line_signs(const char *folded)
{
    guint left = 0, right = 0;

    for (const char *p = folded; *p == ' ' || is_sign(g_utf8_get_char(p));
         p = g_utf8_next_char(p))
        left += *p != ' ' && !is_bracket(g_utf8_get_char(p));
    for (const char *p = folded + strlen(folded); p > folded;) {
        p = g_utf8_prev_char(p);
        gunichar c = g_utf8_get_char(p);
        if (c != ' ' && c != ':' && !is_sign(c))
            break;
        right += is_sign(c) && !is_bracket(c);
    }
    return MIN(left, right);
}

char *
mail_strip_decoration(char *line, guint *cut_out)
{
    guint cut = 0;
    char *end = line + strlen(line);

    for (; *line == ' ' || is_sign(g_utf8_get_char(line)); line = g_utf8_next_char(line))
        cut += *line != ' ';
    while (end > line) {
        char *previous = g_utf8_prev_char(end);
        gunichar c = g_utf8_get_char(previous);
        if (!is_sign(c) && c != ' ' && c != ':')
            break;
        cut += is_sign(c) && !is_stop(c);
        end = previous;
    }
    *end = 0;
    *cut_out = cut;
    return line;
}

char *
mail_join_letters(const char *phrase)
{
    g_autoptr(GString) joined = g_string_new(NULL);
    gboolean letter = TRUE;

    for (const char *p = phrase; *p != 0; p = g_utf8_next_char(p), letter = !letter) {
        const gunichar c = g_utf8_get_char(p);
        if (letter != g_unichar_isalnum(c))
            return NULL;
        if (letter)
            g_string_append_unichar(joined, c);
    }
    return g_string_free(g_steal_pointer(&joined), FALSE);
}
