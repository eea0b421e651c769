#include "lib/mail-private.h"

#include <string.h>

#define HEAD_MAX     200 /* bytes of a line that decide what it is */
#define GAP_MAX      3   /* lines between quoted lines and what is said above them */
#define DATE_DIGITS  4   /* in the line above a copy */
#define TIME_DIGITS  8   /* with the hour, which needs no verb beside an address */
#define TITLE_MAX    80  /* bytes of a line that is a marker and nothing else */
#define INITIALS_MAX 12  /* letters before the sign of a quoted line */
#define RUN_MIN      3   /* quoted lines that need no "wrote:" above them */
#define SIGNS_SURE   3   /* at each end of a line that is no sentence */
#define OPEN_MAX     400 /* bytes of a marker that goes on over several lines */
#define BREAK_MAX    40  /* bytes of the last word or two of a line that was broken */

typedef struct {
    MailCopied copied; /* the header lines so far */
    guint level;       /* quote signs before the last line that was not empty */
    gboolean marked;   /* it could stand above a forwarded message */
    char *open;        /* folded: a framed line whose frame has not ended yet; owned */
    guint run;         /* quoted lines in a row */
    const char *above; /* the last line that was not empty */
    gsize above_length;
    guint above_gap;    /* lines since then */
    const char *before; /* the line right above that one; NULL when there is none */
    gsize before_length;
    gboolean *forward;
    gboolean *quoted;
} Search;

/* A bar that quotes what follows: with another one it is a row of a table, before these signs
 * part of a drawing, as of a tree of folders. */
static gboolean
is_quoting_bar(const char *line)
{
    const char *next = line + 1 + strspn(line + 1, " ");

    return *line == '|' && strchr(next, '|') == NULL &&
           (*next == 0 || strchr("-`+*\\/_", *next) == NULL);
}

/* Skips quote signs and spaces; *level_out tells how many signs. */
static const char *
skip_quote(const char *line, guint *level_out)
{
    guint level = 0;

    for (; *line != 0; line = g_utf8_next_char(line)) {
        gunichar c = g_utf8_get_char(line);
        if (c == '>' || is_quoting_bar(line))
            level++;
        else if (!g_unichar_isspace(c) && g_unichar_type(c) != G_UNICODE_FORMAT)
            break;
    }
    *level_out = level;
    return line;
}

/* Shorter words mean many things. */
static gboolean
is_sure_word(const char *word)
{
    return strlen(word) >= 5 || g_str_has_prefix(word, "fw");
}

/* Signs at both ends make a line of its own out of words that could stand in a sentence; the
 * more of them, the surer. Brackets and quotation marks stand around sentences, too. */
static MailMarkerPlace
marker_place(const char *folded, guint cut, gboolean title)
{
    guint signs = mail_line_signs(folded);

    if (signs >= SIGNS_SURE)
        return MAIL_MARKER_ANYWHERE;
    if (signs >= 2 || title)
        return MAIL_MARKER_EDGE;
    const gboolean by = g_str_has_suffix(folded, ">") && strstr(folded, " <") != NULL;
    return cut >= 2 || by ? MAIL_MARKER_FIRST : MAIL_MARKER_WHOLE;
}

/* TRUE for a line whose signs or letters make a marker of a word for "forwarded". */
static gboolean
is_set_apart(const char *folded, const char *phrase, guint cut)
{
    const MailFrame frame = mail_line_frame(folded);
    g_autofree char *letters = cut >= 2 ? mail_join_letters(phrase) : NULL;

    return ((frame == MAIL_FRAME_LONG || frame == MAIL_FRAME_WIDE) &&
            mail_word_forwarded(phrase)) ||
           (letters != NULL && mail_word_forwarded(letters));
}

