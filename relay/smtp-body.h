/* smtp-body.h - the bytes of a message on their way through DATA
 *
 * Header lines of ours, then a message from a descriptor, in chunks with dots doubled (RFC
 * 5321, 4.5.2). A CR or LF that is no half of a CR LF is an error, and so is a last line
 * without its end: what one server takes for text another takes for the end of the message
 * (XA15). */
#pragma once

#include <glib.h>

typedef struct _SmtpBody SmtpBody;

/* head: lines with CR LF, or "". Both are borrowed; fd is read from its start, its position
 * stays. */
SmtpBody *smtp_body_new(const char *head, int fd);
void smtp_body_free(SmtpBody *body);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SmtpBody, smtp_body_free)

/* The next chunk, dots doubled; of length 0 at the end. Valid until the next call. Errors:
 * ERROR_TEMP when it cannot be read, ERROR_PROTOCOL for a line end. */
gboolean smtp_body_next(SmtpBody *body, const GByteArray **chunk_out, GError **error);

/* Reads all of it. size_out: bytes, as RFC 1870 counts them, before dots are doubled. */
gboolean smtp_body_scan(SmtpBody *body, guint64 *size_out, gboolean *eight_bit_out,
                        GError **error);
