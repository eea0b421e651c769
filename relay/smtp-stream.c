#include "relay/smtp-stream.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "lib/error.h"
#include "lib/secret.h"
#include "lib/trusted.h"

enum { LOOK_MS = 250 };

static gint hurried; /* nobody waits any more who can do without */

struct _SmtpStream {
    int fd; /* never blocks; wait_for does */
    gboolean patient;
    char *host; /* to verify a certificate against; NULL on a unix socket */
    SSL_CTX *context;
    SSL *tls; /* NULL: none yet */
    char buffer[SMTP_LINE_LIMIT];
    gsize filled; /* bytes of buffer that are unread */
};

static gboolean
fail(const char *what, GError **error)
{
    g_set_error_literal(error, EXEAT_ERROR, ERROR_TEMP, what);
    return FALSE;
}

static gboolean
fail_errno(const char *what, int number, GError **error)
{
    g_set_error(error, EXEAT_ERROR, ERROR_TEMP, "%s: %s", what, g_strerror(number));
    return FALSE;
}

static gboolean
wait_for(int fd, gboolean patient, short events, gint64 deadline, GError **error)
{
    struct pollfd item = {fd, events, 0};

    for (;;) {
        gint64 left = (deadline - g_get_monotonic_time() + 999) / 1000;
        if (left <= 0)
            return fail("the server took too long", error);
        if (!patient && g_atomic_int_get(&hurried))
            return fail("the server took too long, and the relay ends", error);
        int ready = poll(&item, 1, patient ? MIN(left, G_MAXINT) : MIN(left, LOOK_MS));
        if (ready > 0)
            return TRUE;
        if (ready < 0 && errno != EINTR)
            return fail_errno("poll", errno, error);
    }
}

static gint64
deadline_after(guint wait_ms)
{
    return g_get_monotonic_time() + (gint64)wait_ms * 1000;
}

/* Connecting */

/* A connected socket, or -1. */
static int
connect_address(const struct sockaddr *address, socklen_t length, const char *target,
                gint64 deadline, GError **error)
{
    int failure = 0;
    socklen_t size = sizeof failure;
    int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0) {
        fail_errno("socket", errno, error);
        return -1;
    }
    if (connect(fd, address, length) == 0)
        return fd;
    if (errno != EINPROGRESS && errno != EINTR) {
        fail_errno(target, errno, error);
    } else if (wait_for(fd, FALSE, POLLOUT, deadline, error)) {
        if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &failure, &size) == 0 && failure == 0)
            return fd;
        fail_errno(target, failure, error);
    }
    close(fd);
    return -1;
}

static int
connect_unix(const char *target, const char *path, gint64 deadline, GError **error)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    if (strlen(path) >= sizeof address.sun_path) {
        fail_errno(target, ENAMETOOLONG, error);
        return -1;
    }
    g_strlcpy(address.sun_path, path, sizeof address.sun_path);
    return connect_address((struct sockaddr *)&address, sizeof address, target, deadline,
                           error);
}

/* Tries each address of the host in turn, for as long as if it were the only one: one that
 * does not answer keeps nobody from the others. The error is the last one's. */
static int
connect_inet(const char *target, const char *host, const char *port, guint wait_ms,
             GError **error)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *list = NULL;
    int fd = -1, on = 1;

    int code = getaddrinfo(host, port, &hints, &list);
    if (code != 0) {
        g_set_error(error, EXEAT_ERROR, ERROR_TEMP, "%s: %s", target, gai_strerror(code));
        return -1;
    }
    for (struct addrinfo *item = list; item != NULL && fd < 0; item = item->ai_next) {
        g_clear_error(error);
        fd = connect_address(item->ai_addr, item->ai_addrlen, target, deadline_after(wait_ms),
                             error);
    }
    freeaddrinfo(list);
    /* The lone final dot must not wait for an acknowledgement of what came before it. */
    if (fd >= 0)
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
}

/* Parts "host:port" or "[host]:port". */
static gboolean
split_host(const char *text, char **host_out, char **port_out)
{
    const char *colon = strrchr(text, ':');

    if (colon == NULL || colon == text || colon[1] == '\0')
        return FALSE;
    gboolean brackets = text[0] == '[' && colon[-1] == ']' && colon - text > 2;
    *host_out =
        brackets ? g_strndup(text + 1, colon - text - 2) : g_strndup(text, colon - text);
    *port_out = g_strdup(colon + 1);
    return TRUE;
}

