#include "relay/smtp-auth.h"

#include <string.h>

#include <openssl/rand.h>

#include "lib/error.h"
#include "lib/secret.h"
#include "relay/smtp-scram.h"

enum { NONCE_BYTES = 18, DENIED = 535 };

static gboolean
offers(const SmtpClient *client, const char *name)
{
    const char *offered = session_extension(client, "AUTH");
    g_auto(GStrv) mechanisms = g_strsplit(offered != NULL ? offered : "", " ", -1);

    for (char **mechanism = mechanisms; *mechanism != NULL; mechanism++)
        if (g_ascii_strcasecmp(*mechanism, name) == 0)
            return TRUE;
    return FALSE;
}

/* The strongest that the server offers, or the one that was chosen. */
static gboolean
choose(Sending *sending, SmtpAuth *auth_out)
{
    const SmtpServer *server = &sending->client->server;

    for (SmtpAuth auth = SMTP_AUTH_ANY + 1; auth < SMTP_AUTH_COUNT; auth++) {
        gboolean wanted = server->auth == SMTP_AUTH_ANY
                              ? smtp_auth_is_token(auth) == server->token
                              : server->auth == auth;
        if (wanted && offers(sending->client, smtp_auth_name(auth))) {
            *auth_out = auth;
            return TRUE;
        }
    }
    const char *offered = session_extension(sending->client, "AUTH");
    g_autofree char *text =
        g_strdup_printf("the server offers no AUTH %s%s%s",
                        server->auth != SMTP_AUTH_ANY ? smtp_auth_name(server->auth)
                        : server->token               ? "for a token"
                                                      : "for a password",
                        offered != NULL ? ", but" : "", offered != NULL ? offered : "");
    return sending_end(sending, SMTP_NOT_SENT, 0, text);
}

/* Says "PREFIX base64" and hears a reply of that kind. */
static gboolean
say(Sending *sending, const char *prefix, const char *bytes, gsize length, guint wanted)
{
    char *encoded = g_base64_encode((const guchar *)bytes, length);
    char *line = g_strconcat(prefix, encoded, "\r\n", NULL);
    gboolean good = sending_ask(sending, line, wanted);

    secret_forget(encoded);
    secret_forget(line);
    return good;
}

/* What the server's last 334 asks; never NULL. The caller frees. */
static char *
challenge(const Sending *sending)
{
    const char *text = sending->client->lines->pdata[0]; /* a reply has one at least */
    gsize length = 0;
    g_autofree guchar *bytes = g_base64_decode(text, &length);

    return g_strndup((const char *)bytes, length); /* the bytes do not end with NUL */
}

static gboolean
plain(Sending *sending, const char *password)
{
    const char *user = sending->client->server.user;
    gsize length = strlen(user) + strlen(password) + 2;
    char *secret = g_malloc0(length + 1);

    memcpy(secret + 1, user, strlen(user));
    memcpy(secret + strlen(user) + 2, password, strlen(password));
    gboolean good = say(sending, "AUTH PLAIN ", secret, length, 2);
    explicit_bzero(secret, length);
    g_free(secret);
    return good;
}

static gboolean
login(Sending *sending, const char *password)
{
    const char *user = sending->client->server.user;

    return sending_ask(sending, "AUTH LOGIN\r\n", 3) &&
           say(sending, "", user, strlen(user), 3) &&
           say(sending, "", password, strlen(password), 2);
}

/* Says a message of SCRAM and hears the server's next one; NULL when it ended. A 235 comes too
 * early: the server proves itself in a last challenge, which is answered with nothing (RFC
 * 4954, section 4). */
static char *
exchange(Sending *sending, const char *prefix, const char *message)
{
    if (say(sending, prefix, message, strlen(message), 3))
        return challenge(sending);
    if (sending->client->code / 100 == 2)
        sending_end(sending, SMTP_NOT_SENT, 0,
                    "SCRAM: the server does not prove that it knows the password");
    return NULL;
}

