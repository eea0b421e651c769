/* The connection to an IMAP server that goes silent, drips or leaves: a wait has an end, and a
 * lost connection is an error and no signal. */
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <glib/gstdio.h>
#include <openssl/ssl.h>

#include "lib/error.h"
#include "lib/imap-private.h"
#include "tests/unit/smtp-server.h"

#define PATIENCE_MS 300
#define OFFER       "CAPABILITY IMAP4rev1 AUTH=PLAIN AUTH=XOAUTH2 SASL-IR"

typedef enum { SILENT, MUTE, DRIPPING, LEAVING } Manner;

typedef struct {
    Manner manner; /* SILENT: from the beginning; the others: after the login */
    int listener;
    SSL_CTX *context;
    GThread *thread;
    char *heard; /* how the client logged in */
} Peer;

static void
say(SSL *tls, const char *text)
{
    SSL_write(tls, text, (int)strlen(text));
}

/* Up to the line feed; FALSE at the end of the connection. */
static gboolean
hear(SSL *tls, GString *line)
{
    char byte;

    g_string_truncate(line, 0);
    while (SSL_read(tls, &byte, 1) == 1) {
        g_string_append_c(line, byte);
        if (byte == '\n')
            return TRUE;
    }
    return FALSE;
}

static void
log_in(Peer *peer, SSL *tls)
{
    g_autoptr(GString) line = g_string_new(NULL);

    say(tls, "* OK [" OFFER "] hello\r\n");
    while (hear(tls, line)) {
        g_auto(GStrv) words = g_strsplit(line->str, " ", -1);
        if (strstr(line->str, "CAPABILITY") != NULL)
            say(tls, "* " OFFER "\r\n");
        g_autofree char *reply = g_strdup_printf("%s OK done\r\n", words[0]);
        say(tls, reply);
        if (strstr(line->str, "AUTHENTICATE") != NULL) {
            peer->heard = g_strdup(strstr(line->str, "AUTHENTICATE"));
            return;
        }
    }
}

static gpointer
serve(gpointer data)
{
    Peer *peer = data;
    sigset_t broken_pipe;

    /* Of this thread alone: the client's would end the test. */
    sigemptyset(&broken_pipe);
    sigaddset(&broken_pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &broken_pipe, NULL);

    int fd = accept(peer->listener, NULL, NULL);
    SSL *tls = SSL_new(peer->context);
    g_autoptr(GString) line = g_string_new(NULL);

    SSL_set_fd(tls, fd);
    if (peer->manner != SILENT && SSL_accept(tls) == 1) {
        log_in(peer, tls);
        while (peer->manner == DRIPPING && SSL_write(tls, "*", 1) == 1)
            g_usleep(10000);
        while (peer->manner == MUTE && hear(tls, line))
            ;
    }
    /* Silence ends when the client gives up. */
    while (peer->manner == SILENT && read(fd, line->str, 1) == 1)
        ;
    SSL_free(tls);
    close(fd);
    return NULL;
}

static guint
peer_start(Peer *peer, Manner manner, const char *certificate)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t length = sizeof address;

    peer->manner = manner;
    peer->context = SSL_CTX_new(TLS_server_method());
    g_assert_cmpint(SSL_CTX_use_certificate_file(peer->context, certificate, 1), ==, 1);
    g_assert_cmpint(SSL_CTX_use_PrivateKey_file(peer->context, certificate, 1), ==, 1);
    peer->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    g_assert_cmpint(bind(peer->listener, (struct sockaddr *)&address, length), ==, 0);
    g_assert_cmpint(listen(peer->listener, 5), ==, 0);
    getsockname(peer->listener, (struct sockaddr *)&address, &length);
    peer->thread = g_thread_new("peer", serve, peer);
    return ntohs(address.sin_port);
}

static void
peer_stop(Peer *peer)
{
    if (peer->thread != NULL)
        g_thread_join(peer->thread);
    close(peer->listener);
    g_free(peer->heard);
    SSL_CTX_free(peer->context);
}

static char *certificate; /* for localhost */

