/* history.h - what an account's human has sent before
 *
 * Correspondents, conversations and who takes part in them, ids seen, addresses named in
 * received texts, lists. Conversations are tied by ids alone: a message that names ids of
 * exactly one conversation joins it; of none, it starts one; of several, it belongs to none of
 * them and starts its own (case T7). Mailboxes come in any order, so ids that the human names
 * are held for their messages: what he answered is his conversation even when it is seen
 * later. A received message never takes over an id that a message
 * of the human holds, and never makes anyone a participant (XB3, XB4). Addresses are normal
 * forms (address.h). Everything is per account (XB30). What helps a message counts only with a
 * seal (warrant.h). Writer's thread only. Errors:
 * ERROR_TEMP.
 *
 * history.c learns and answers the judge, history-like.c finds look-alikes, history-tell.c
 * tells people why, history-prune.c lets go of what is old or too much. */
#pragma once

#include "store/warrant.h"

/* A stranger decides how many ids a message names, and how long they are. */
#define HISTORY_PARENTS_MAX  100
#define HISTORY_ID_BYTES_MAX 998 /* a line of RFC 5322, section 2.1.1 */

typedef enum {
    OBSERVED_RECEIVED, /* inbound: teaches ids, lists, addresses in its text */
    OBSERVED_AGENT,    /* a program wrote it in his name: teaches its id */
    OBSERVED_HUMAN     /* sent with a human login: makes recipients known and participants */
} ObservedKind;

/* What was new to the history, counted up. */
typedef struct {
    guint64 correspondents;
    guint64 conversations; /* in which the human wrote */
} HistoryTally;

/* For who observes many messages in one transaction. */
typedef struct {
    NumberStock conversations, events;
} HistoryNumbers;

typedef struct {
    ObservedKind kind;
    const char *account;
    const char *message_id;            /* "<a@b>"; NULL or "" when none */
    const char *const *parents;        /* ids it names; NULL-terminated */
    const char *const *recipients;     /* of its envelope */
    const char *sender;                /* whose text it is, as it says; received only */
    const char *const *correspondents; /* its own From, To, Cc: not counted as mentioned */
    const char *const *mentioned;      /* addresses in its text; received only */
    const char *const *lists;          /* from List-Post or List-Id; received only */
    gboolean automatic;                /* a machine wrote it (RFC 3834) */
    HistoryTally *tally;               /* NULL: nobody counts */
    HistoryNumbers *numbers;           /* NULL: there is no more to come */
    Warrant *warrant; /* of the human's, for warrant_record; NULL: it is recorded at once */
    const char *who;  /* for that record; NULL: the relay */
} Observation;

/* now: when it came or went; older mail may be observed later. */
gboolean history_observe(Db *db, const Observation *observation, gint64 now, GError **error);

/* What the history says of one address. Zeroed memory knows nobody. */
typedef struct {
    gboolean known;     /* the human wrote to it, or an admin vouched for it */
    gboolean forged;    /* a row says so that the relay did not write (XE13): not known */
    gboolean mentioned; /* in a received text since then (D19) */
    gboolean list;
    gboolean takes_part; /* the human wrote to it in the conversation asked about */
    gint64 written;      /* when last; 0 when he did not */
    gint64 first;        /* the human first wrote to it; 0 when never */
    gint64 last;
    gint64 times;
    gint64 vouched; /* 0 when nobody did */
} HistoryAddress;

/* conversation: 0 for none. */
gboolean history_look_up(Db *db, const char *account, const char *address, gint64 conversation,
                         HistoryAddress *found_out, GError **error);

/* The one conversation to which the ids lead, whoever wrote in it; 0 when there is none or
 * they lead to different conversations. Ids never seen are ignored. *mine_out: whether the
 * human wrote in it. *automatic_out, which may be NULL: whether a machine wrote the message of
 * any of the ids. */
gboolean history_conversation(Db *db, const char *account, const char *const *parents,
                              gint64 *conversation_out, gboolean *mine_out,
                              gboolean *automatic_out, GError **error);

/* The conversation that an id leads to, whoever wrote in it, 0 when the id was never seen; and
 * whether a machine wrote its message. */
gboolean history_trace(Db *db, const char *account, const char *id, gint64 *conversation_out,
                       gboolean *automatic_out, GError **error);

/* Whether the human has sent a message with that id since a time. */
gboolean history_is_of_human(Db *db, const char *account, const char *id, gint64 since,
                             gboolean *is_out, GError **error);

/* Makes an address known without a message; texts that named it before no longer count. who:
 * for the record. */
gboolean history_vouch(Db *db, const char *account, const char *address, const char *who,
                       gint64 now, GError **error);

/* Forgets that the human wrote to the address, that somebody vouched for it and that texts
 * named it: it is a stranger again. Conversations, and the mark of a list, stay. *known_out:
 * whether there was anything to forget. */
gboolean history_forget(Db *db, const char *account, const char *address, const char *who,
                        gint64 now, gboolean *known_out, GError **error);

/* The correspondent that the address could be taken for, or else the domain of one: another
 * address with the same skeleton; or a domain that looks like that of a correspondent, unless
 * the human writes to somebody in the address's own domain (lookalike.h). *like_out: an
 * address, a domain, or NULL; the caller frees. A number of index look-ups that does not
 * depend on how many correspondents there are. domains: what was found for the domains of
 * other recipients of the same message, domain to domain or NULL, both the table's; more is
 * added. */
gboolean history_find_like(Db *db, const char *account, const char *address,
                           GHashTable *domains, char **like_out, GError **error);

/* A received text that named an address. */
typedef struct {
    char *message; /* id, "" when it had none */
    char *sender;
    gint64 when; /* 0: none did */
} HistorySighting;

/* A conversation in which the human wrote to an address. */
typedef struct {
    gint64 conversation;
    char *message; /* id of the last message to it there, "" when it had none */
    gint64 when;
} HistoryLetter;

#define HISTORY_LETTERS 5

/* Why an address is known or not, for people. */
typedef struct {
    HistoryAddress address;
    char *voucher; /* "" when there is none */
    HistorySighting first, last;
    GPtrArray *letters; /* of HistoryLetter *, newest first, at most HISTORY_LETTERS */
} HistoryStory;

gboolean history_tell(Db *db, const char *account, const char *address,
                      HistoryStory **story_out, GError **error);
void history_story_free(HistoryStory *story);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(HistoryStory, history_story_free)

/* Lets go of what strangers made us store for an account, in a step of some milliseconds, or
 * of a third of a second when a million addresses are above limit:
 * addresses named in texts before the time expired; ids of messages received before then in
 * whose conversation the human did not write; and, of each kind, what is above limit. The
 * oldest go first, but of addresses those that the sender of most of them named: a flood
 * drowns itself (XE18). Lists never expire. *more_out: there is more to do. */
gboolean history_prune(Db *db, const char *account, gint64 expired, guint limit,
                       gboolean *more_out, GError **error);