static gboolean
scram(Sending *sending, SmtpAuth auth, const char *password)
{
    guint8 bytes[NONCE_BYTES];
    g_autofree char *prefix = g_strdup_printf("AUTH %s ", smtp_auth_name(auth));
    g_autoptr(GError) error = NULL;

    if (RAND_bytes(bytes, sizeof bytes) != 1)
        return sending_end(sending, SMTP_NOT_SENT, 0, "no random numbers");
    g_autofree char *nonce = g_base64_encode(bytes, sizeof bytes);
    g_autoptr(Scram) dialogue = scram_new(auth == SMTP_AUTH_SCRAM_SHA_256,
                                          sending->client->server.user, password, nonce);
    g_autofree char *asked = exchange(sending, prefix, scram_first(dialogue));
    if (asked == NULL)
        return FALSE;
    g_autofree char *final = scram_final(dialogue, asked, &error);
    if (final == NULL)
        return sending_end(sending, SMTP_NOT_SENT, 0, error->message);
    g_autofree char *proof = exchange(sending, "", final);
    if (proof == NULL)
        return FALSE;
    if (!scram_verify(dialogue, proof, &error))
        return sending_end(sending, SMTP_NOT_SENT, 0, error->message);
    return sending_ask(sending, "\r\n", 2);
}

/* What the server says of the token, in one line without control characters. */
static char *
complaint(const Sending *sending)
{
    char *text = challenge(sending);

    for (char *c = text; *c != '\0'; c++)
        if (g_ascii_iscntrl(*c))
            *c = ' ';
    return text;
}

/* A token that is not taken is answered with a challenge that says why, and the refusal comes
 * after our answer to that: one byte (RFC 7628, 3.2.3), for XOAUTH2 none. */
static gboolean
bearer(Sending *sending, SmtpAuth auth, const char *token)
{
    const char *user = sending->client->server.user;
    gboolean standard = auth == SMTP_AUTH_OAUTHBEARER;
    g_autofree char *prefix = g_strdup_printf("AUTH %s ", smtp_auth_name(auth));
    char *secret = standard
                       ? g_strconcat("n,a=", user, ",\1auth=Bearer ", token, "\1\1", NULL)
                       : g_strconcat("user=", user, "\1auth=Bearer ", token, "\1\1", NULL);
    gboolean good = say(sending, prefix, secret, strlen(secret), 2);

    secret_forget(secret);
    if (good || sending->client->code != 334)
        return good;
    g_autofree char *why = complaint(sending);
    if (sending_ask(sending, standard ? "AQ==\r\n" : "\r\n", 2))
        return sending_end(sending, SMTP_NOT_SENT, 0, "the server contradicts itself");
    g_autofree char *text = g_strdup_printf("%s (%s)", sending->result->text, why);
    return sending_end(sending, SMTP_NOT_SENT, sending->result->code, text);
}

static gboolean
try_secret(Sending *sending, SmtpAuth auth, gboolean fresh)
{
    const SmtpServer *server = &sending->client->server;
    g_autoptr(GError) error = NULL;
    gboolean good = FALSE;

    sending->client->code = 0;
    char *secret = server->secret(server->secret_data, fresh, &error);
    if (secret == NULL)
        return sending_end(sending, SMTP_NOT_SENT, 0, error->message);
    switch (auth) {
    case SMTP_AUTH_SCRAM_SHA_256:
    case SMTP_AUTH_SCRAM_SHA_1:
        good = scram(sending, auth, secret);
        break;
    case SMTP_AUTH_LOGIN:
        good = login(sending, secret);
        break;
    case SMTP_AUTH_OAUTHBEARER:
    case SMTP_AUTH_XOAUTH2:
        good = bearer(sending, auth, secret);
        break;
    case SMTP_AUTH_PLAIN:
        good = plain(sending, secret);
        break;
    case SMTP_AUTH_ANY:
    case SMTP_AUTH_COUNT:
        g_assert_not_reached();
    }
    secret_forget(secret);
    return good;
}

gboolean
session_authenticate(Sending *sending)
{
    SmtpClient *client = sending->client;
    SmtpAuth auth = SMTP_AUTH_ANY;

    sending->result->stage = SMTP_STAGE_AUTH;
    if (!smtp_stream_is_secure(client->stream) &&
        !g_str_has_prefix(client->server.target, "unix:"))
        return sending_end(sending, SMTP_NOT_SENT, 0, "no password without TLS");
    if (!choose(sending, &auth))
        return FALSE;
    if (try_secret(sending, auth, FALSE))
        return TRUE;
    return smtp_auth_is_token(auth) && sending->result->code == DENIED && client->at_rest &&
           try_secret(sending, auth, TRUE);
}