static ImapStream *
open_stream(guint port, guint timeout_ms, GError **error)
{
    ImapUrl url = {.user = (char *)"nora", .host = (char *)"localhost", .port = port};
    ImapServer server = {
        .url = &url,
        .password = "secret",
        .ca_file = certificate,
        .timeout_ms = timeout_ms,
    };

    return imap_stream_open(&server, error);
}

static void
test_silent(void)
{
    g_autoptr(GError) error = NULL;
    Peer peer = {0};
    guint port = peer_start(&peer, SILENT, certificate);

    g_assert_null(open_stream(port, PATIENCE_MS, &error));
    g_assert_error(error, EXEAT_ERROR, ERROR_TEMP);
    /* As libcurl has it, before TLS or in it. */
    g_assert_true(strstr(error->message, "timed out") || strstr(error->message, "timeout"));
    peer_stop(&peer);
}

/* A drip renews nothing: the deadline is that of the whole answer. */
static void
test_slow(gconstpointer manner)
{
    g_autoptr(GError) error = NULL;
    Peer peer = {0};
    guint port = peer_start(&peer, GPOINTER_TO_INT(manner), certificate);
    g_autoptr(ImapStream) stream = open_stream(port, 0, &error);
    g_assert_no_error(error);
    ImapInput input = {.stream = stream};
    g_autoptr(GString) answer = g_string_new(NULL);
    gint64 deadline = g_get_monotonic_time() + PATIENCE_MS * 1000;

    g_assert_false(imap_input_read(&input, 1000000, deadline, answer, &error));
    g_assert_error(error, EXEAT_ERROR, ERROR_TEMP);
    g_assert_cmpstr(error->message, ==, "the server took too long");
    g_clear_pointer(&stream, imap_stream_free);
    peer_stop(&peer);
}

/* Writing to who has left must not end the program. */
static void
test_leaving(void)
{
    g_autoptr(GError) error = NULL;
    Peer peer = {0};
    guint port = peer_start(&peer, LEAVING, certificate);
    g_autoptr(ImapStream) stream = open_stream(port, 0, &error);
    g_assert_no_error(error);
    gint64 deadline = g_get_monotonic_time() + 10 * G_USEC_PER_SEC;
    char byte;

    peer_stop(&peer);
    g_assert_cmpuint(imap_stream_receive(stream, &byte, 1, deadline, &error), ==, 0);
    g_assert_error(error, EXEAT_ERROR, ERROR_TEMP);
    g_clear_error(&error);
    while (imap_stream_send(stream, "E1 NOOP\r\n", 9, deadline, &error))
        g_assert_cmpint(g_get_monotonic_time(), <, deadline);
    g_assert_error(error, EXEAT_ERROR, ERROR_TEMP);
}

/* "user=nora^Aauth=Bearer secret^A^A" in base64, and no password. */
static void
test_token(void)
{
    ImapUrl url = {.user = (char *)"nora", .host = (char *)"localhost"};
    ImapServer server = {.url = &url, .token = "secret", .ca_file = certificate};
    g_autoptr(GError) error = NULL;
    Peer peer = {0};

    url.port = peer_start(&peer, MUTE, certificate);
    ImapStream *stream = imap_stream_open(&server, &error);
    g_assert_no_error(error);
    imap_stream_free(stream);
    g_thread_join(g_steal_pointer(&peer.thread));
    g_assert_cmpstr(peer.heard, ==,
                    "AUTHENTICATE XOAUTH2 dXNlcj1ub3JhAWF1dGg9QmVhcmVyIHNlY3JldAEB\r\n");
    peer_stop(&peer);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_autofree char *folder = g_dir_make_tmp("exeat-imap-XXXXXX", NULL);
    certificate = g_build_filename(folder, "certificate", NULL);
    certificate_write(certificate, "DNS:localhost");
    g_test_add_func("/imap-stream/silent", test_silent);
    g_test_add_data_func("/imap-stream/mute", GINT_TO_POINTER(MUTE), test_slow);
    g_test_add_data_func("/imap-stream/dripping", GINT_TO_POINTER(DRIPPING), test_slow);
    g_test_add_func("/imap-stream/leaving", test_leaving);
    g_test_add_func("/imap-stream/token", test_token);
    int status = g_test_run();
    g_unlink(certificate);
    g_rmdir(folder);
    g_free(certificate);
    return status;
}
