#include "lib/mail-private.h"

#include <string.h>

#define CHARSET_MAX 40

/* A name iconv may be asked for; it reads options and file names out of others. */
static gboolean
is_charset(const char *name)
{
    gsize length =
        strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_:.+");

    return length > 0 && length <= CHARSET_MAX && name[length] == 0;
}

gboolean
mail_is_ascii(const char *bytes, gsize length)
{
    const char *end = bytes + length;
    guint64 all = 0, word;

    for (; end - bytes >= (gssize)sizeof word; bytes += sizeof word) {
        memcpy(&word, bytes, sizeof word);
        all |= word;
    }
    for (; bytes < end; bytes++)
        all |= (guchar)*bytes;
    return (all & G_GUINT64_CONSTANT(0x8080808080808080)) == 0;
}

/* By whole names: iconv is to say which others it knows. */
static gboolean
extends_ascii(const char *charset)
{
    static const char *const names[] = {"utf-8",       "iso-8859-1",   "iso-8859-2",
                                        "iso-8859-15", "windows-1252", "cp1252"};

    for (gsize i = 0; i < G_N_ELEMENTS(names); i++)
        if (g_ascii_strcasecmp(charset, names[i]) == 0)
            return TRUE;
    return FALSE;
}

/* Text that iconv would make no other of, so that it is not asked. */
static gboolean
is_same(const char *bytes, gsize length, const char *charset)
{
    return charset != NULL && extends_ascii(charset) && mail_is_ascii(bytes, length);
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

/* Where the byte stands next, else the end. */
static const char *
next_byte(const char *p, char byte, const char *end)
{
    const char *found = memchr(p, byte, (gsize)(end - p));

    return found != NULL ? found : end;
}

/* UTF-8 with line feeds only and without NUL: a bare CR is a new line to who looks at it. */
static char *
clean(const char *text, gsize length)
{
    g_autoptr(GString) cleaned = g_string_sized_new(length);
    const char *end = text + length;
    const char *p = text, *nul = next_byte(p, 0, end), *cr = next_byte(p, '\r', end);

    for (const char *stop = MIN(nul, cr); stop < end; stop = MIN(nul, cr)) {
        g_string_append_len(cleaned, p, stop - p);
        p = stop + 1;
        if (stop == nul) {
            g_string_append(cleaned, "\xef\xbf\xbd");
            nul = next_byte(p, 0, end);
            continue;
        }
        if (p == end || *p != '\n')
            g_string_append_c(cleaned, '\n');
        cr = next_byte(p, '\r', end);
    }
    g_string_append_len(cleaned, p, end - p);
    if (mail_is_ascii(cleaned->str, cleaned->len) ||
        g_utf8_validate_len(cleaned->str, cleaned->len, NULL))
        return g_string_free(g_steal_pointer(&cleaned), FALSE);
    return g_utf8_make_valid(cleaned->str, (gssize)cleaned->len);
}

/* Whether something begins another character set. */
static gboolean
has_shift(const char *text, gsize length)
{
    return memchr(text, 0, length) != NULL || memchr(text, 0x0e, length) != NULL ||
           memchr(text, 0x0f, length) != NULL || memchr(text, 0x1b, length) != NULL;
}

gboolean
mail_is_certain(const char *bytes, gsize length, const char *charset)
{
    g_autofree char *converted = NULL;
    gsize converted_length = 0;

    if (length == 0)
        return TRUE;
    if (charset == NULL || g_ascii_strcasecmp(charset, "us-ascii") == 0)
        charset = "UTF-8";
    if (is_same(bytes, length, charset))
        return !has_shift(bytes, length);
    converted = convert(bytes, length, charset, &converted_length);
    return converted != NULL && !has_shift(converted, converted_length);
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
    if (is_same(bytes, length, "UTF-8") && (charset == NULL || extends_ascii(charset) ||
                                            g_ascii_strcasecmp(charset, "us-ascii") == 0))
        return clean(bytes, length);
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
        mail_mark(reading, EXTRACT_TEXT_CUT);
        length = room;
        while (length > 0 && (text[length] & 0xc0) == 0x80)
            length--;
    }
    g_string_append_len(all, text, (gssize)length);
}

