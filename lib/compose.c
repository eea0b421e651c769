#include "lib/compose.h"

#include <string.h>

/* RFC 5322, 2.1.1; RFC 2047, 2 (an encoded word of at most 75); RFC 2045, 6.8 (76). */
enum { LINE_MOST = 998, PLAIN_SUBJECT_MOST = 60, WORD_BYTES = 42, BASE64_BYTES = 57 };

char *
compose_message_id(const char *host)
{
    g_autofree char *uuid = g_uuid_string_random();

    return g_strdup_printf("<%s@%s>", uuid, host);
}

char *
compose_date(gint64 now)
{
    g_autoptr(GDateTime) when = g_date_time_new_from_unix_local(now);

    return g_date_time_format(when, "%a, %d %b %Y %H:%M:%S %z");
}

/* A list, an entry on each line; nothing when it is empty. */
static void
add_list(GString *message, const char *name, const char *const *entries, const char *between)
{
    if (entries[0] == NULL)
        return;
    g_autofree char *folded = g_strjoinv(between, (char **)entries);
    g_string_append_printf(message, "%s: %s\r\n", name, folded);
}

/* How much of the text goes into one encoded word: whole characters. */
static gsize
word_length(const char *text)
{
    const char *end = text;

    while (*end != '\0' && g_utf8_next_char(end) - text <= WORD_BYTES)
        end = g_utf8_next_char(end);
    return end - text;
}

static void
add_subject(GString *message, const char *subject)
{
    gboolean plain = g_str_is_ascii(subject) && strlen(subject) <= PLAIN_SUBJECT_MOST &&
                     strstr(subject, "=?") == NULL;

    g_string_append(message, "Subject:");
    if (plain)
        g_string_append_printf(message, " %s", subject);
    for (const char *rest = subject; !plain && *rest != '\0';) {
        gsize length = word_length(rest);
        g_autofree char *word = g_base64_encode((const guchar *)rest, length);

        g_string_append_printf(message, "%s =?UTF-8?B?%s?=", rest == subject ? "" : "\r\n",
                               word);
        rest += length;
    }
    g_string_append(message, "\r\n");
}

/* The text as it is sent: CRLF, and one at the end. */
static GString *
make_body(const char *text)
{
    g_autoptr(GString) body = g_string_new(NULL);

    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '\n')
            g_string_append_c(body, '\r');
        g_string_append_c(body, *c);
    }
    if (body->len > 0 && body->str[body->len - 1] != '\n')
        g_string_append(body, "\r\n");
    return g_steal_pointer(&body);
}

/* Whether the body may go as it is through any mail server. */
static gboolean
is_plain(const GString *body)
{
    gsize length = 0;

    for (const char *c = body->str; *c != '\0'; c++) {
        length = *c == '\n' ? 0 : length + 1;
        if (length > LINE_MOST || (guchar)*c >= 0x7f ||
            (g_ascii_iscntrl(*c) && strchr("\t\r\n", *c) == NULL))
            return FALSE;
    }
    return TRUE;
}

static void
add_encoded(GString *message, const GString *body)
{
    for (gsize at = 0; at < body->len; at += BASE64_BYTES) {
        g_autofree char *line =
            g_base64_encode((const guchar *)body->str + at, MIN(BASE64_BYTES, body->len - at));

        g_string_append_printf(message, "%s\r\n", line);
    }
}

void
compose_add_text(GString *message, const char *text)
{
    g_autoptr(GString) body = make_body(text);
    gboolean plain = is_plain(body);

    g_string_append_printf(message,
                           "Content-Type: text/plain; charset=%s\r\n"
                           "Content-Transfer-Encoding: %s\r\n\r\n",
                           plain ? "us-ascii" : "utf-8", plain ? "7bit" : "base64");
    if (plain)
        g_string_append_len(message, body->str, body->len);
    else
        add_encoded(message, body);
}

GString *
compose_message(const Letter *letter, gint64 now)
{
    GString *message = g_string_new(NULL);
    g_autofree char *date = compose_date(now);
    guint parents = g_strv_length((char **)letter->parents);

    g_string_append_printf(message, "From: %s\r\n", letter->from);
    add_list(message, "To", letter->to, ",\r\n ");
    add_subject(message, letter->subject);
    g_string_append_printf(message, "Date: %s\r\nMessage-ID: %s\r\n", date,
                           letter->message_id);
    if (parents > 0)
        g_string_append_printf(message, "In-Reply-To: %s\r\n", letter->parents[parents - 1]);
    add_list(message, "References", letter->parents, "\r\n ");
    if (letter->automatic != NULL)
        g_string_append_printf(message, "Auto-Submitted: %s\r\n", letter->automatic);
    g_string_append(message, "MIME-Version: 1.0\r\n");
    compose_add_text(message, letter->text);
    return message;
}
