#include "tests/unit/smtp-server.h"

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <glib/gstdio.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

struct _Server {
    Script script;
    int listener;
    char *path;
    SSL_CTX *context;
    gboolean implicit;
    GThread *thread;
    GMutex mutex;
    GCond cond;
    gboolean acted; /* guarded by mutex */
    guint connections, messages;
    GString *commands, *bytes;
};

/* A connection. */
typedef struct {
    Server *server;
    int fd;
    SSL *tls;
    guint recipients, mails;
    guint answers; /* of auth_then that were given */
    gboolean in_auth;
} Peer;

static const char ordinary_ehlo[] = "250-fake.example\r\n250-SIZE 100000\r\n250-8BITMIME\r\n"
                                    "250-DSN\r\n250 SMTPUTF8\r\n";

static void
note_act(Server *server)
{
    g_mutex_lock(&server->mutex);
    server->acted = TRUE;
    g_cond_broadcast(&server->cond);
    g_mutex_unlock(&server->mutex);
}

void
server_wait_acted(Server *server)
{
    g_mutex_lock(&server->mutex);
    while (!server->acted)
        g_cond_wait(&server->cond, &server->mutex);
    server->acted = FALSE;
    g_mutex_unlock(&server->mutex);
}

static gboolean
read_byte(Peer *peer, char *byte)
{
    if (peer->tls != NULL)
        return SSL_read(peer->tls, byte, 1) == 1;
    return read(peer->fd, byte, 1) == 1;
}

/* Reads until the client leaves, so that closing does not turn into a reset. */
static void
drain(Peer *peer)
{
    char byte;

    while (read_byte(peer, &byte))
        ;
}

