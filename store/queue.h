/* queue.h - items: one for every submission, whatever became of it
 *
 * An item is in exactly one state; queue_move is the only function that changes it, by compare
 * and swap along the table of legal moves, with its audit entry in the same transaction (A14).
 * Bytes are kept in pieces beside the item, only for what waits. Writer's thread only. Errors:
 * ERROR_TEMP; ERROR_INTEGRITY when stored bytes are not those recorded. */
#pragma once

#include "lib/envelope.h"
#include "lib/extract.h"
#include "policy/verdict.h"
#include "store/db.h"

typedef enum {
    STATE_HELD = 0, /* zeroed memory waits for a person */
    STATE_DRAFT,
    STATE_DELAYED,
    STATE_APPROVED,
    STATE_SENDING,
    STATE_COMMITTING,
    STATE_UNCERTAIN,
    STATE_SENT,
    STATE_FAILED,
    STATE_RELEASED,
    STATE_REFUSED,
    STATE_REJECTED,
    STATE_VETOED,
    STATE_WITHDRAWN,
    STATE_EXPIRED,
    STATE_SUPERSEDED,
    STATE_BY_HUMAN, /* a person sent it from a mail program: the gate never will */
    STATE_COUNT
} State;

const char *state_name(State state);
gboolean state_find(const char *name, State *state_out);

/* Whether the table allows the move. */
gboolean state_may_become(State from, State to);

/* Whether a later decision or timer may still act on it. */
gboolean state_is_waiting(State state);

typedef struct {
    char *normal; /* address.h */
    gboolean external;
    gboolean known;
    gboolean mentioned;
    gboolean outside; /* takes no part in the conversation */
} ItemRecipient;

typedef struct {
    char *id; /* 12 letters and digits: item_new_id */
    char *account;
    char *login;
    char *author;        /* the person who wrote it, "" for the agent */
    char *key;           /* tells a repeated submission (XF22) */
    char *digest;        /* the action digest */
    char *message_id;    /* "" when none */
    gint64 conversation; /* 0 when none */
    State state;
    Tier tier;
    guint approvals; /* different people who must approve it; at least 1 */
    guint line;
    char *file;         /* of the policy, in which that line stands; "" for no line */
    char *reason;       /* the verdict's */
    char *lines;        /* of the policy, and whether each applied: for the audit alone */
    char *policy;       /* version */
    char *why;          /* of the last move */
    char *answer;       /* the next hop's last reply, "" when none */
    gboolean automatic; /* left or will leave without a person */
    gint64 created;
    gint64 due;     /* delayed: when; 0 else */
    gint64 expires; /* of a draft or held item, 0 never; other states keep it */
    gint64 retry;   /* not before, after a failed attempt */
    guint attempts;
    guint64 size;
    Facts facts;
    Envelope *envelope;
    Extract *extract;
    GHashTable *claims;    /* char * to char *: the Agent-* fields, unverified */
    GPtrArray *recipients; /* of ItemRecipient *, distinct */
    GVariant *replies;     /* what queue_set_replies was given last; NULL for none */
} Item;

Item *item_new(void);
void item_free(Item *item);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Item, item_free)

/* What decided: a line of a policy file, copied; 0 and NULL for none. */
void item_set_line(Item *item, guint line, const char *file);

/* The recipient with that normal form, the item's own; NULL when there is none. */
ItemRecipient *item_find_recipient(const Item *item, const char *normal);

/* A new item id: 5 characters of the time, 7 random ones. Items of one time stand together in
 * the database, where each would else be written at a place of its own. An id says which item
 * is meant; who may do what never rests on not knowing it. The caller frees. */
char *item_new_id(gint64 now);

/* Stores a new item with its recipients, and the bytes read from fd, from its start, in pieces
 * when fd is not -1; writes the audit entry "submitted" with verdict, facts and digest. */
gboolean queue_add(Db *db, const Item *item, int fd, gint64 now, GError **error);

/* Loads an item; *item_out NULL when there is none (an answer, not an error). */
gboolean queue_load(Db *db, const char *id, Item **item_out, GError **error);

/* The same for who has others to look at as well: *item_out NULL, too, when the record is
 * damaged. */
gboolean queue_load_sound(Db *db, const char *id, Item **item_out, GError **error);

/* Waiting item with that submission key, or waiting item of the account with that Message-ID;
 * *id_out NULL when none. */
gboolean queue_find_key(Db *db, const char *account, const char *key, char **id_out,
                        GError **error);
gboolean queue_find_message(Db *db, const char *account, const char *message_id, char **id_out,
                            GError **error);

/* The newest item of the account with that Message-ID, whatever became of it; *id_out NULL
 * when none. */
gboolean queue_find_latest(Db *db, const char *account, const char *message_id, char **id_out,
                           GError **error);

/* Items of a conversation, those that wait first, then the newest. Ids, at most limit. */
GPtrArray *queue_conversation(Db *db, const char *account, gint64 conversation, guint limit,
                              GError **error);

