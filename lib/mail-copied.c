#include "lib/mail-private.h"

#include <string.h>

#define LABEL_MAX  60 /* bytes before the colon of a header line */
#define GAP_MAX    3 /* lines between two header lines, as in a folded list; empty ones aside */
#define LABELS_MIN 3 /* kinds of header lines that make a block */
#define WORDS_MAX  3 /* of the name of a header line in the middle of another */
#define STAMP_MIN  8 /* digits of a day and an hour */
#define CELL_ENDS  "|,;"
#define SHAPES_MIN 4 /* header lines by their looks that make a block */
#define SHAPES_MAX 6 /* a longer form is none that a mail program copies */

/* What a journey or a shift, which has a from, a to and a date as well, has not. */
#define MESSAGE_ONLY (MAIL_WORD_SUBJECT | MAIL_WORD_CC | MAIL_WORD_SENT | MAIL_WORD_TRACE)

/* What ends the name of a header line; the end of the line when nothing does. Settings, tags
 * and lists have other signs than a colon. */
static const char *
find_end(const char *folded, gboolean *odd_out)
{
    static const char *const others[] = {" - ", " \u2013 ", " \u2014 ", " \u2192 "};
    const char *end = folded + strcspn(folded, ":|=>");

    *odd_out = *end == '=' || *end == '>';
    for (gsize i = 0; i < G_N_ELEMENTS(others); i++) {
        const char *other = g_strstr_len(folded, end - folded, others[i]);
        *odd_out = *odd_out || other != NULL;
        end = other != NULL ? other : end;
    }
    return end;
}

/* "From nora@example.org Fri Nov 13 10:12:44 2026", as in front of a stored message. */
static gboolean
is_postmark(const char *folded)
{
    const char *address = folded + strlen("from ");
    guint digits = 0;

    if (!g_str_has_prefix(folded, "from ") ||
        memchr(address, '@', strcspn(address, " ")) == NULL)
        return FALSE;
    for (const char *p = strchr(address, ' '); p != NULL && *p != 0; p++)
        digits += g_ascii_isdigit(*p);
    return digits >= STAMP_MIN;
}

/* "From: Nora", "*From:* Nora", "1. From: Nora" or "| From | Nora |": the kind of header line,
 * and what stands behind the name. A sender is no number: "From: 14:00" is an hour. */
static MailWord
label_of(const char *folded, const char **value_out, gboolean *odd_out)
{
    folded = mail_skip_number(folded + strspn(folded, "| "));
    const char *end = find_end(folded, odd_out);
    guint cut = 0;

    if (is_postmark(folded)) {
        *value_out = folded;
        return MAIL_WORD_FROM;
    }
    if (*end == 0 || end - folded > LABEL_MAX)
        return MAIL_WORD_NONE;
    g_autofree char *label = g_strndup(folded, (gsize)(end - folded));
    MailWord word = mail_word_label(mail_strip_decoration(label, &cut));
    *value_out = end + strspn(end, ":|=>*_- ");
    if (word == MAIL_WORD_FROM && g_ascii_isdigit(**value_out) &&
        strchr(*value_out, '@') == NULL)
        return MAIL_WORD_NONE;
    return word;
}

static guint
count_kinds(guint labels)
{
    guint kinds = 0;

    for (guint bits = labels & ~(guint)MAIL_WORD_SENT; bits != 0; bits &= bits - 1)
        kinds++;
    return kinds;
}

/* The kind of header line whose name ends at the colon: the last word before it, or more. */
static MailWord
label_before(const char *text, const char *colon)
{
    MailWord word = MAIL_WORD_NONE;
    const char *start = colon;
    guint cut = 0;

    for (guint words = 0; words < WORDS_MAX && word == MAIL_WORD_NONE; words++) {
        while (start > text && start[-1] == ' ')
            start--;
        while (start > text && strchr(" ,;{", start[-1]) == NULL)
            start--;
        g_autofree char *label = g_strndup(start, (gsize)(colon - start));
        word = mail_word_label(mail_strip_decoration(label, &cut));
    }
    return word;
}

/* "From: Nora <nora@example.org> Sent: Friday To: Olivia Subject: x": a header whose line ends
 * were lost. value: what stands behind the first name. */
static gboolean
is_whole_header(const char *value)
{
    guint labels = 0;

    if (strchr(value, '@') == NULL)
        return FALSE;
    for (const char *p = strchr(value, ':'); p != NULL; p = strchr(p + 1, ':'))
        labels |= label_before(value, p);
    return count_kinds(labels & ~(guint)MAIL_WORD_FROM) >= LABELS_MIN;
}

