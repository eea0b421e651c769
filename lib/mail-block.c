#include "lib/mail-private.h"

#include <string.h>

/* A block is what only a program can read (XB19). Twenty lines of sixty characters are more
 * than any signature, key print or address needs. */
#define BLOCK_MIN   (20 * 60)
#define TOTAL_MIN   (4 * BLOCK_MIN) /* in pieces between readable lines */
#define PIECE_MIN   8               /* characters of a code */
#define LINK_MAX    1000            /* characters of a link; beyond, it carries something */
#define RUN_LONG    60              /* letters in a row that are no word */
#define WORD_LONG   2000            /* one unbroken word of that length alone makes a block */
#define BYTES_MIN   8               /* numbers in a line of a dump */
#define BYTE_MAX    8               /* digits of each */
#define WORDS_WEIGH 3               /* what a line of words takes from the block before it */
#define UU_LINE     61              /* characters */
#define LIST_LONG   256             /* numbers with commas in a line that is no row */
#define GLANCE      24              /* characters that tell most lines of prose from code */

typedef struct {
    gsize total;    /* characters in all, spaces aside */
    gsize code;     /* in pieces that are no words */
    gsize bytes;    /* in short hexadecimal or decimal numbers */
    guint n_bytes;  /* of them */
    guint n_listed; /* with commas, as thousands have */
    gsize longest;  /* run of letters that an encoding uses, where it could be a long word */
} Line;

static gboolean
is_encoding(char c)
{
    return g_ascii_isalnum(c) || c == '+' || c == '/' || c == '=' || c == '-' || c == '_';
}

static gsize
longest_run(const char *piece, gsize length)
{
    gsize run = 0, longest = 0;

    for (gsize i = 0; i < length; i++) {
        run = is_encoding(piece[i]) ? run + 1 : 0;
        longest = MAX(longest, run);
    }
    return longest;
}

/* Whether a colour as style sheets write it, "color:#80ff00", ends the piece. Its length from
 * the colon on, else 0. */
static gsize
colour_length(const char *piece, gsize length, gsize i)
{
    gsize digits = 0;

    if (i == 0 || length - i < 5 || piece[i] != ':' || piece[i + 1] != '#' ||
        !g_ascii_isalpha(piece[i - 1]))
        return 0;
    while (i + 2 + digits < length && g_ascii_isxdigit(piece[i + 2 + digits]))
        digits++;
    return (digits == 3 || digits == 6) && i + 2 + digits == length ? 2 + digits : 0;
}

/* Letters that could be words: three or more, small but perhaps the first, or all capital.
 * Without digits, several may touch, as in "getTextLength". */
static gsize
count_words(const char *piece, gsize length, gboolean digits)
{
    gsize words = 0;

    for (gsize i = 0; i < length;) {
        words += colour_length(piece, length, i);
        gsize start = i, capitals = 0, hump = 0, humps = 0;
        gboolean late = FALSE; /* a capital after the first letter */
        for (; i < length && g_ascii_isalpha(piece[i]); i++) {
            gboolean capital = g_ascii_isupper(piece[i]);
            capitals += capital;
            late = late || (i > start && capital);
            humps += capital && hump >= 3 ? hump : 0;
            hump = capital ? 1 : hump + 1;
        }
        humps += hump >= 3 ? hump : 0;
        if (i - start >= 3 && (!late || (capitals == i - start && !digits)))
            words += i - start;
        else if (i - start < RUN_LONG)
            words += humps;
        i += i == start;
    }
    return words;
}

/* A word with at most two signs behind it, as most pieces are; longer ones are looked at. */
static gboolean
is_word(const char *piece, gsize length)
{
    gsize letters = 1;

    while (letters < length && g_ascii_islower(piece[letters]))
        letters++;
    return length < RUN_LONG && g_ascii_isalpha(piece[0]) && letters + 2 >= length;
}