SmtpStream *
smtp_stream_open(const char *target, guint wait_ms, GError **error)
{
    g_autofree char *host = NULL;
    g_autofree char *port = NULL;
    int fd = -1;

    if (g_str_has_prefix(target, "unix:"))
        fd = connect_unix(target, target + 5, deadline_after(wait_ms), error);
    else if (g_str_has_prefix(target, "inet:") && split_host(target + 5, &host, &port))
        fd = connect_inet(target, host, port, wait_ms, error);
    else
        g_set_error(error, EXEAT_ERROR, ERROR_TEMP,
                    "%s: expected unix:/path or inet:host:port", target);
    if (fd < 0)
        return NULL;

    SmtpStream *stream = g_new0(SmtpStream, 1);
    stream->fd = fd;
    stream->host = g_steal_pointer(&host);
    return stream;
}

void
smtp_stream_free(SmtpStream *stream)
{
    if (stream == NULL)
        return;
    SSL_free(stream->tls);
    SSL_CTX_free(stream->context);
    close(stream->fd);
    g_free(stream->host);
    g_free(stream);
}

/* TLS */

/* What OpenSSL complains about, in its words. */
static gboolean
fail_tls(const char *what, SSL *tls, GError **error)
{
    long verdict = tls != NULL ? SSL_get_verify_result(tls) : X509_V_OK;
    const char *reason = ERR_reason_error_string(ERR_peek_last_error());

    if (verdict != X509_V_OK)
        reason = X509_verify_cert_error_string(verdict);
    g_set_error(error, EXEAT_ERROR, ERROR_TEMP, "%s: %s", what,
                reason != NULL ? reason : "the connection broke");
    return FALSE;
}

/* Waits for what the last call on tls wanted. FALSE when it wanted nothing: it failed. */
static gboolean
wait_tls(SmtpStream *stream, int result, gint64 deadline, GError **error)
{
    switch (SSL_get_error(stream->tls, result)) {
    case SSL_ERROR_WANT_READ:
        return wait_for(stream->fd, stream->patient, POLLIN, deadline, error);
    case SSL_ERROR_WANT_WRITE:
        return wait_for(stream->fd, stream->patient, POLLOUT, deadline, error);
    case SSL_ERROR_ZERO_RETURN:
        return fail("the server closed the connection", error);
    default:
        return fail_tls("TLS", stream->tls, error);
    }
}

/* A key for which a password would have to be typed is of no use to a daemon. */
static int
no_password(char *buffer G_GNUC_UNUSED, int size G_GNUC_UNUSED, int writing G_GNUC_UNUSED,
            void *data G_GNUC_UNUSED)
{
    return -1;
}

/* Ours, for a server that asks for one. */
static gboolean
show_certificate(SSL_CTX *context, const SmtpTrust *trust, GError **error)
{
    char *text = trusted_read_secret(trust->key_file, error);

    if (text == NULL)
        return FALSE;
    BIO *bytes = BIO_new_mem_buf(text, -1);
    EVP_PKEY *key =
        bytes != NULL ? PEM_read_bio_PrivateKey(bytes, NULL, no_password, NULL) : NULL;
    gboolean good =
        key != NULL &&
        SSL_CTX_use_certificate_chain_file(context, trust->certificate_file) == 1 &&
        SSL_CTX_use_PrivateKey(context, key) == 1;
    EVP_PKEY_free(key);
    BIO_free(bytes);
    secret_forget(text);
    return good ||
           fail_tls(key == NULL ? trust->key_file : trust->certificate_file, NULL, error);
}