/* "from,date,subject,to" or "| From | Date | Subject |": a table of messages. */
static gboolean
has_columns(const char *folded)
{
    static const guint needed = MAIL_WORD_FROM | MAIL_WORD_SUBJECT;
    const char *wall = strpbrk(folded, CELL_ENDS);
    guint labels = 0, cut = 0;

    if (wall == NULL || strpbrk(wall + 1, CELL_ENDS) == NULL)
        return FALSE;
    g_auto(GStrv) cells = g_strsplit_set(folded, CELL_ENDS, -1);
    for (char **cell = cells; *cell != NULL; cell++)
        labels |= mail_word_label(mail_strip_decoration(*cell, &cut));
    return count_kinds(labels) >= LABELS_MIN && (labels & needed) == needed;
}

static gboolean
is_header(const MailCopied *copied)
{
    static const guint letter = MAIL_WORD_FROM | MAIL_WORD_SUBJECT;

    if (copied->sender && (copied->labels & letter) == letter)
        return TRUE;
    if (copied->odd && (!copied->address || (copied->labels & MAIL_WORD_DATE) == 0))
        return FALSE; /* settings of a program that sends mail */
    return count_kinds(copied->labels) >= LABELS_MIN && copied->filled &&
           (copied->labels & MAIL_WORD_FROM) != 0 &&
           (copied->address || (copied->labels & MESSAGE_ONLY) != 0);
}

/* A line that is no header line by its words. */
static void
pass_words(MailCopied *copied)
{
    if (++copied->gap > GAP_MAX) {
        copied->labels = 0;
        copied->address = copied->filled = copied->sender = FALSE;
        copied->odd = copied->columns = FALSE;
    }
}

/* TRUE when the words of the lines so far make a header. */
static gboolean
look_at_words(MailCopied *copied, MailWord word, const char *value, const char *folded)
{
    if (has_columns(folded)) {
        copied->columns = TRUE;
        copied->gap = 0;
        return FALSE;
    }
    if (copied->columns && strchr(folded, '@') != NULL)
        return TRUE;
    if (word == MAIL_WORD_NONE) {
        pass_words(copied);
        return FALSE;
    }
    copied->address = copied->address || strchr(value, '@') != NULL;
    copied->filled = copied->filled || *value != 0 || (copied->labels != 0 && copied->gap > 0);
    copied->labels |= word;
    copied->gap = 0;
    return is_header(copied);
}

/* A line that is no header line by its looks. */
static void
pass_shapes(MailCopied *copied, gboolean marked)
{
    if (marked || ++copied->shapes.gap > GAP_MAX) /* what came before is another block */
        copied->shapes = (MailShapes){0};
}

/* Two mailboxes, one with a name, a date and one line more are the header of a message in any
 * language; with a word for "from" one mailbox will do. */
static gboolean
look_at_shapes(MailCopied *copied, MailShape shape, gboolean from, gboolean marked)
{
    MailShapes *seen = &copied->shapes;

    if (marked)
        *seen = (MailShapes){.marked = TRUE};
    if (from && seen->from) /* the next of a list of changes, each with author and date */
        *seen = (MailShapes){.marked = seen->marked};
    seen->from = seen->from || from;
    seen->gap = 0;
    seen->labels++;
    seen->mailboxes += (shape & MAIL_SHAPE_MAILBOX) != 0;
    seen->named += (shape & MAIL_SHAPE_NAMED) != 0;
    seen->dates += (shape & MAIL_SHAPE_DATE) != 0;
    gboolean whole =
        seen->mailboxes >= 2 && seen->named >= 1 && seen->labels == seen->mailboxes + 2;
    gboolean named = seen->mailboxes >= 1 && seen->labels >= SHAPES_MIN &&
                     (copied->labels & MAIL_WORD_FROM) != 0;
    return seen->dates > 0 && seen->labels <= SHAPES_MAX && (whole || named);
}

void
mail_copied_pass(MailCopied *copied, gboolean marked)
{
    pass_words(copied);
    pass_shapes(copied, marked);
}

void
mail_copied_look(MailCopied *copied, const char *folded, gboolean marked, gboolean *forward,
                 gboolean *quoted)
{
    const char *value = "";
    MailShape shape = mail_line_shape(folded);
    gboolean odd = FALSE;
    MailWord word = label_of(folded, &value, &odd);

    copied->odd = copied->odd || (odd && word != MAIL_WORD_NONE);
    copied->sender =
        copied->sender || (word == MAIL_WORD_FROM && (shape & MAIL_SHAPE_NAMED) != 0);
    if (look_at_words(copied, word, value, folded) ||
        (word == MAIL_WORD_FROM && is_whole_header(value)))
        *quoted = TRUE;
    if (shape == MAIL_SHAPE_NONE) {
        pass_shapes(copied, marked);
    } else if (look_at_shapes(copied, shape, word == MAIL_WORD_FROM, marked)) {
        *quoted = TRUE;
        *forward = *forward || copied->shapes.marked;
    }
}
