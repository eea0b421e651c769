/* request.h - one question of a peer, and what becomes of its answer
 *
 * The peer is known by the kernel's word alone (C5, C8). */
#pragma once

#include "relay/relay.h"

#include "lib/envelope.h"
#include "store/queue.h"

/* Answers to a person that are no trouble of ours. */
#define REQUEST_ERROR (request_error_quark())
GQuark request_error_quark(void);

typedef enum {
    REQUEST_USAGE,
    REQUEST_NOT_FOUND,
    REQUEST_DENIED,
    REQUEST_CONFLICT,
    REQUEST_PASSWORD /* ask again with the approver's password */
} RequestError;

/* What the milter says of a message besides its parts; "" for what is missing. Borrowed from
 * the arguments. */
typedef struct {
    const char *login;
    const char *queue_id;
    const char *key;  /* hash of the message as it came, "" when it went unchanged */
    const char *item; /* of the draft that it was made from */
} Arrival;

typedef struct {
    Relay *relay;
    Config *config;
    uid_t uid;
    gid_t gid;
    GVariant *arguments; /* a{sv} */
    int fd;              /* passed with the request, -1 when none */
    gint64 now;          /* when it was read; of a job: when that began */
    char *who;           /* for records: "user 1001" */
    char **accounts;     /* whose approver the peer is, NULL-terminated */
    char **served;       /* whose agent's user the peer is, likewise */
    gboolean admin;
    gboolean confirmed; /* the request had the peer's password (password.h) */
    Item *item;         /* of submit and redeem: what was read from the arguments */
    Arrival came;       /* of submit, redeem and observe (arrival.h) */
    Item *sent;         /* of submit: kept for the log line */
    GVariant *reply;    /* what the job answers: a{sv}, owned */
    int reply_fd;       /* a file that goes with it, -1 when none; owned */
    gboolean wake;      /* the schedule has something new to look at */
    char *said;         /* a warning for the log, once what it tells is committed */
} Request;

#define REQUEST_LINE_MOST 1000

/* A string argument, borrowed; REQUEST_USAGE when it is missing. */
const char *request_text(const Request *request, const char *name, GError **error);

/* The same for what goes into records: one line of 1 to REQUEST_LINE_MOST bytes without
 * control characters. */
const char *request_line(const Request *request, const char *name, GError **error);

/* What a failed request is answered: {code s, message s}, floating. */
GVariant *request_error_view(const GError *error);

/* Lets go of all that it owns, and of its references. */
void request_clear(Request *request);
