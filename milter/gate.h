/* gate.h - the milter's side of the conversation with the relay
 *
 * Keeps idle connections for reuse; any thread may call. One request, one answer, within a
 * deadline well below the mail server's own. Errors: ERROR_TEMP when the relay cannot be asked
 * or says it is in trouble; ERROR_PROTOCOL for an answer that makes no sense. Both end in a
 * 451. */
#pragma once

#include "lib/envelope.h"
#include "lib/extract.h"

typedef struct _Gate Gate;

/* Lives as long as the process. */
Gate *gate_new(const char *relay_socket);

/* What to do with a message. Zeroed memory keeps it from leaving. */
typedef enum {
    ANSWER_TRY_LATER, /* 451 with text, also for what the relay has and is not decided */
    ANSWER_PASS,      /* let it go on */
    ANSWER_KEEP,      /* the relay has it: tell the mail server to discard */
    ANSWER_REFUSE     /* 550 with text */
} AnswerAction;

/* Of a refusal that says no other: delivery not authorized. */
#define ANSWER_STATUS "5.7.1"

typedef struct {
    AnswerAction action;
    char *item;         /* id, "" when none */
    char *status;       /* of a refusal (RFC 3463) */
    char *text;         /* for the reply of 451 or 550, one line */
    gboolean automatic; /* it passes by a rule, and the message is to say so */
} Answer;

void answer_free(Answer *answer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Answer, answer_free)

typedef struct {
    const char *login;
    const char *queue_id; /* the mail server's */
    const char *key;      /* hash of the message as it came, "" when it went unchanged */
    const Envelope *envelope;
    const Extract *extract;
    GHashTable *claims; /* Agent-* fields: char * to char * */
    int fd;             /* the bytes as they would leave */
} Submission;

/* An agent's message. The caller frees the answer. */
Answer *gate_submit(Gate *gate, const Submission *submission, GError **error);

/* A message at the door: may these bytes pass for this ticket? */
Answer *gate_redeem(Gate *gate, const char *ticket, const char *queue_id,
                    const Envelope *envelope, int fd, GError **error);

/* What a human sent (login set), or what came in for an account (login NULL). item: of
 * the draft that it was made from, or NULL. */
gboolean gate_observe(Gate *gate, const char *login, const char *item,
                      const Envelope *envelope, const Extract *extract, GError **error);
