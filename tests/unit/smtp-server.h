/* smtp-server.h - a mail server that misbehaves on purpose
 *
 * A thread that serves one connection after another from a script, and keeps what it was told.
 * A part of the script is sent as it stands; its last byte may be an ACT. */
#pragma once

#include "relay/smtp.h"

#define ACT_CLOSE "\1" /* then the connection ends in an orderly way */
#define ACT_RESET "\2" /* then it ends with a TCP reset */
#define ACT_HANG  "\3" /* then silence until the client leaves */

/* NULL: what an ordinary server says. */
typedef struct {
    const char *greeting, *ehlo, *helo, *starttls, *mail;
    const char *greeting_again; /* to the connections after the first */
    const char *mail_again;     /* to a connection's second message */
    const char *dot_again;      /* the same */
    const char *auth;
    const char *const *auth_then; /* to the lines after AUTH while it goes on with 334 */
    const char *rcpt;             /* to the first recipient */
    const char *rcpt2;            /* to the others */
    const char *data;
    const char *body; /* said after the first byte of the message */
    const char *dot;
} Script;

typedef struct _Server Server;

/* On a free port of 127.0.0.1, or on a unix socket when path is not NULL. certificate: a file
 * with key and certificate, NULL for no TLS; implicit: TLS from the first byte. */
Server *server_start(const Script *script, const char *path, const char *certificate,
                     gboolean implicit);

/* Where it listens, as SmtpServer wants it, with a host name of the caller's. Caller frees. */
char *server_target(const Server *server, const char *host);

/* Waits until the ACT or the body's reply of the script has happened, each once. */
void server_wait_acted(Server *server);

/* Ends it; from then on what it kept may be looked at. */
void server_stop(Server *server);
void server_free(Server *server);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Server, server_free)

guint server_connections(const Server *server);
guint server_messages(const Server *server);       /* that ended with a dot */
const char *server_commands(const Server *server); /* one a line, "TLS" where it began */
const GString *server_bytes(const Server *server); /* after DATA, as on the wire */

/* Writes a new key and a certificate for one host, "DNS:localhost" or "IP:127.0.0.1", that
 * vouches for itself. */
void certificate_write(const char *path, const char *host);

/* The other side of it. */
#define SENDER     "<s@example.com>"
#define RECIPIENTS "<a@example.org>|<b@example.net>"
#define HEAD       "X-Head: 1\r\n" /* goes before every text */
#define TEXT       "Subject: x\r\n\r\nHello\r\n"

/* Sends HEAD and a text. sender and recipients: words parted by spaces, recipients by "|". */
SmtpResult *send_text(SmtpClient *client, const char *sender, const char *recipients,
                      const char *text);
SmtpResult *send_text_if(SmtpClient *client, const char *sender, const char *recipients,
                         const char *text, const SmtpHooks *hooks);

/* For SmtpServer: "pass", however often it is asked. */
char *give_password(gpointer data, gboolean fresh, GError **error);

void assert_result(const SmtpResult *result, SmtpOutcome outcome, SmtpStage stage, guint code);