static void
look_for_marker(Search *search, const char *folded)
{
    g_autofree char *copy = g_strdup(folded);
    guint cut = 0;
    const char *phrase = mail_skip_number(mail_strip_decoration(copy, &cut));

    if (*phrase == 0)
        return;
    /* "Forwarded message follows:" is a title, too. */
    gboolean title = g_str_has_suffix(folded, ":") && strlen(folded) <= TITLE_MAX;
    MailWord word = mail_word_marker(phrase, marker_place(folded, cut, title));
    if (word == MAIL_WORD_NONE && title && mail_word_begins(phrase))
        word = MAIL_WORD_FORWARD;
    if (word == MAIL_WORD_NONE && cut >= 2) /* "=== Forwarded ===" */
        word = is_sure_word(phrase) ? mail_word_prefix(phrase) & MAIL_WORD_FORWARD : word;
    if (is_set_apart(folded, phrase, cut))
        word = MAIL_WORD_FORWARD;
    if (word == MAIL_WORD_FORWARD || g_str_has_prefix(folded, "fwd:") ||
        g_str_has_prefix(folded, "fw:"))
        *search->forward = TRUE;
    else if (word == MAIL_WORD_REPLY && cut >= 2)
        *search->quoted = TRUE;
}

/* A marker may be broken into lines wherever it got too long; some scripts have no spaces. */
static void
look_for_broken_marker(Search *search, const char *folded)
{
    static const char *const breaks[] = {" ", ""};
    g_autofree char *open = g_steal_pointer(&search->open);
    MailFrame frame = mail_line_frame(folded);

    if (open != NULL && search->above_gap == 1 && strlen(open) + strlen(folded) < OPEN_MAX) {
        for (gsize i = 0; i < G_N_ELEMENTS(breaks); i++) {
            g_autofree char *joined = g_strconcat(open, breaks[i], folded, NULL);
            if (mail_line_frame(joined) != MAIL_FRAME_OPEN)
                look_for_marker(search, joined);
            else if (i == 0)
                search->open = g_steal_pointer(&joined);
        }
    } else if (frame == MAIL_FRAME_OPEN) {
        search->open = g_strdup(folded);
    }
}

/* TRUE for a line that, in a language we do not know, could be what a mail program writes
 * above a forwarded message: framed as they do it, or the first quoted line and a title. */
static gboolean
could_mark(const Search *search, const char *folded, guint level)
{
    gboolean title = g_str_has_suffix(folded, ":") && strlen(folded) <= TITLE_MAX;

    if (mail_line_frame(folded) == MAIL_FRAME_WIDE)
        return mail_word_marker(folded, MAIL_MARKER_ANYWHERE) == MAIL_WORD_NONE &&
               !mail_word_verb(folded);
    return title && !mail_word_verb(folded) && strpbrk(folded, "0123456789@") == NULL &&
           (mail_word_forwarded(folded) || level > search->level);
}

/* A copy of the beginning of a line: enough to tell what it is. */
static char *
copy_head(const char *line, gsize length)
{
    const gsize kept = MIN(length, HEAD_MAX);
    char *head = g_strndup(line, kept);
    const char *valid = NULL;

    if (!mail_is_ascii(line, kept) &&
        !g_utf8_validate(head, -1, &valid)) /* the cut went through a character */
        head[valid - head] = 0;
    return head;
}

/* "Begin forwarded" and on the next line "message:". */
static void
look_for_broken_title(Search *search, const char *folded)
{
    static const char *const breaks[] = {" ", ""};
    guint level = 0, cut = 0;

    if (!g_str_has_suffix(folded, ":") || search->above == NULL || search->above_gap > 1 ||
        search->above_length + strlen(folded) >= 2 * TITLE_MAX)
        return;
    g_autofree char *head = copy_head(search->above, search->above_length);
    g_autofree char *above = mail_fold(skip_quote(head, &level));
    for (gsize i = 0; i < G_N_ELEMENTS(breaks); i++) {
        g_autofree char *joined = g_strconcat(above, breaks[i], folded, NULL);
        if (mail_word_marker(mail_strip_decoration(joined, &cut), MAIL_MARKER_WHOLE) ==
            MAIL_WORD_FORWARD)
            *search->forward = TRUE;
    }
}

/* Where text runs to the left, a mark that nobody sees may stand behind the colon. */
static gboolean
ends_in_colon(const char *line, gsize length)
{
    const char *last = g_utf8_find_prev_char(line, line + length);

    for (; last != NULL; last = g_utf8_find_prev_char(line, last)) {
        gunichar c = g_utf8_get_char(last);
        if (!g_unichar_isspace(c) && g_unichar_type(c) != G_UNICODE_FORMAT && c != '*' &&
            c != '_')
            return mail_is_colon(c);
    }
    return FALSE;
}