static gboolean
make_context(SmtpStream *stream, const SmtpTrust *trust, GError **error)
{
    const char *ca_file = trust->ca_file;

    ERR_clear_error();
    stream->context = SSL_CTX_new(TLS_client_method());
    if (stream->context == NULL)
        return fail_tls("TLS", NULL, error);
    SSL_CTX_set_min_proto_version(stream->context, TLS1_2_VERSION);
    SSL_CTX_set_verify(stream->context, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_mode(stream->context,
                     SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    int loaded = ca_file != NULL
                     ? SSL_CTX_load_verify_locations(stream->context, ca_file, NULL)
                     : SSL_CTX_set_default_verify_paths(stream->context);
    if (loaded != 1)
        return fail_tls(ca_file != NULL ? ca_file : "system CAs", NULL, error);
    return trust->certificate_file == NULL || show_certificate(stream->context, trust, error);
}

/* Whom the certificate must be made out to (RFC 6125; RFC 9525 for the wildcards). */
static gboolean
expect_host(SSL *tls, const char *host)
{
    if (g_hostname_is_ip_address(host))
        return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(tls), host) == 1;
    SSL_set_hostflags(tls, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return SSL_set1_host(tls, host) == 1 && SSL_set_tlsext_host_name(tls, host) == 1;
}

gboolean
smtp_stream_secure(SmtpStream *stream, const SmtpTrust *trust, guint wait_ms, GError **error)
{
    gint64 deadline = deadline_after(wait_ms);
    int result;

    if (stream->filled > 0)
        return fail("the server spoke before TLS began", error);
    if (stream->host == NULL)
        return fail("TLS needs a host name to verify", error);
    if (!make_context(stream, trust, error))
        return FALSE;
    SSL *tls = stream->tls = SSL_new(stream->context);
    if (tls == NULL || SSL_set_fd(tls, stream->fd) != 1 || !expect_host(tls, stream->host))
        return fail_tls("TLS", NULL, error);

    for (;;) {
        ERR_clear_error();
        result = SSL_connect(tls);
        if (result == 1)
            return TRUE;
        if (!wait_tls(stream, result, deadline, error))
            return FALSE;
    }
}

void
smtp_stream_hurry(void)
{
    g_atomic_int_set(&hurried, TRUE);
}

void
smtp_stream_be_patient(SmtpStream *stream, gboolean patient)
{
    stream->patient = patient;
}

gboolean
smtp_stream_is_secure(const SmtpStream *stream)
{
    return stream->tls != NULL;
}

/* Bytes */

/* How many bytes went out; 0 to try again, -1 with the error. */
static gssize
write_some(SmtpStream *stream, const char *bytes, gsize length, gint64 deadline,
           GError **error)
{
    if (stream->tls != NULL) {
        ERR_clear_error();
        int written = SSL_write(stream->tls, bytes, MIN(length, G_MAXINT));
        if (written > 0)
            return written;
        return wait_tls(stream, written, deadline, error) ? 0 : -1;
    }
    gssize written = send(stream->fd, bytes, length, MSG_NOSIGNAL);
    if (written >= 0)
        return written;
    if (errno == EINTR)
        return 0;
    if (errno == EAGAIN)
        return wait_for(stream->fd, stream->patient, POLLOUT, deadline, error) ? 0 : -1;
    fail_errno("cannot write to the server", errno, error);
    return -1;
}

gboolean
smtp_stream_write(SmtpStream *stream, const void *bytes, gsize length, guint wait_ms,
                  GError **error)
{
    gint64 deadline = deadline_after(wait_ms);
    const char *next = bytes;

    while (length > 0) {
        gssize written = write_some(stream, next, length, deadline, error);
        if (written < 0)
            return FALSE;
        next += written;
        length -= written;
    }
    return TRUE;
}

/* Adds at least a byte to the buffer. */
static gboolean
fill(SmtpStream *stream, gint64 deadline, GError **error)
{
    char *end = stream->buffer + stream->filled;
    gsize room = sizeof stream->buffer - stream->filled;

    for (;;) {
        gssize got;
        if (stream->tls != NULL) {
            ERR_clear_error();
            got = SSL_read(stream->tls, end, room);
            if (got <= 0 && !wait_tls(stream, got, deadline, error))
                return FALSE;
        } else {
            if (!wait_for(stream->fd, stream->patient, POLLIN, deadline, error))
                return FALSE;
            got = recv(stream->fd, end, room, 0);
            if (got == 0)
                return fail("the server closed the connection", error);
            if (got < 0 && errno != EINTR && errno != EAGAIN)
                return fail_errno("cannot read from the server", errno, error);
        }
        if (got > 0) {
            stream->filled += got;
            return TRUE;
        }
    }
}

char *
smtp_stream_read_line(SmtpStream *stream, gint64 deadline, GError **error)
{
    const char *end;

    while ((end = memchr(stream->buffer, '\n', stream->filled)) == NULL) {
        if (stream->filled == sizeof stream->buffer) {
            g_set_error(error, EXEAT_ERROR, ERROR_PROTOCOL, "the server's line is too long");
            return NULL;
        }
        if (!fill(stream, deadline, error))
            return NULL;
    }
    gsize taken = end - stream->buffer + 1;
    gsize length = taken >= 2 && end[-1] == '\r' ? taken - 2 : taken - 1;
    g_autofree char *line = g_strndup(stream->buffer, length);
    gboolean whole = memchr(stream->buffer, '\0', length) == NULL;

    stream->filled -= taken;
    memmove(stream->buffer, stream->buffer + taken, stream->filled);
    if (whole)
        return g_steal_pointer(&line);
    g_set_error(error, EXEAT_ERROR, ERROR_PROTOCOL, "the server's line holds a zero byte");
    return NULL;
}

gboolean
smtp_stream_is_quiet(SmtpStream *stream)
{
    char byte;

    if (stream->filled > 0)
        return FALSE;
    if (stream->tls != NULL) {
        /* Bytes on the socket may be TLS's own, such as session tickets. */
        ERR_clear_error();
        int result = SSL_peek(stream->tls, &byte, 1);
        return result <= 0 && SSL_get_error(stream->tls, result) == SSL_ERROR_WANT_READ;
    }
    return recv(stream->fd, &byte, 1, MSG_PEEK) < 0 && errno == EAGAIN;
}
