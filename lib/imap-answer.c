#include <string.h>

#include "lib/error.h"
#include "lib/imap-private.h"

static gboolean
fail(const char *what, GError **error)
{
    g_set_error(error, EXEAT_ERROR, ERROR_PROTOCOL, "the server's answer %s", what);
    return FALSE;
}

/* Reading from the connection */

static gboolean
fill(ImapInput *input, gint64 deadline, GError **error)
{
    input->start = 0;
    input->end =
        imap_stream_receive(input->stream, input->bytes, sizeof input->bytes, deadline, error);
    return input->end > 0;
}

static void
take(ImapInput *input, gsize length, GString *answer)
{
    g_string_append_len(answer, input->bytes + input->start, (gssize)length);
    input->start += length;
}

/* Up to and with the next line feed. */
static gboolean
read_line(ImapInput *input, gsize limit, gint64 deadline, GString *answer, GError **error)
{
    for (;;) {
        if (input->start == input->end && !fill(input, deadline, error))
            return FALSE;
        const char *start = input->bytes + input->start;
        gsize left = input->end - input->start;
        const char *feed = memchr(start, '\n', left);
        gsize length = feed != NULL ? (gsize)(feed + 1 - start) : left;
        if (length > limit - answer->len)
            return fail("is too long", error);
        take(input, length, answer);
        if (feed != NULL)
            return TRUE;
    }
}

static gboolean
read_literal(ImapInput *input, gsize length, gint64 deadline, GString *answer, GError **error)
{
    while (length > 0) {
        if (input->start == input->end && !fill(input, deadline, error))
            return FALSE;
        gsize piece = MIN(length, input->end - input->start);
        take(input, piece, answer);
        length -= piece;
    }
    return TRUE;
}

/* Whether the line that begins at start announces a literal: "{" digits "}" at its very end.
 */
static gboolean
announces_literal(const GString *answer, gsize start, guint64 *length_out)
{
    const char *line = answer->str + start;
    gsize length = strcspn(line, "\r\n");
    const char *brace = g_strrstr_len(line, (gssize)length, "{");

    if (brace == NULL || length == 0 || line[length - 1] != '}')
        return FALSE;
    g_autofree char *digits = g_strndup(brace + 1, (gsize)(line + length - 1 - brace - 1));
    return g_ascii_string_to_unsigned(digits, 10, 0, G_MAXUINT64, length_out, NULL);
}

gboolean
imap_input_read(ImapInput *input, gsize limit, gint64 deadline, GString *answer,
                GError **error)
{
    guint64 length;

    g_string_truncate(answer, 0);
    limit = MIN(limit, IMAP_ANSWER_MAX);
    for (;;) {
        gsize start = answer->len;
        if (!read_line(input, limit, deadline, answer, error))
            return FALSE;
        if (!g_str_has_suffix(answer->str + start, "\r\n") ||
            strlen(answer->str + start) != answer->len - start)
            return fail("has a line that ends or contains what it must not", error);
        if (!announces_literal(answer, start, &length))
            break;
        if (length > limit - answer->len)
            return fail("is too long", error);
        if (!read_literal(input, (gsize)length, deadline, answer, error))
            return FALSE;
    }
    g_string_truncate(answer, answer->len - 2);
    return TRUE;
}

/* Tokens */

gboolean
imap_cursor_skip(ImapCursor *cursor, const char *expected)
{
    gsize length = strlen(expected);

    if ((gsize)(cursor->end - cursor->at) < length ||
        g_ascii_strncasecmp(cursor->at, expected, length) != 0)
        return FALSE;
    cursor->at += length;
    return TRUE;
}

gboolean
imap_cursor_number(ImapCursor *cursor, guint64 max, guint64 *number_out)
{
    char *at = cursor->at;
    guint64 number = 0;

    for (; at < cursor->end && g_ascii_isdigit(*at); at++) {
        guint digit = (guint)(*at - '0');
        if (digit > max || number > (max - digit) / 10)
            return FALSE;
        number = number * 10 + digit;
    }
    if (at == cursor->at)
        return FALSE;
    cursor->at = at;
    *number_out = number;
    return TRUE;
}

static gboolean
read_quoted(ImapCursor *cursor, char **bytes_out, gsize *length_out)
{
    char *written = cursor->at; /* never ahead of what is read */

    for (char *at = cursor->at + 1; at < cursor->end; at++) {
        if (*at == '"') {
            *bytes_out = cursor->at;
            *length_out = (gsize)(written - cursor->at);
            cursor->at = at + 1;
            return TRUE;
        }
        if (*at == '\\' && ++at == cursor->end)
            return FALSE;
        *written++ = *at;
    }
    return FALSE;
}

static gboolean
read_counted(ImapCursor *cursor, char **bytes_out, gsize *length_out)
{
    ImapCursor start = *cursor;
    guint64 length;

    if (!imap_cursor_skip(&start, "{") || !imap_cursor_number(&start, G_MAXSSIZE, &length) ||
        !imap_cursor_skip(&start, "}\r\n") || length > (gsize)(start.end - start.at))
        return FALSE;
    *bytes_out = start.at;
    *length_out = (gsize)length;
    cursor->at = start.at + length;
    return TRUE;
}

gboolean
imap_cursor_string(ImapCursor *cursor, char **bytes_out, gsize *length_out)
{
    char *at = cursor->at;

    if (at < cursor->end && *at == '"')
        return read_quoted(cursor, bytes_out, length_out);
    if (at < cursor->end && *at == '{')
        return read_counted(cursor, bytes_out, length_out);
    while (at < cursor->end && strchr(" ()\"{\r\n", *at) == NULL)
        at++;
    if (at == cursor->at)
        return FALSE;
    *bytes_out = cursor->at;
    *length_out = (gsize)(at - cursor->at);
    if (*length_out == 3 && g_ascii_strncasecmp(*bytes_out, "NIL", 3) == 0)
        *length_out = 0;
    cursor->at = at;
    return TRUE;
}

gboolean
imap_cursor_value(ImapCursor *cursor)
{
    ImapCursor next = *cursor;
    guint depth = 0;
    char *bytes;
    gsize length;

    do {
        if (imap_cursor_skip(&next, "("))
            depth++;
        else if (depth > 0 && imap_cursor_skip(&next, ")"))
            depth--;
        else if ((depth == 0 || !imap_cursor_skip(&next, " ")) &&
                 !imap_cursor_string(&next, &bytes, &length))
            return FALSE;
    } while (depth > 0);
    *cursor = next;
    return TRUE;
}
