/* smtp.h - a small SMTP client that always knows how far it got (RFC 5321)
 *
 * No pipelining, no BDAT; the final dot is written alone and last, and only after before_dot
 * said yes. A reply counts when its last line is complete and all its codes agree. One message
 * a call; the connection may be reused. Blocking, with the time-outs of RFC 5321,
 * section 4.5.3.2. */
#pragma once

#include "lib/envelope.h"
#include "lib/nexthop.h"

typedef enum {
    SMTP_STAGE_CONNECT,
    SMTP_STAGE_GREETING,
    SMTP_STAGE_HELLO,
    SMTP_STAGE_TLS,
    SMTP_STAGE_AUTH,
    SMTP_STAGE_MAIL,
    SMTP_STAGE_RCPT,
    SMTP_STAGE_DATA,
    SMTP_STAGE_BODY,
    SMTP_STAGE_DOT
} SmtpStage;

typedef enum {
    SMTP_UNCERTAIN = 0, /* the dot was written and no complete reply came: never retry */
    SMTP_NOT_SENT,      /* trouble before the dot, or a 4xx: safe to retry */
    SMTP_REFUSED, /* a 5xx from MAIL on, or nothing SMTP can carry there: will not pass */
    SMTP_ACCEPTED
} SmtpOutcome;

/* What the server said to one recipient. */
typedef struct {
    guint code; /* 0: it was not asked, or did not answer */
    char *text; /* in one line, with the code, cut after 300 bytes; "" for none */
} SmtpReply;

typedef struct {
    SmtpOutcome outcome;
    SmtpStage stage; /* where it ended */
    guint code;      /* of the reply that ended it; 0 when there was none */
    char *text;      /* that reply, or what went wrong, one line; at RCPT "<a@b>: 550 …" */
    GPtrArray *replies; /* of SmtpReply *, in the order of the envelope's recipients */
} SmtpResult;

void smtp_result_free(SmtpResult *result);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SmtpResult, smtp_result_free)

const char *smtp_stage_name(SmtpStage stage);

/* The password or token, which the caller clears and frees; NULL with error. fresh: the server
 * did not take the last one. */
typedef char *(*SmtpSecret)(gpointer data, gboolean fresh, GError **error);

typedef struct {
    const char *target;  /* unix:/path or inet:host:port */
    const char *helo;    /* our name */
    SmtpTls tls;         /* certificate and host name are always verified */
    const char *ca_file; /* NULL: the system's */
    const char *certificate_file, *key_file; /* of ours; NULL: none */
    const char *user;                        /* NULL: no AUTH */
    SmtpAuth auth;
    gboolean token; /* the secret is a token, not a password */
    SmtpSecret secret;
    gpointer secret_data;
    guint timeout_ms; /* 0: RFC 5321; else a cap on every wait */
} SmtpServer;

typedef struct _SmtpClient SmtpClient;

/* Questions to the caller on the way; each may be NULL. */
typedef struct {
    /* The server takes some recipients, and the others never: accepted has those it takes.
     * FALSE, or NULL: nobody gets it. */
    gboolean (*some)(const Envelope *accepted, gpointer data);
    /* Right before the final dot. FALSE ends the connection without it: not sent. */
    gboolean (*before_dot)(gpointer data);
    gpointer data;
} SmtpHooks;

/* Strings of server are borrowed until smtp_free. Connects at the first message. */
SmtpClient *smtp_new(const SmtpServer *server);

/* Sends QUIT when the connection still stands. */
void smtp_free(SmtpClient *client);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SmtpClient, smtp_free)

/* Sends one message: head (header lines with CRLF, may be "") then the bytes of fd from its
 * start, dot-stuffed. Every recipient is given to the server, so that it is known of each what
 * becomes of it. One that is put off (4xx) puts off the message; of others that are refused
 * hooks.some may say that the rest gets it. Refuses CR, LF, NUL, space and > in an address or
 * parameter, and bytes with a bare CR or LF (XA15), before connecting; a parameter whose
 * extension the server does not offer, at MAIL: without it, something else than was approved
 * would leave. A connection from an earlier message that turns out to be dead, or on which the
 * server puts off before the dot, is replaced once, at once: it says nothing of this message.
 * hooks may be NULL. Never returns NULL. */
SmtpResult *smtp_send(SmtpClient *client, const Envelope *envelope, const char *head, int fd,
                      const SmtpHooks *hooks);

/* The process is about to end: what waits for a server before the final dot is not sent, now.
 * What has gone beyond it waits as long as ever. Any thread. */
void smtp_hurry(void);

/* When the connection was last used, of g_get_monotonic_time; 0 when none stands. */
gint64 smtp_last_used(const SmtpClient *client);