/* FALSE: words, a name, a path, a number, a date. */
static gboolean
is_code(const char *piece, gsize length)
{
    guint letters = 0, digits = 0, changes = 0, different = 0;
    guint8 seen[128] = {FALSE};

    if (is_word(piece, length))
        return FALSE;
    for (gsize i = 0; i < length; i++) {
        if (piece[i] <= ' ' || piece[i] > '~')
            return FALSE;
        different += !seen[(guchar)piece[i]];
        seen[(guchar)piece[i]] = TRUE;
        letters += g_ascii_isalpha(piece[i]);
        digits += g_ascii_isdigit(piece[i]);
        changes += i > 0 && g_ascii_isalpha(piece[i - 1]) && g_ascii_isdigit(piece[i]);
    }
    if ((length >= RUN_LONG && digits * 5 >= length * 3) ||
        strspn(piece, "01") >= length) /* of so many digits */
        return TRUE;
    if (different < 5 || letters == 0)
        return FALSE;
    return changes >= 3 || longest_run(piece, length) >= RUN_LONG ||
           count_words(piece, length, digits > 0) * 2 < length;
}

static gboolean
is_byte(const char *piece, gsize length)
{
    const gboolean marked =
        length > 2 && (memcmp(piece, "0x", 2) == 0 || memcmp(piece, "&#", 2) == 0);
    const gsize prefix = marked ? 2 : 0;
    gsize i = prefix;

    while (i < length && g_ascii_isxdigit(piece[i]))
        i++;
    return i == length && length - prefix <= BYTE_MAX && length > prefix;
}

static gboolean
is_link(const char *piece, gsize length)
{
    return length <= LINK_MAX && memchr(piece, ':', length) != NULL &&
           memmem(piece, length, "://", 3) != NULL;
}

static void
look_at_piece(Line *line, const char *piece, gsize length, gboolean listed)
{
    line->total += length;
    if (length >= PIECE_MIN && is_link(piece, length))
        return; /* a shorter one is neither code nor a number anyway */
    if (length >= WORD_LONG)
        line->longest = MAX(line->longest, longest_run(piece, length));
    const gboolean byte = is_byte(piece, length);
    line->n_listed += byte && listed;
    if (byte && (!listed || piece[1] == 'x')) {
        line->bytes += length;
        line->n_bytes++;
    }
    if (length >= PIECE_MIN && is_code(piece, length))
        line->code += length;
}

/* Small, capital and digit by turns, the more so the smaller slack is. A capital that begins a
 * word is no turn. */
static gboolean
takes_turns(const char *text, gsize length, gsize slack)
{
    gsize small = 0, capital = 0, digits = 0, turns = 0;
    char last = 0;

    for (gsize i = 0; i < length; last = text[i++]) {
        if (g_ascii_islower(text[i])) {
            small++;
            turns += g_ascii_isdigit(last);
        } else if (g_ascii_isupper(text[i])) {
            capital++;
            turns += g_ascii_islower(last) || g_ascii_isdigit(last);
        } else if (g_ascii_isdigit(text[i])) {
            digits++;
            turns += g_ascii_isalpha(last);
        }
    }
    gsize all = small + capital + digits;
    return all * 2 >= length && turns * 4 * slack >= all && small * 7 * slack >= all &&
           capital * 7 * slack >= all;
}

/* An encoding in pieces of any size. Most lines are none at a glance. */
static gboolean
is_jumble(const char *text, gsize length)
{
    return (length <= GLANCE || takes_turns(text, GLANCE, 2)) &&
           takes_turns(text, length, 1) && memmem(text, length, "://", 3) == NULL;
}

static gboolean
is_between(char c)
{
    static const gboolean signs[256] = {
        [' '] = TRUE, ['\t'] = TRUE, ['\n'] = TRUE, ['\f'] = TRUE, ['\r'] = TRUE, [','] = TRUE,
        [';'] = TRUE, ['|'] = TRUE,  ['>'] = TRUE,  ['{'] = TRUE,  ['}'] = TRUE};

    return signs[(guchar)c];
}

