#include "lib/mail-private.h"

#include <string.h>

/* Twenty lines of sixty characters: more than any signature, key print or address needs
 * (XB19). */
#define BLOCK_LINE 60
#define BLOCK_MIN  (20 * BLOCK_LINE)
#define WORD_LONG  2000 /* one unbroken word of that length is no word */

#define CHARSET_MAX 40

/* A name iconv may be asked for; it reads options and file names out of others. */
static gboolean
is_charset(const char *name)
{
    gsize length =
        strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_:.+");

    return length > 0 && length <= CHARSET_MAX && name[length] == 0;
}

static char *
convert(const char *bytes, gsize length, const char *charset, gsize *length_out)
{
    gsize read = 0; /* asked for, so that a character cut off at the end is no error */

    if (charset == NULL || !is_charset(charset) ||
        g_ascii_strcasecmp(charset, "us-ascii") == 0)
        return NULL;
    return g_convert(bytes, (gssize)length, "UTF-8", charset, &read, length_out, NULL);
}

/* UTF-8 with line feeds only and without NUL: a bare CR is a new line to who looks at it. */
static char *
clean(const char *text, gsize length)
{
    g_autoptr(GString) cleaned = g_string_sized_new(length);

    for (gsize i = 0; i < length; i++) {
        if (text[i] == 0)
            g_string_append(cleaned, "\xef\xbf\xbd");
        else if (text[i] != '\r')
            g_string_append_c(cleaned, text[i]);
        else if (i + 1 == length || text[i + 1] != '\n')
            g_string_append_c(cleaned, '\n');
    }
    return g_utf8_make_valid(cleaned->str, (gssize)cleaned->len);
}

char *
mail_decode(const char *bytes, gsize length, const char *charset)
{
    /* What is not in the declared character set is UTF-8 if it can be, else what most mail
     * without a declaration is; the last one takes any byte. */
    const char *const guesses[] = {charset, "UTF-8", "WINDOWS-1252", "ISO-8859-1"};
    g_autofree char *text = NULL;
    gsize text_length = 0;

    if (length == 0)
        return g_strdup("");
    for (gsize i = 0; text == NULL && i < G_N_ELEMENTS(guesses); i++)
        text = convert(bytes, length, guesses[i], &text_length);
    return clean(text != NULL ? text : "", text_length);
}

void
mail_append(MailReading *reading, GString *all, const char *text)
{
    gsize length = strlen(text);

    if (length == 0)
        return;
    if (all->len > 0 && all->len + 2 < EXTRACT_TEXT_LIMIT)
        g_string_append(all, g_str_has_suffix(all->str, "\n") ? "\n" : "\n\n");
    gsize room = EXTRACT_TEXT_LIMIT - all->len;
    if (length > room) {
        mail_mark(reading, "text longer than 2 MiB");
        length = room;
        while (length > 0 && (text[length] & 0xc0) == 0x80)
            length--;
    }
    g_string_append_len(all, text, (gssize)length);
}

static gboolean
is_encoding(char c)
{
    return g_ascii_isalnum(c) || (c != 0 && strchr("+/=-_", c) != NULL);
}

/* A whole block, or one word, that only a program can read. Empty lines do not end a block. */
static void
look_for_block(MailReading *reading, const char *line, gsize length, gsize *block)
{
    gsize word = 0, longest = 0;
    gboolean empty = TRUE;

    for (gsize i = 0; i < length; i++) {
        gboolean space = g_ascii_isspace(line[i]) || line[i] == '>' || line[i] == '|';
        empty = empty && space;
        word = is_encoding(line[i]) ? word + 1 : 0;
        longest = MAX(longest, word);
        if (!space && word == 0)
            *block = 0;
    }
    if (!empty)
        *block = longest >= BLOCK_LINE ? *block + longest : 0;
    if (longest >= WORD_LONG || *block >= BLOCK_MIN)
        mail_mark(reading, "an encoded block");
}

/* Armour and wrappings with nothing readable between them. */
static void
look_for_armour(MailReading *reading, const char *text)
{
    static const struct {
        const char *sign;
        const char *why;
    } armours[] = {
        {"-----BEGIN PGP MESSAGE", "encrypted"},
        {"-----BEGIN PKCS7", "encrypted"},
        {"-----BEGIN CMS", "encrypted"},
        {"=ybegin line=", "an encoded block"},
        {"(This file must be converted with BinHex", "an encoded block"},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(armours); i++)
        if (strstr(text, armours[i].sign) != NULL)
            mail_mark(reading, armours[i].why);
}

/* "begin 644 staff.csv": the file's name, else NULL. The caller frees. */
static char *
uu_name(const char *line, gsize length)
{
    const char *end = line + length;
    const char *p = line + 6;

    if (length < 9 || strncmp(line, "begin ", 6) != 0)
        return NULL;
    while (p < end && *p >= '0' && *p <= '7')
        p++;
    if (p - line < 9 || p - line > 10 || (p < end && *p != ' '))
        return NULL;
    return g_strstrip(g_strndup(p, (gsize)(end - p)));
}

static guint
uu_value(char c)
{
    return ((guint)c - 32) & 63;
}

/* Decodes a line into sum; FALSE when it is none. Spaces at its end may be lost on the way. */
static gboolean
uu_decode(const char *line, gsize length, GChecksum *sum, guint64 *size)
{
    guint8 bytes[63];
    gsize n = length > 0 ? uu_value(line[0]) : 0;

    if (length > (n + 2) / 3 * 4 + 3) /* a check character may follow */
        return FALSE;
    for (gsize i = 0; i < length; i++)
        if (line[i] < ' ' || line[i] > '`')
            return FALSE;
    for (gsize i = 0; i < n; i++) {
        gsize at = 1 + i / 3 * 4 + i % 3;
        guint pair = (at < length ? uu_value(line[at]) : 0) << 6;
        pair |= at + 1 < length ? uu_value(line[at + 1]) : 0;
        bytes[i] = (guint8)(pair >> (4 - i % 3 * 2));
    }
    g_checksum_update(sum, bytes, (gssize)n);
    *size += n;
    return TRUE;
}

/* Adds the file whose first line of data is text; an "end" without data is a file, too. */
static void
read_uu(MailReading *reading, const char *name, const char *text)
{
    g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
    guint64 size = 0;
    guint lines = 0;
    gboolean end = FALSE;

    for (const char *line = text; *line != 0; lines++) {
        gsize length = strcspn(line, "\n");
        end = length == 3 && strncmp(line, "end", 3) == 0;
        if (end || !uu_decode(line, length, sum, &size))
            break;
        line += length + (line[length] != 0);
    }
    if (end || lines > 0)
        mail_add_part(reading, name, "application/x-uuencode", size,
                      g_checksum_get_string(sum));
}

void
mail_read_text(MailReading *reading, const char *text, gboolean counted)
{
    gsize block = 0;

    mail_find_quotes(text, &reading->extract->forward, &reading->extract->quoted);
    look_for_armour(reading, text);
    for (const char *line = text; *line != 0;) {
        gsize length = strcspn(line, "\n");
        const char *next = line + length + (line[length] != 0);
        g_autofree char *name = uu_name(line, length);
        look_for_block(reading, line, length, &block);
        if (name != NULL && counted)
            read_uu(reading, name, next);
        line = next;
    }
}
