/* smtp.h - a small SMTP client that always knows how far it got (RFC 5321)
 *
 * No pipelining, no BDAT; the final dot is written alone and last, and only after before_dot
 * said yes. A reply counts when its last line is complete and all its codes agree. One message
 * a call; the connection may be reused. Blocking, with the time-outs of RFC 5321,
 * section 4.5.3.2. */
#pragma once

#include "lib/envelope.h"

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

typedef struct {
    SmtpOutcome outcome;
    SmtpStage stage; /* where it ended */
    guint code;      /* of the reply that ended it; 0 when there was none */
    char *text;      /* that reply, or what went wrong, one line; at RCPT "<a@b>: 550 …" */
} SmtpResult;

void smtp_result_free(SmtpResult *result);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SmtpResult, smtp_result_free)

const char *smtp_stage_name(SmtpStage stage);

typedef enum { SMTP_TLS_NONE, SMTP_TLS_STARTTLS, SMTP_TLS_IMPLICIT } SmtpTls;

typedef struct {
    const char *target;  /* unix:/path or inet:host:port */
    const char *helo;    /* our name */
    SmtpTls tls;         /* certificate and host name are always verified */
    const char *ca_file; /* NULL: the system's */
    const char *user;    /* NULL: no AUTH; else PLAIN, over TLS only */
    const char *password;
    guint timeout_ms; /* 0: RFC 5321; else a cap on every wait */
} SmtpServer;

typedef struct _SmtpClient SmtpClient;

/* Called right before the final dot. FALSE ends the connection without it: not sent. */
typedef gboolean (*SmtpBeforeDot)(gpointer data);

/* Strings of server are borrowed until smtp_free. Connects at the first message. */
SmtpClient *smtp_new(const SmtpServer *server);

/* Sends QUIT when the connection still stands. */
void smtp_free(SmtpClient *client);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SmtpClient, smtp_free)

/* Sends one message: head (header lines with CRLF, may be "") then the bytes of fd from its
 * start, dot-stuffed, to all recipients or to none: one refused recipient ends the transaction
 * before DATA. Refuses CR, LF, NUL, space and > in an address or parameter, and bytes with a
 * bare CR or LF (XA15), before connecting; a parameter whose extension the server does not
 * offer, at MAIL: without it, something else than was approved would leave. before_dot may be
 * NULL. Never returns NULL. */
SmtpResult *smtp_send(SmtpClient *client, const Envelope *envelope, const char *head, int fd,
                      SmtpBeforeDot before_dot, gpointer data);
