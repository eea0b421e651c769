/* smtp-stream.h - lines and bytes to and from a mail server
 *
 * A socket, TLS over it when asked, and a deadline on everything: each time given is for the
 * whole call, so a server that drips gains nothing. The only user of OpenSSL's TLS. SIGPIPE
 * must be ignored. Errors: ERROR_TEMP, and ERROR_PROTOCOL for what is no line of a server. */
#pragma once

#include <glib.h>

#define SMTP_LINE_LIMIT 2048 /* bytes of a server's line; RFC 5321, 4.5.3.1.5 grants 512 */

typedef struct _SmtpStream SmtpStream;

/* target: unix:/path or inet:host:port, an IPv6 address in square brackets. wait_ms: for each
 * address of the host. */
SmtpStream *smtp_stream_open(const char *target, guint wait_ms, GError **error);

/* Closes without a word. */
void smtp_stream_free(SmtpStream *stream);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SmtpStream, smtp_stream_free)

/* ca_file NULL: the system's. certificate_file and key_file: ours, NULL for none; the key is
 * read as trusted.h wants a secret. */
typedef struct {
    const char *ca_file, *certificate_file, *key_file;
} SmtpTrust;

/* Starts TLS: at least version 1.2, a certificate that the CAs vouch for, made out to the
 * target's host. Refused when bytes of the server wait unread: they came without TLS (the
 * STARTTLS injections, CVE-2021-38371 and its kin). */
gboolean smtp_stream_secure(SmtpStream *stream, const SmtpTrust *trust, guint wait_ms,
                            GError **error);
gboolean smtp_stream_is_secure(const SmtpStream *stream);

/* From now on every wait of the process ends with ERROR_TEMP, those on patient streams aside.
 * Any thread. */
void smtp_stream_hurry(void);
void smtp_stream_be_patient(SmtpStream *stream, gboolean patient);

gboolean smtp_stream_write(SmtpStream *stream, const void *bytes, gsize length, guint wait_ms,
                           GError **error);

/* The next line without its CR LF or LF; the caller frees. A line that the server did not end,
 * that is too long or holds a NUL is an error. deadline: of g_get_monotonic_time. */
char *smtp_stream_read_line(SmtpStream *stream, gint64 deadline, GError **error);

/* TRUE when the server is still there and has said nothing that is unread. */
gboolean smtp_stream_is_quiet(SmtpStream *stream);