void
mail_search(MailReading *reading, const char *text)
{
    gsize length = strlen(text);
    gsize room = EXTRACT_TEXT_LIMIT - MIN(reading->more->len + 1, EXTRACT_TEXT_LIMIT);

    for (length = MIN(length, room); length > 0 && (text[length] & 0xc0) == 0x80;)
        length--;
    if (length > 0) {
        g_string_append_len(reading->more, text, (gssize)length);
        g_string_append_c(reading->more, '\n');
    }
}

/* "begin 644 staff.csv" or, with "-base64", the newer form (POSIX uuencode): the file's name,
 * else NULL. The caller frees. */
static char *
uu_name(const char *line, gsize length, gboolean *base64_out)
{
    const char *end = line + length;
    const char *p = line + strlen("begin");

    if (length < 9 || g_ascii_strncasecmp(line, "begin", 5) != 0)
        return NULL;
    *base64_out = g_ascii_strncasecmp(p, "-base64", 7) == 0;
    p += *base64_out ? 7 : 0;
    if (p >= end || (*p != ' ' && *p != '\t'))
        return NULL;
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    const char *mode = p;
    while (p < end && *p >= '0' && *p <= '7')
        p++;
    if (p - mode < 3 || p - mode > 6 || (p < end && *p != ' ' && *p != '\t'))
        return NULL;
    return g_strstrip(g_strndup(p, (gsize)(end - p)));
}

typedef struct {
    GChecksum *sum;
    guint64 size;
    gboolean base64;
    gint state; /* of the base64 decoder */
    guint save;
    gboolean whole; /* a line has about the length that it says: a sentence has not */
} UuFile;

static guint
uu_value(char c)
{
    return ((guint)c - 32) & 63;
}

/* Decodes a line; FALSE when it is none. Spaces at its end may be lost on the way. */
static gboolean
uu_decode(UuFile *file, const char *line, gsize length)
{
    guint8 bytes[63] = {0};
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
    g_checksum_update(file->sum, bytes, (gssize)n);
    file->size += n;
    file->whole |= n > 0 && length * 2 > (n + 2) / 3 * 4;
    return TRUE;
}

static gboolean
uu_decode_base64(UuFile *file, const char *line, gsize length)
{
    guchar bytes[128];

    if (length == 0 || length > sizeof bytes)
        return FALSE;
    for (gsize i = 0; i < length; i++)
        if (!g_ascii_isalnum(line[i]) && strchr("+/=", line[i]) == NULL)
            return FALSE;
    gsize n = g_base64_decode_step(line, length, bytes, &file->state, &file->save);
    file->whole = TRUE;
    g_checksum_update(file->sum, bytes, (gssize)n);
    file->size += n;
    return TRUE;
}

static gboolean
is_uu_end(const UuFile *file, const char *line, gsize length)
{
    const char *end = file->base64 ? "====" : "end";

    return length == strlen(end) && strncmp(line, end, length) == 0;
}

/* Adds the file whose first line of data is text; an "end" without data is a file, too. */
static void
read_uu(MailReading *reading, const char *name, gboolean base64, const char *text)
{
    g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
    UuFile file = {.sum = sum, .base64 = base64};
    gboolean end = FALSE;

    for (const char *line = text; *line != 0;) {
        gsize length = strcspn(line, "\n");
        end = is_uu_end(&file, line, length);
        if (end || !(base64 ? uu_decode_base64 : uu_decode)(&file, line, length))
            break;
        line += length + (line[length] != 0);
    }
    const char *const names[] = {name, NULL};
    g_autofree char *shown = mail_join_names(names);
    if (end || file.whole)
        mail_add_part(reading, shown, "application/x-uuencode", file.size,
                      g_checksum_get_string(sum));
}

void
mail_read_text(MailReading *reading, const char *text, gboolean counted)
{
    mail_find_quotes(text, &reading->extract->forward, &reading->extract->quoted);
    mail_find_blocks(reading, text);
    for (const char *line = text; *line != 0;) {
        gsize length = strcspn(line, "\n");
        const char *next = line + length + (line[length] != 0);
        gboolean base64 = FALSE;
        g_autofree char *name = uu_name(line, length, &base64);
        if (name != NULL && counted)
            read_uu(reading, name, base64, next);
        line = next;
    }
}