static gboolean
act(Peer *peer, char what)
{
    struct linger linger = {1, 0};

    if (what == *ACT_CLOSE) {
        shutdown(peer->fd, SHUT_WR);
    } else if (what == *ACT_RESET) {
        setsockopt(peer->fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
        close(peer->fd);
        peer->fd = -1;
    }
    note_act(peer->server);
    if (peer->fd >= 0)
        drain(peer);
    return FALSE;
}

/* FALSE when the connection is over. */
static gboolean
say(Peer *peer, const char *text, const char *ordinary)
{
    const char *said = text != NULL ? text : ordinary;
    gsize length = strlen(said);
    gboolean acts = length > 0 && said[length - 1] <= *ACT_HANG;

    if (acts)
        length--;
    if (length > 0 && peer->tls != NULL)
        SSL_write(peer->tls, said, length);
    else if (length > 0)
        send(peer->fd, said, length, MSG_NOSIGNAL);
    return !acts || act(peer, said[length]);
}

static gboolean
begin_tls(Peer *peer)
{
    g_assert_nonnull(peer->server->context);
    peer->tls = SSL_new(peer->server->context);
    SSL_set_fd(peer->tls, peer->fd);
    g_string_append(peer->server->commands, "TLS\n");
    return SSL_accept(peer->tls) == 1;
}

/* The bytes up to the dot, kept as they come. */
static gboolean
take_message(Peer *peer)
{
    Server *server = peer->server;
    gsize start = server->bytes->len;
    char byte;

    while (read_byte(peer, &byte)) {
        g_string_append_c(server->bytes, byte);
        gsize length = server->bytes->len - start;
        const char *end = server->bytes->str + server->bytes->len;
        if (length == 1 && server->script.body != NULL) {
            if (!say(peer, server->script.body, ""))
                return FALSE;
            note_act(server);
        }
        if ((length == 3 && memcmp(end - 3, ".\r\n", 3) == 0) ||
            (length >= 5 && memcmp(end - 5, "\r\n.\r\n", 5) == 0)) {
            server->messages++;
            return TRUE;
        }
    }
    return FALSE;
}

static gboolean
say_auth(Peer *peer, const char *text)
{
    peer->in_auth = g_str_has_prefix(text, "334");
    return say(peer, text, NULL);
}

static gboolean
serve_command(Peer *peer, const char *line)
{
    const Script *script = &peer->server->script;

    g_string_append_printf(peer->server->commands, "%s\n", line);
    if (peer->in_auth)
        return say_auth(peer, script->auth_then[peer->answers++]);
    if (g_str_has_prefix(line, "EHLO"))
        return say(peer, script->ehlo, ordinary_ehlo);
    if (g_str_has_prefix(line, "HELO"))
        return say(peer, script->helo, "250 fake.example\r\n");
    if (g_str_has_prefix(line, "STARTTLS"))
        return say(peer, script->starttls, "220 go\r\n") && begin_tls(peer);
    if (g_str_has_prefix(line, "AUTH"))
        return say_auth(peer, script->auth != NULL ? script->auth : "235 welcome\r\n");
    if (g_str_has_prefix(line, "MAIL"))
        return say(peer,
                   peer->mails++ > 0 && script->mail_again != NULL ? script->mail_again
                                                                   : script->mail,
                   "250 ok\r\n");
    if (g_str_has_prefix(line, "RCPT"))
        return say(peer, peer->recipients++ == 0 ? script->rcpt : script->rcpt2, "250 ok\r\n");
    if (g_str_equal(line, "DATA"))
        return say(peer, script->data, "354 go\r\n") && take_message(peer) &&
               say(peer,
                   peer->mails > 1 && script->dot_again != NULL ? script->dot_again
                                                                : script->dot,
                   "250 2.0.0 queued\r\n");
    return FALSE;
}

static void
serve(Peer *peer)
{
    g_autoptr(GString) line = g_string_new(NULL);
    char byte;

    if (peer->server->implicit && !begin_tls(peer))
        return;
    const Script *script = &peer->server->script;
    gboolean again = peer->server->connections > 1 && script->greeting_again != NULL;
    if (!say(peer, again ? script->greeting_again : script->greeting, "220 fake.example\r\n"))
        return;
    while (read_byte(peer, &byte)) {
        g_string_append_c(line, byte);
        if (byte != '\n')
            continue;
        g_assert_true(g_str_has_suffix(line->str, "\r\n"));
        g_string_truncate(line, line->len - 2);
        if (!serve_command(peer, line->str))
            return;
        g_string_truncate(line, 0);
    }
}

static gpointer
run(gpointer data)
{
    Server *server = data;
    int fd;

    while ((fd = accept(server->listener, NULL, NULL)) >= 0) {
        Peer peer = {.server = server, .fd = fd};

        server->connections++;
        serve(&peer);
        SSL_free(peer.tls);
        if (peer.fd >= 0)
            close(peer.fd);
    }
    return NULL;
}

Server *
server_start(const Script *script, const char *path, const char *certificate,
             gboolean implicit)
{
    Server *server = g_new0(Server, 1);
    struct sockaddr_in inet = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    struct sockaddr_un local = {.sun_family = AF_UNIX};
    const struct sockaddr *address = (const struct sockaddr *)&inet;

    if (path != NULL) {
        g_assert_cmpuint(strlen(path), <, sizeof local.sun_path);
        strcpy(local.sun_path, path);
        address = (const struct sockaddr *)&local;
    }
    if (certificate != NULL) {
        server->context = SSL_CTX_new(TLS_server_method());
        g_assert_cmpint(SSL_CTX_use_certificate_file(server->context, certificate, 1), ==, 1);
        g_assert_cmpint(SSL_CTX_use_PrivateKey_file(server->context, certificate, 1), ==, 1);
    }
    server->script = *script;
    server->path = g_strdup(path);
    server->implicit = implicit;
    server->commands = g_string_new(NULL);
    server->bytes = g_string_new(NULL);
    server->listener = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    g_assert_cmpint(bind(server->listener, address, path != NULL ? sizeof local : sizeof inet),
                    ==, 0);
    g_assert_cmpint(listen(server->listener, 5), ==, 0);
    server->thread = g_thread_new("server", run, server);
    return server;
}

char *
server_target(const Server *server, const char *host)
{
    struct sockaddr_in address;
    socklen_t length = sizeof address;

    if (server->path != NULL)
        return g_strconcat("unix:", server->path, NULL);
    getsockname(server->listener, (struct sockaddr *)&address, &length);
    return g_strdup_printf("inet:%s:%d", host, ntohs(address.sin_port));
}

void
server_stop(Server *server)
{
    if (server->thread == NULL)
        return;
    shutdown(server->listener, SHUT_RDWR);
    g_thread_join(server->thread);
    server->thread = NULL;
}

void
server_free(Server *server)
{
    server_stop(server);
    close(server->listener);
    if (server->path != NULL)
        g_unlink(server->path);
    SSL_CTX_free(server->context);
    g_free(server->path);
    g_string_free(server->commands, TRUE);
    g_string_free(server->bytes, TRUE);
    g_mutex_clear(&server->mutex);
    g_cond_clear(&server->cond);
    g_free(server);
}

guint
server_connections(const Server *server)
{
    return server->connections;
}

guint
server_messages(const Server *server)
{
    return server->messages;
}

const char *
server_commands(const Server *server)
{
    return server->commands->str;
}

const GString *
server_bytes(const Server *server)
{
    return server->bytes;
}

void
certificate_write(const char *path, const char *host)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *certificate = X509_new();
    X509_NAME *name = X509_get_subject_name(certificate);
    X509_EXTENSION *hosts = X509V3_EXT_conf_nid(NULL, NULL, NID_subject_alt_name, host);
    FILE *file = fopen(path, "w");

    g_assert_true(key != NULL && hosts != NULL && file != NULL);
    X509_set_version(certificate, X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate), -3600);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const guchar *)host, -1, -1, 0);
    X509_set_issuer_name(certificate, name);
    X509_set_pubkey(certificate, key);
    X509_add_ext(certificate, hosts, -1);
    g_assert_cmpint(X509_sign(certificate, key, EVP_sha256()), >, 0);
    g_assert_true(PEM_write_X509(file, certificate) == 1 &&
                  PEM_write_PrivateKey(file, key, NULL, NULL, 0, NULL, NULL) == 1);
    fclose(file);
    X509_EXTENSION_free(hosts);
    X509_free(certificate);
    EVP_PKEY_free(key);
}

