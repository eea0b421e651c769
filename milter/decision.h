/* decision.h - what a complete message is answered with
 *
 * Knows accounts and asks the relay; knows nothing of libmilter. */
#pragma once

#include "lib/config.h"
#include "milter/gate.h"
#include "milter/message.h"

typedef struct {
    Gate *gate;
    const Config *config;
    const char *queue_id; /* the mail server's */
} Circumstances;

/* Whether one of the envelope recipients is an address of an account. */
gboolean decision_is_for_account(const Config *config, const Envelope *envelope);

/* The answer, which the caller frees; NULL with error when there was trouble. *gated_out then
 * tells whether the message must not pass without an answer: FALSE for a human's mail and for
 * inbound mail, which pass without being learned from. */
Answer *decision_make(const Circumstances *circumstances, Message *message,
                      gboolean *gated_out, GError **error);
