/* history.h - what an account's human has sent before
 *
 * Correspondents, conversations and who takes part in them, ids seen, addresses named in
 * received texts, lists. Conversations are tied by ids alone: a message that names ids of
 * exactly one conversation joins it; of none, it starts one; of several, it belongs to none of
 * them and starts its own (case T7). A received message never takes over an id that a message
 * of the human holds, and never makes anyone a participant (XB3, XB4). Addresses are normal
 * forms (address.h). Everything is per account (XB30). Writer's thread only. Errors:
 * ERROR_TEMP. */
#pragma once

#include "store/db.h"

typedef enum {
    OBSERVED_RECEIVED, /* inbound: teaches ids, lists, addresses in its text */
    OBSERVED_AGENT,    /* left through the gate: teaches its id */
    OBSERVED_HUMAN     /* sent with a human login: makes recipients known and participants */
} ObservedKind;

typedef struct {
    ObservedKind kind;
    const char *account;
    const char *message_id;            /* "<a@b>"; NULL or "" when none */
    const char *const *parents;        /* ids it names; NULL-terminated */
    const char *const *recipients;     /* of its envelope */
    const char *const *correspondents; /* its own From, To, Cc: not counted as mentioned */
    const char *const *mentioned;      /* addresses in its text; received only */
    const char *const *lists;          /* from List-Post or List-Id; received only */
} Observation;

gboolean history_observe(Db *db, const Observation *observation, gint64 now, GError **error);

/* What the history says of one address. Zeroed memory knows nobody. */
typedef struct {
    gboolean known;     /* the human wrote to it */
    gboolean mentioned; /* in a received text since the human last wrote to it (D19) */
    gboolean list;
    gint64 first; /* the human first wrote to it; 0 when never */
    gint64 last;
    gint64 times;
} HistoryAddress;

gboolean history_look_up(Db *db, const char *account, const char *address,
                         HistoryAddress *found_out, GError **error);

/* The one conversation in which the human wrote and to which the ids lead; 0 when there is
 * none or they lead to different conversations. Ids never seen are ignored. */
gboolean history_conversation(Db *db, const char *account, const char *const *parents,
                              gint64 *conversation_out, GError **error);

/* Whether the human wrote to the address in that conversation. */
gboolean history_takes_part(Db *db, const char *account, gint64 conversation,
                            const char *address, gboolean *takes_part_out, GError **error);
