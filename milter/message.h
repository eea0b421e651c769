/* message.h - one message on its way through the milter
 *
 * Begins at MAIL, ends at end of message, abort, RSET or close (XA16). Collects the envelope
 * and the bytes exactly as they would leave: CRLF, folding and 8-bit kept; without Agent-* and
 * X-Exeat-* fields; with a Message-ID and a Date where they were missing (RFC 5322,
 * section 3.6). The first trouble is kept and everything after it is ignored, so that one
 * place answers for it. */
#pragma once

#include "lib/envelope.h"
#include "lib/spool.h"

/* Fields of the drafts that the relay puts into a mailbox, in lower case. */
#define MESSAGE_ITEM "x-exeat-item"
#define MESSAGE_DUE  "x-exeat-due"

/* What a message is to the gate; decided at MAIL FROM. */
typedef enum {
    MESSAGE_OF_AGENT, /* zero value: gated */
    MESSAGE_OF_HUMAN, /* passes; teaches the history; its body is not looked at */
    MESSAGE_INBOUND,  /* passes; teaches the history */
    MESSAGE_INSIDE    /* no login, from inside: in an account's name it needs a ticket */
} MessageKind;

/* What is kept of a message. An agent's that needs more is refused. */
typedef struct {
    gsize memory;      /* bytes kept in memory */
    const char *spool; /* the folder for what is beyond; borrowed for this call */
    guint64 header;    /* bytes */
    guint64 size;      /* bytes of header and body */
    guint recipients;
} MessageLimits;

typedef struct {
    MessageKind kind;
    char *login; /* lower case; NULL without one */
    Envelope *envelope;
    MessageLimits limits;
    Spool *spool;
    GError *trouble;       /* ours: NULL while all is well */
    const char *refusal;   /* the message's fault: why it cannot be taken, NULL when it can */
    guint stripped;        /* fields taken out */
    guint froms;           /* From fields */
    GHashTable *claims;    /* Agent-* fields, char * to char *, first occurrence */
    GHashTable *taken_out; /* field name in lower case to how often it occurred */
    char *ticket;          /* of X-Exeat-Ticket; NULL when there is not exactly one */
    guint tickets;
    GPtrArray *mailboxes; /* of char *, as written: whose mailbox it has been in before or
                             comes from, by the fields of those who deliver, redirect or
                             notify; the newest; of MESSAGE_INSIDE alone */
    char *item;           /* of the first X-Exeat-Item: a draft of ours that somebody sends */
    char *added_id;       /* the Message-ID we add; NULL when it had one */
    char *added_date;     /* likewise */
    GChecksum *came;      /* over the message as it came; NULL unless we add something */
    GString *head;        /* the fields so far, before the end of the header */
    GString *raw_head;    /* the same as they came, claims included */
    gboolean has_id, has_date;
    guint automatic; /* fields Auto-Submitted */
} Message;

Message *message_new(MessageKind kind, const MessageLimits *limits);
void message_free(Message *message);

/* The words of RCPT TO and what the mail server makes of the address, as for
 * envelope_add_recipient. */
void message_add_recipient(Message *message, const char *const *words, const char *resolved);

/* One field as libmilter gives it with SMFIP_HDR_LEADSPC: the value keeps its leading blank,
 * folds are a line feed and a blank. */
void message_add_field(Message *message, const char *name, const char *value);

/* The header is complete, also one without a field; to be told once, before the body. host:
 * the mail server's name, for a Message-ID. */
void message_end_header(Message *message, const char *host, gint64 now);

void message_add_body(Message *message, const void *bytes, gsize length);

/* The hash of the message as it came, hex, when we added something; "" otherwise. Two
 * submissions of the same bytes get the same one although we gave them different ids.
 * Borrowed. */
const char *message_key(Message *message);
