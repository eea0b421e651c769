#include "store/queue.h"

#define TO(state) (1u << STATE_##state)

/* Every legal move. A state without one is an end. Expiry and doubt never lead towards
 * sending. What waits becomes uncertain when the database turns out to be an older copy and
 * the journal beside it says that the item was handed on since (XC12). by human: a person sent
 * the message from another program, so that the gate never will. */
static const struct {
    const char *name;
    guint next;
} states[STATE_COUNT] = {
    [STATE_HELD] = {"held", TO(APPROVED) | TO(REJECTED) | TO(WITHDRAWN) | TO(EXPIRED) |
                                TO(SUPERSEDED) | TO(UNCERTAIN) | TO(BY_HUMAN)},
    [STATE_DRAFT] = {"draft", TO(APPROVED) | TO(REJECTED) | TO(WITHDRAWN) | TO(EXPIRED) |
                                  TO(SUPERSEDED) | TO(UNCERTAIN) | TO(BY_HUMAN)},
    /* approved: a person lets it leave now */
    [STATE_DELAYED] = {"delayed", TO(SENDING) | TO(DRAFT) | TO(VETOED) | TO(HELD) |
                                      TO(WITHDRAWN) | TO(SUPERSEDED) | TO(UNCERTAIN) |
                                      TO(APPROVED) | TO(BY_HUMAN)},
    /* held: the approval lapsed */
    [STATE_APPROVED] = {"approved",
                        TO(SENDING) | TO(HELD) | TO(VETOED) | TO(UNCERTAIN) | TO(BY_HUMAN)},
    /* committing: the ticket was redeemed. approved, delayed: not sent, and the authority
     * still stands. held: not sent, and it does not. */
    [STATE_SENDING] = {"sending", TO(COMMITTING) | TO(APPROVED) | TO(DELAYED) | TO(HELD) |
                                      TO(FAILED) | TO(UNCERTAIN)},
    [STATE_COMMITTING] = {"committing", TO(SENT) | TO(FAILED) | TO(UNCERTAIN)},
    /* by a person, or by proof */
    [STATE_UNCERTAIN] = {"uncertain", TO(SENT) | TO(FAILED)},
    [STATE_SENT] = {"sent", 0},
    [STATE_FAILED] = {"failed", 0},
    [STATE_RELEASED] = {"released", 0},
    [STATE_REFUSED] = {"refused", 0},
    [STATE_REJECTED] = {"rejected", 0},
    [STATE_VETOED] = {"vetoed", 0},
    [STATE_WITHDRAWN] = {"withdrawn", 0},
    [STATE_EXPIRED] = {"expired", 0},
    [STATE_SUPERSEDED] = {"superseded", 0},
    [STATE_BY_HUMAN] = {"sent-by-human", 0},
};

const char *
state_name(State state)
{
    return states[state].name;
}

gboolean
state_find(const char *name, State *state_out)
{
    for (State state = 0; state < STATE_COUNT; state++) {
        if (g_strcmp0(states[state].name, name) == 0) {
            *state_out = state;
            return TRUE;
        }
    }
    return FALSE;
}

gboolean
state_may_become(State from, State to)
{
    return (states[from].next & (1u << to)) != 0;
}

gboolean
state_is_waiting(State state)
{
    return states[state].next != 0;
}