/* "1,234" is a number; "48 65" are two. */
static gboolean
is_listed(const char *text, const char *start, const char *stop, const char *end)
{
    return (start > text && start[-1] == ',') ||
           (end - stop > 1 && *stop == ',' && !g_ascii_isspace(stop[1]));
}

/* A full line of uuencode: its length, an M, and sixty of its signs. */
static gboolean
is_uu(const char *text, gsize length)
{
    if (length != UU_LINE || text[0] != 'M')
        return FALSE;
    for (gsize i = 0; i < length; i++)
        if (text[i] < ' ' || text[i] > '`')
            return FALSE;
    return TRUE;
}

/* Characters of the line that only a program can read, when most of them are; else 0. */
static gsize
measure(const char *text, gsize length, Line *line)
{
    const char *end = text + length;

    if (is_uu(text, length))
        return line->total = length;
    for (const char *p = text; p < end; p++) {
        const char *start = p;
        while (p < end && !is_between(*p))
            p++;
        if (p - start < PIECE_MIN && !g_ascii_isxdigit(*start) &&
            *start != '&') /* most words, or nothing */
            line->total += (gsize)(p - start);
        else
            look_at_piece(line, start, (gsize)(p - start), is_listed(text, start, p, end));
    }
    if (line->n_listed >= LIST_LONG)
        return line->total;
    if (line->n_bytes >= BYTES_MIN && line->bytes * 2 >= line->total)
        return line->bytes;
    return line->code * 5 >= line->total * 3 ? line->code : 0;
}

/* A line that begins with the sign; where something stands before it, as in a sentence about
 * it, its end must follow. */
static gboolean
begins_armour(const char *text, const char *sign, const char *end)
{
    const char *p = strstr(text, sign);

    if (p != NULL && strstr(p, end) != NULL)
        return TRUE;
    for (; p != NULL; p = strstr(p + 1, sign)) {
        const char *start = p;
        while (start > text && start[-1] != '\n' && !g_ascii_isalnum(start[-1]))
            start--;
        if (start == text || start[-1] == '\n')
            return TRUE;
    }
    return FALSE;
}

/* Armour and wrappings with nothing readable between them. */
static void
look_for_armour(MailReading *reading, const char *text)
{
    static const struct {
        const char *sign;
        const char *end;
        const char *why;
    } armours[] = {
        {"-----BEGIN PGP MESSAGE", "-----END PGP MESSAGE", "encrypted"},
        {"-----BEGIN PKCS7", "-----END PKCS7", "encrypted"},
        {"-----BEGIN CMS", "-----END CMS", "encrypted"},
        {"-----BEGIN AGE ENCRYPTED", "-----END AGE ENCRYPTED", "encrypted"},
        {"BEGIN SALTPACK ENCRYPTED", "END SALTPACK ENCRYPTED", "encrypted"},
        {"=ybegin ", "=yend", "an encoded block"},
        {"(This file must be converted with BinHex", ":", "an encoded block"},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(armours); i++)
        if (begins_armour(text, armours[i].sign, armours[i].end))
            mail_mark(reading, armours[i].why);
}

void
mail_find_blocks(MailReading *reading, const char *text)
{
    gsize block = 0, total = 0;

    look_for_armour(reading, text);
    for (const char *p = text; *p != 0;) {
        gsize length = strcspn(p, "\n");
        Line line = {0};
        gsize code = measure(p, length, &line);
        /* A piece that looks like a word ends no block, several lines of them do. */
        block += code;
        block -= code == 0 ? MIN(block, line.total * WORDS_WEIGH) : 0;
        /* Formulas and games of chess look the same, but are short. */
        if (code == 0 && is_jumble(p, length))
            code = line.total;
        total += code;
        if (block >= BLOCK_MIN || total >= TOTAL_MIN || line.longest >= WORD_LONG)
            mail_mark(reading, "an encoded block");
        p += length + (p[length] != 0);
    }
}