/* Forgets what a finished item's message said; everything else stays. */
gboolean queue_drop_texts(Db *db, const char *id, GError **error);

typedef enum {
    MOVE_REFUSED, /* the item is not in that state any more, or is not there */
    MOVE_DONE
} Move;

/* from to to, with who and why, if the item still is in from. An illegal move is our bug:
 * asserted. due, expires and retry stay; approved makes the item no longer automatic. */
gboolean queue_move(Db *db, const char *id, State from, State to, const char *who,
                    const char *why, gint64 now, Move *move_out, GError **error);

/* Records an attempt to send: the next hop's reply, and when to try again (0: not). */
gboolean queue_record_attempt(Db *db, const char *id, const char *answer, gint64 retry,
                              GError **error);

/* What the next hop said in the last attempt to the envelope's recipients, in their order, as
 * far as it was asked: "a(us)", code and text of each reply, code 0 when there was none. Takes
 * a floating value. */
gboolean queue_set_replies(Db *db, const char *id, GVariant *replies, GError **error);

/* That reply to the recipient at that place of the envelope; 0 and "" when there is none.
 * *text_out is borrowed from the item. */
guint item_reply(const Item *item, guint place, const char **text_out);

/* Item ids, in order of creation; the newest when there are more than limit. accounts: NULL
 * for all, else NULL-terminated. Caller frees the array (element free function set). */
GPtrArray *queue_list(Db *db, const char *const *accounts, guint limit, GError **error);

/* Ids of the items that people should look at, the most urgent first: held; what leaves, by
 * its due time; drafts; uncertain; failed at or after a time. In order of creation otherwise.
 */
GPtrArray *queue_agenda(Db *db, const char *const *accounts, gint64 failed_since, guint limit,
                        GError **error);

/* The items of an account created since a time, in order of creation, at most limit: ids.
 * after: the last of those before, "" to begin. */
GPtrArray *queue_since(Db *db, const char *account, gint64 since, const char *after,
                       guint limit, GError **error);

typedef gboolean (*QueueChoice)(const char *id, const char *account, gpointer data);

/* Items a timer must act on: delayed and due, draft or held and expired, approved; delayed and
 * approved not before their retry. Ids, longest due first, at most limit of those that are
 * wanted (NULL: all). */
GPtrArray *queue_due(Db *db, gint64 now, guint limit, QueueChoice wanted, gpointer data,
                     GError **error);

/* All items with that Message-ID, the newest first. Ids, at most limit. */
GPtrArray *queue_with_message(Db *db, const char *account, const char *message_id, guint limit,
                              GError **error);

/* Delayed items of an account, in a conversation or to a recipient (a normal form): ids. As
 * many as may wait, at most (waiting-limit). */
GPtrArray *queue_delayed_in(Db *db, const char *account, gint64 conversation, GError **error);
GPtrArray *queue_delayed_to(Db *db, const char *account, const char *recipient,
                            GError **error);

/* Delayed items that no halt keeps, in order of creation: ids, at most limit. after: the last
 * of those before, "" to begin. */
GPtrArray *queue_delayed_after(Db *db, const char *after, guint limit, GError **error);

/* Takes an item off the timers for good: its record is damaged. */
gboolean queue_put_aside(Db *db, const char *id, GError **error);

/* When the next of them becomes due; G_MAXINT64 when none. */
gboolean queue_next_due(Db *db, gint64 *when_out, GError **error);

/* Items left in a state that waits, for start-up recovery: ids. */
GPtrArray *queue_in_state(Db *db, State state, GError **error);

/* How many items of an account are in each state; counts_out has STATE_COUNT entries. */
gboolean queue_count(Db *db, const char *account, guint *counts_out, GError **error);

/* The item is of that conversation, if it was of none yet. */
gboolean queue_join(Db *db, const char *id, gint64 conversation, GError **error);

/* Automatic items that left or will leave. since: created at or after. Of one conversation
 * (else 0), to one recipient (else NULL), or neither; not both. except: an item id not to
 * count, or NULL. */
gboolean queue_count_automatic(Db *db, const char *account, gint64 since, gint64 conversation,
                               const char *recipient, const char *except, guint *count_out,
                               GError **error);

/* Distinct recipients of those since a time, and of the item, which may be one of them. */
gboolean queue_count_reached(Db *db, const Item *item, gint64 since, guint *count_out,
                             GError **error);

/* Whether an earlier item of the conversation still waits. */
gboolean queue_has_pending(Db *db, const char *account, gint64 conversation,
                           const char *except, gboolean *pending_out, GError **error);

/* Writes the kept bytes to fd. ERROR_INTEGRITY when they are not all there. */
gboolean queue_copy_bytes(Db *db, const char *id, int fd, GError **error);

/* The item's moves, oldest first: floating "aa{sv}" with when (x), from, to, who, why (s). */
GVariant *queue_moves(Db *db, const char *id, GError **error);