/* In any script. */
static guint
count_digits(const char *text)
{
    guint digits = 0;

    for (const char *p = text; *p != 0; p = g_utf8_next_char(p))
        digits += g_unichar_isdigit(g_utf8_get_char(p));
    return digits;
}

/* Of a date; a number alone, as a year is, makes none. */
static guint
count_date_digits(const char *text)
{
    guint numbers = 0;
    gboolean within = FALSE;

    for (const char *p = text; *p != 0; p = g_utf8_next_char(p)) {
        gboolean digit = g_unichar_isdigit(g_utf8_get_char(p));
        numbers += digit && !within;
        within = digit;
    }
    return numbers >= 2 ? count_digits(text) : 0;
}

/* The line above quoted lines: "On 13 November, Nora wrote:" or, as some write it, "13.11.2026
 * 08:00, Nora <nora@example.org>:". */
static gboolean
is_attribution(const char *line, gsize length)
{
    g_autofree char *head = copy_head(line, length);
    g_autofree char *folded = mail_fold(head);

    if (mail_word_verb(folded))
        return TRUE;
    const guint digits = count_date_digits(folded);
    const gboolean address = strchr(folded, '@') != NULL;
    return (address && digits >= TIME_DIGITS) ||
           (ends_in_colon(line, length) &&
            (address || digits >= DATE_DIGITS || length > HEAD_MAX));
}

/* "On Friday, 13.11.2026, Nora <nora@example.org> has" and on the next line "written:". */
static gboolean
is_broken_attribution(const Search *search)
{
    if (search->before == NULL || search->above_length > BREAK_MAX ||
        !ends_in_colon(search->above, search->above_length))
        return FALSE;
    g_autofree char *rest = copy_head(search->above, search->above_length);
    g_autofree char *head = copy_head(search->before, search->before_length);
    guint level = 0;
    g_strchomp(head);
    const char *space = strchr(skip_quote(rest, &level), ' ');
    if (g_str_has_suffix(head, ".") || (space != NULL && strchr(space + 1, ' ') != NULL))
        return FALSE;
    return strchr(head, '@') != NULL || count_digits(head) >= DATE_DIGITS;
}

/* A line such as "---- On Friday Nora wrote ----" or ">>> Nora 13.11.2026 08:00 >>>". */
static gboolean
is_framed(const char *line, gsize length)
{
    while (length > 0 && g_ascii_isspace(line[length - 1]))
        length--;
    return length > 6 && line[length - 1] == line[length - 2] && line[length - 1] == line[0] &&
           line[0] == line[1] && (line[0] == '-' || line[0] == '>');
}

/* "On 13 November 2026, Nora wrote:" above a copy that is not set off: some programs indent
 * it, or do nothing at all. A date is asked for, since everybody writes "as Nora wrote:". */
static void
look_for_date(Search *search, const char *folded, const char *line, gsize length)
{
    gsize indent = MIN(length, strspn(line, " "));
    gboolean framed = is_framed(line + indent, length - indent);

    if (!framed && !ends_in_colon(line, length))
        return;
    guint digits = count_date_digits(folded);
    if ((digits >= DATE_DIGITS && mail_word_verb(folded)) ||
        (digits >= DATE_DIGITS && framed && line[indent] == '>') ||
        (digits >= TIME_DIGITS && strchr(folded, '@') != NULL))
        *search->quoted = TRUE;
}

/* "N> Thursday?" or "Nora> Thursday?": quoted as some programs do it, and prompts look. */
static gboolean
has_initials(const char *line)
{
    line += strspn(line, " ");
    const char *end = line;
    while (g_ascii_isalpha(*end))
        end++;
    return end > line && end - line <= INITIALS_MAX && *end == '>' &&
           (end[1] == ' ' || end[1] == '>');
}

/* The line above says who wrote it. */
static gboolean
is_written(const Search *search)
{
    if (search->above == NULL || search->above_gap > GAP_MAX)
        return FALSE;
    g_autofree char *head = copy_head(search->above, search->above_length);
    g_autofree char *folded = mail_fold(head);
    return ends_in_colon(search->above, search->above_length) && mail_word_verb(folded);
}

