/* smtp-session.h - the dialogue beneath smtp_send: commands, replies, the way to MAIL
 *
 * For smtp.c alone. Functions that take a Sending return TRUE to go on; FALSE means that they
 * have written into its result how it ended. */
#pragma once

#include "relay/smtp-stream.h"
#include "relay/smtp.h"

struct _SmtpClient {
    SmtpServer server;
    SmtpStream *stream; /* NULL: not connected */
    gboolean at_rest;   /* no command is open: QUIT would be understood */
    guint code;         /* of the last reply; 0: none */
    GPtrArray *lines;   /* of the last reply, without codes */
    char **extensions;  /* as EHLO named them: "SIZE 1000" */
    gint64 used;        /* when the last message was taken; monotonic */
};

/* One message on its way. */
typedef struct {
    SmtpClient *client;
    const Envelope *envelope;
    const char *head;
    int fd;
    guint64 size;
    gboolean eight_bit;
    SmtpHooks hooks;
    gboolean reused;    /* the connection had a life before this message */
    gboolean committed; /* before_dot was asked: no second attempt */
    SmtpResult *result;
} Sending;

/* Ends it. code: of the reply that ended it, 0 when there was none. Always FALSE, for the
 * caller to return. */
gboolean sending_end(Sending *sending, SmtpOutcome outcome, guint code, const char *text);

/* Ends it for want of a complete reply: after the dot nobody knows, before it nothing left.
 * Always FALSE. */
gboolean sending_end_error(Sending *sending, const GError *error);

/* The last reply in one line, "250 2.0.0 queued". The caller frees. */
char *sending_reply_text(const Sending *sending);

/* The server must be silent whenever it is our turn: what it says then belongs to no command
 * of ours, most often a farewell, and would be taken for the answer to the next one. */
gboolean sending_is_our_turn(Sending *sending);

gboolean sending_write(Sending *sending, const void *bytes, gsize length);

/* Waits for the reply; TRUE when it is of the kind wanted, its first digit. */
gboolean sending_hear(Sending *sending, guint wanted);

/* Says a line (with its CR LF) and hears the reply. */
gboolean sending_ask(Sending *sending, const char *line, guint wanted);

/* What stands behind the keyword of an extension, "" when nothing; NULL when it is not
 * offered. */
const char *session_extension(const SmtpClient *client, const char *keyword);

/* Greeting, EHLO, TLS and AUTH, unless a connection from before still stands. */
gboolean session_begin(Sending *sending);

/* QUIT where the server would understand it, and the connection is gone. */
void session_end(SmtpClient *client);
