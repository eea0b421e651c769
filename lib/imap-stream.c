#include <errno.h>
#include <poll.h>
#include <string.h>

#include "lib/error.h"
#include "lib/imap-curl.h"
#include "lib/imap-private.h"

enum { CONNECT_MS = 30000, REPLY_LIMIT = 512 };

struct _ImapStream {
    const ImapCurl *api;
    CURL *curl;
    GString *reply; /* the last line of the server while libcurl speaks */
};

static gboolean
fail(const char *what, GError **error)
{
    g_set_error_literal(error, EXEAT_ERROR, ERROR_TEMP, what);
    return FALSE;
}

/* libcurl shows every line of the server here, and itself keeps none of them. */
static size_t
keep_reply(char *bytes, size_t size, size_t count, void *data)
{
    GString *reply = data;

    g_string_truncate(reply, 0);
    g_string_append_len(reply, bytes, (gssize)MIN(size * count, REPLY_LIMIT));
    return size * count;
}

/* What the server said to the login, without its tag: "NO [AUTHENTICATIONFAILED] ...". */
static char *
reply_text(const ImapStream *stream)
{
    const char *space = strchr(stream->reply->str, ' ');

    return g_strchomp(g_utf8_make_valid(space != NULL ? space + 1 : "no reason given", -1));
}

static void
fail_connect(const ImapStream *stream, const ImapUrl *url, CURLcode code, const char *details,
             GError **error)
{
    const char *what = *details != '\0' ? details : stream->api->strerror(code);
    g_autofree char *reply = reply_text(stream);

    if (code == CURLE_LOGIN_DENIED)
        g_set_error(error, EXEAT_ERROR, ERROR_CONFIG, "%s refuses the login of “%s”: %s",
                    url->host, url->user, reply);
    else if (code == CURLE_USE_SSL_FAILED)
        g_set_error(error, EXEAT_ERROR, ERROR_CONFIG,
                    "%s offers no STARTTLS, and without TLS no password is sent", url->host);
    else if (code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE)
        g_set_error(error, EXEAT_ERROR, ERROR_CONFIG, "%s cannot be trusted: %s", url->host,
                    what);
    else
        g_set_error(error, EXEAT_ERROR, ERROR_TEMP, "%s: %s", url->host, what);
}

static void
set_options(const ImapStream *stream, const ImapServer *server, const char *address)
{
    CURLcode (*const set)(CURL *, CURLoption, ...) = stream->api->setopt;
    CURL *curl = stream->curl;
    guint cap = server->timeout_ms != 0 ? server->timeout_ms : CONNECT_MS;

    set(curl, CURLOPT_URL, address);
    set(curl, CURLOPT_PROTOCOLS_STR, "imap,imaps");
    set(curl, CURLOPT_CONNECT_ONLY, 1L);
    set(curl, CURLOPT_USERNAME, server->url->user);
    if (server->token != NULL)
        set(curl, CURLOPT_XOAUTH2_BEARER, server->token);
    else
        set(curl, CURLOPT_PASSWORD, server->password);
    set(curl, CURLOPT_USE_SSL, (long)CURLUSESSL_ALL);
    set(curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    set(curl, CURLOPT_SSL_VERIFYPEER, 1L);
    set(curl, CURLOPT_SSL_VERIFYHOST, 2L);
    if (server->ca_file != NULL) {
        set(curl, CURLOPT_CAINFO, server->ca_file);
        set(curl, CURLOPT_CAPATH, NULL); /* that file and no other */
    }
    set(curl, CURLOPT_TIMEOUT_MS, (long)cap);
    set(curl, CURLOPT_NOSIGNAL, 1L); /* other threads */
}

/* user and password never become part of it. */
static char *
address_of(const ImapUrl *url)
{
    const char *scheme = url->starttls ? "imap" : "imaps";

    if (url->port == 0)
        return g_strdup_printf("%s://%s/", scheme, url->host);
    return g_strdup_printf("%s://%s:%u/", scheme, url->host, url->port);
}

ImapStream *
imap_stream_open(const ImapServer *server, GError **error)
{
    g_autoptr(ImapStream) stream = g_new0(ImapStream, 1);
    g_autofree char *address = address_of(server->url);
    char details[CURL_ERROR_SIZE] = "";

    stream->reply = g_string_new(NULL);
    stream->api = imap_curl(error);
    if (stream->api == NULL)
        return NULL;
    stream->curl = stream->api->init();
    if (stream->curl == NULL) {
        fail("libcurl does not start", error);
        return NULL;
    }
    set_options(stream, server, address);
    stream->api->setopt(stream->curl, CURLOPT_HEADERFUNCTION, keep_reply);
    stream->api->setopt(stream->curl, CURLOPT_HEADERDATA, stream->reply);
    stream->api->setopt(stream->curl, CURLOPT_ERRORBUFFER, details);
    CURLcode code = stream->api->perform(stream->curl);
    stream->api->setopt(stream->curl, CURLOPT_ERRORBUFFER, NULL);
    if (code == CURLE_OK)
        return g_steal_pointer(&stream);
    fail_connect(stream, server->url, code, details, error);
    return NULL;
}

void
imap_stream_free(ImapStream *stream)
{
    if (stream == NULL)
        return;
    if (stream->curl != NULL)
        stream->api->cleanup(stream->curl);
    g_string_free(stream->reply, TRUE);
    g_free(stream);
}

static gboolean
wait_for(const ImapStream *stream, short events, gint64 deadline, GError **error)
{
    struct pollfd item = {.events = events};
    curl_socket_t fd = CURL_SOCKET_BAD;

    stream->api->getinfo(stream->curl, CURLINFO_ACTIVESOCKET, &fd);
    item.fd = fd;
    for (;;) {
        gint64 left = (deadline - g_get_monotonic_time() + 999) / 1000;
        if (left <= 0)
            return fail("the server took too long", error);
        int ready = poll(&item, 1, (int)MIN(left, G_MAXINT));
        if (ready > 0)
            return TRUE;
        if (ready < 0 && errno != EINTR)
            return fail(g_strerror(errno), error);
    }
}

gboolean
imap_stream_send(ImapStream *stream, const char *bytes, gsize length, gint64 deadline,
                 GError **error)
{
    while (length > 0) {
        size_t sent = 0;
        CURLcode code = stream->api->send(stream->curl, bytes, length, &sent);
        if (code == CURLE_AGAIN && !wait_for(stream, POLLOUT, deadline, error))
            return FALSE;
        if (code != CURLE_OK && code != CURLE_AGAIN)
            return fail("the connection is lost", error);
        bytes += sent;
        length -= sent;
    }
    return TRUE;
}

/* Asks libcurl first and waits then: TLS may hold bytes that the socket has given already. */
gsize
imap_stream_receive(ImapStream *stream, char *bytes, gsize size, gint64 deadline,
                    GError **error)
{
    for (;;) {
        size_t got = 0;
        CURLcode code = stream->api->recv(stream->curl, bytes, size, &got);
        if (code == CURLE_OK && got > 0)
            return got;
        if (code != CURLE_AGAIN) {
            fail("the connection is lost", error);
            return 0;
        }
        if (!wait_for(stream, POLLIN, deadline, error))
            return 0;
    }
}