static void
look_for_quote(Search *search, const char *line, guint level, gboolean empty)
{
    if (empty)
        return;
    if (level == 0 && has_initials(line) && is_written(search))
        *search->quoted = TRUE;
    search->run = level > 0 ? search->run + 1 : 0;
    if (search->run >= RUN_MIN)
        *search->quoted = TRUE;
    if (search->run == 1 && search->above != NULL && search->above_gap <= GAP_MAX &&
        (is_attribution(search->above, search->above_length) || is_broken_attribution(search)))
        *search->quoted = TRUE;
}

/* With its tabs as the walls of a table; NULL when there are none. */
static char *
fold_row(const char *content)
{
    if (strchr(content, '\t') == NULL)
        return NULL;
    g_autofree char *cells = g_strdelimit(g_strdup(content), "\t", '|');
    return mail_fold(cells);
}

/* Whether a line has signs that could stand behind the name of a header line, or between the
 * cells of a table. */
static gboolean
has_marks(const char *content)
{
    for (const char *comma = strchr(content, ','); comma != NULL;
         comma = strchr(comma + 1, ','))
        if (g_ascii_isalpha(comma[1]))
            return TRUE;
    return strpbrk(content, ":|=>\t\v\f\r") != NULL || strstr(content, "  ") != NULL ||
           strstr(content, " - ") != NULL;
}

/* A line as most are, of which the functions above would find nothing: words, no colon,
 * nothing at its ends that could be a frame, and too long for a marker. */
static gboolean
is_prose(const Search *search, const char *content)
{
    gsize length = strlen(content);

    if (search->open != NULL || !g_ascii_isalnum(content[0]) || length >= HEAD_MAX / 2 ||
        !mail_is_ascii(content, length))
        return FALSE;
    while (content[length - 1] == ' ')
        length--;
    const char last = content[length - 1];
    return (g_ascii_isalnum(last) || last == '.' || last == ',') && !has_marks(content) &&
           !mail_word_may_mark(content[0], length);
}

static void
pass_prose(Search *search)
{
    mail_copied_pass(&search->copied, search->marked);
    search->marked = FALSE;
}

/* A row of a table, or of a page laid out as one, has the marker in one of its cells. */
static void
look_at_cells(Search *search, const char *row)
{
    if (strchr(row, '|') == NULL)
        return;
    g_auto(GStrv) cells = g_strsplit(row, "|", -1);
    for (char **cell = cells; *cell != NULL; cell++)
        if (mail_line_signs(g_strstrip(*cell)) >= SIGNS_SURE)
            look_for_marker(search, *cell);
}

static void
look_at_content(Search *search, const char *content, guint level, const char *line,
                gsize length)
{
    g_autofree char *folded = mail_fold(content);
    g_autofree char *row = fold_row(content);
    const char *cells = row != NULL ? row : folded;

    look_for_marker(search, folded);
    look_at_cells(search, cells);
    look_for_broken_marker(search, folded);
    look_for_broken_title(search, folded);
    mail_copied_look(&search->copied, cells, search->marked, search->forward, search->quoted);
    look_for_date(search, folded, line, length);
    search->marked = could_mark(search, folded, level);
}

static void
look_at_line(Search *search, const char *line, gsize length)
{
    g_autofree char *head = copy_head(line, length);
    guint level = 0;
    const char *content = skip_quote(head, &level);

    search->above_gap++;
    look_for_quote(search, head, level, *content == 0);
    if (*content == 0)
        return;
    if (is_prose(search, content))
        pass_prose(search);
    else
        look_at_content(search, content, level, line, length);
    search->level = level;
    search->before = search->above_gap == 1 ? search->above : NULL;
    search->before_length = search->above_length;
    search->above = line;
    search->above_length = length;
    search->above_gap = 0;
}

void
mail_find_quotes(const char *text, gboolean *forward, gboolean *quoted)
{
    Search search = {.forward = forward, .quoted = quoted};
    g_autofree char *broken = mail_break_lines(text);

    for (const char *line = broken != NULL ? broken : text; *line != 0;) {
        gsize length = strcspn(line, "\n");
        look_at_line(&search, line, length);
        line += length + (line[length] != 0);
    }
    g_free(search.open);
}