/* sender and recipients: words parted by spaces, recipients by "|". */
static Envelope *
parse_envelope(const char *sender, const char *recipients)
{
    Envelope *envelope = envelope_new();
    g_auto(GStrv) words = g_strsplit(sender, " ", -1);
    g_auto(GStrv) list = g_strsplit(recipients, "|", -1);

    envelope_set_sender(envelope, (const char *const *)words);
    for (char **item = list; *item != NULL; item++) {
        g_auto(GStrv) parts = g_strsplit(*item, " ", -1);
        envelope_add_recipient(envelope, (const char *const *)parts, NULL);
    }
    return envelope;
}

SmtpResult *
send_text_if(SmtpClient *client, const char *sender, const char *recipients, const char *text,
             const SmtpHooks *hooks)
{
    g_autoptr(Envelope) envelope = parse_envelope(sender, recipients);
    int fd = memfd_create("smtp-test", MFD_CLOEXEC);

    g_assert_cmpint(write(fd, text, strlen(text)), ==, (gssize)strlen(text));
    SmtpResult *result = smtp_send(client, envelope, HEAD, fd, hooks);
    close(fd);
    return result;
}

SmtpResult *
send_text(SmtpClient *client, const char *sender, const char *recipients, const char *text)
{
    return send_text_if(client, sender, recipients, text, NULL);
}

char *
give_password(gpointer data G_GNUC_UNUSED, gboolean fresh G_GNUC_UNUSED,
              GError **error G_GNUC_UNUSED)
{
    return g_strdup("pass");
}

void
assert_result(const SmtpResult *result, SmtpOutcome outcome, SmtpStage stage, guint code)
{
    g_test_message("%s: %s", smtp_stage_name(result->stage), result->text);
    g_assert_cmpint(result->outcome, ==, outcome);
    g_assert_cmpstr(smtp_stage_name(result->stage), ==, smtp_stage_name(stage));
    g_assert_cmpuint(result->code, ==, code);
    g_assert_true(g_utf8_validate(result->text, -1, NULL));
    g_assert_null(strpbrk(result->text, "\r\n"));
}
