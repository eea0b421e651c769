#include "relay/smtp-body.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "lib/error.h"

#define CHUNK (16 * 1024)

struct _SmtpBody {
    const char *head;
    gsize head_length;
    int fd;
    guint64 offset; /* of head and message together */
    char last;      /* byte seen; '\n' before the first, for that starts a line */
    gboolean eight_bit;
    GByteArray *chunk;
};

SmtpBody *
smtp_body_new(const char *head, int fd)
{
    SmtpBody *body = g_new0(SmtpBody, 1);

    body->head = head;
    body->head_length = strlen(head);
    body->fd = fd;
    body->last = '\n';
    body->chunk = g_byte_array_sized_new(CHUNK);
    return body;
}

void
smtp_body_free(SmtpBody *body)
{
    if (body == NULL)
        return;
    g_byte_array_unref(body->chunk);
    g_free(body);
}

/* The next bytes as they are; *length_out is 0 at the end. */
static gboolean
read_some(SmtpBody *body, char *buffer, gsize *length_out, GError **error)
{
    if (body->offset < body->head_length) {
        *length_out = MIN(CHUNK, body->head_length - body->offset);
        memcpy(buffer, body->head + body->offset, *length_out);
        return TRUE;
    }
    for (;;) {
        ssize_t length = pread(body->fd, buffer, CHUNK, body->offset - body->head_length);
        if (length < 0 && errno == EINTR)
            continue;
        if (length < 0) {
            g_set_error(error, EXEAT_ERROR, ERROR_TEMP, "cannot read the message: %s",
                        g_strerror(errno));
            return FALSE;
        }
        *length_out = length;
        return TRUE;
    }
}

/* FALSE when a CR or an LF stands alone. */
static gboolean
stuff(SmtpBody *body, const char *bytes, gsize length)
{
    gsize copied = 0;

    for (gsize i = 0; i < length; i++) {
        if (body->last == '\r' ? bytes[i] != '\n' : bytes[i] == '\n')
            return FALSE;
        if (body->last == '\n' && bytes[i] == '.') {
            g_byte_array_append(body->chunk, (const guint8 *)bytes + copied, i - copied);
            g_byte_array_append(body->chunk, (const guint8 *)".", 1);
            copied = i;
        }
        body->eight_bit = body->eight_bit || (bytes[i] & 0x80) != 0;
        body->last = bytes[i];
    }
    g_byte_array_append(body->chunk, (const guint8 *)bytes + copied, length - copied);
    return TRUE;
}

gboolean
smtp_body_next(SmtpBody *body, const GByteArray **chunk_out, GError **error)
{
    char buffer[CHUNK];
    gsize length;

    if (!read_some(body, buffer, &length, error))
        return FALSE;
    g_byte_array_set_size(body->chunk, 0);
    if (!stuff(body, buffer, length)) {
        g_set_error(error, EXEAT_ERROR, ERROR_PROTOCOL,
                    "the message holds a CR or LF that ends no line");
        return FALSE;
    }
    if (length == 0 && body->last != '\n') {
        g_set_error(error, EXEAT_ERROR, ERROR_PROTOCOL, "the last line has no end");
        return FALSE;
    }
    body->offset += length;
    *chunk_out = body->chunk;
    return TRUE;
}

gboolean
smtp_body_scan(SmtpBody *body, guint64 *size_out, gboolean *eight_bit_out, GError **error)
{
    const GByteArray *chunk;

    do {
        if (!smtp_body_next(body, &chunk, error))
            return FALSE;
    } while (chunk->len > 0);
    *size_out = body->offset;
    *eight_bit_out = body->eight_bit;
    return TRUE;
}
