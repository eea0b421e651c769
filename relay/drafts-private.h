/* drafts-private.h - what the files of relay/draft* share */
#pragma once

#include "relay/drafts.h"
#include "relay/postbox.h"
#include "store/draft.h"

/* The mailbox of an account. */
typedef struct {
    Drafts *drafts;
    char *account;
    gboolean busy; /* a turn is under way; what is below is its alone then */
    Config *config;
    Postbox *postbox;    /* NULL: not connected */
    guint32 sent_next;   /* UIDNEXT of the folder of what was sent, at the last look */
    gint64 look_next;    /* monotonic: when drafts are looked at without a reason */
    gint64 try_next;     /* monotonic: not before, after a failure */
    guint failures;      /* in a row */
    GHashTable *refused; /* items whose draft the server did not take to when, monotonic */
    /* With the lock of drafts: */
    GHashTable *asked;      /* items that are due */
    GHashTable *looked_for; /* those of them that the turn is about */
    char *error;            /* why it cannot be used; NULL: it can */
    gint64 since;
} DraftsBox;

/* What a turn finds of one draft. */
typedef enum {
    FOUND_NOTHING, /* not looked at */
    FOUND_THERE,
    FOUND_GONE,   /* it was there before */
    FOUND_SENT,   /* the message is among what was sent */
    FOUND_REMOVED /* by us */
} Found;

typedef struct {
    Draft *draft;
    gboolean wanted;
    gboolean asked; /* it wants to leave now */
    gboolean fresh; /* added in this turn */
    gboolean known; /* there, as it is on record */
    Found found;
    guint32 sent_uid; /* where, for FOUND_SENT */
} Entry;

/* One turn. */
typedef struct {
    DraftsBox *box;
    Relay *relay;
    const Account *account;
    GPtrArray *entries; /* of Entry * */
    GPtrArray *leaving; /* ids for the sender */
    const char *why;    /* the mailbox cannot be looked at; NULL: it was */
} Turn;

/* The network's part (draft-turn.c): brings the mailbox and the entries together. ERROR_*: the
 * connection is of no use any more unless it stands. */
gboolean turn_look(Turn *turn, GError **error);

/* Whether there is a reason for that. */
gboolean turn_has_work(const Turn *turn);

/* The database's part (draft-record.c), writer jobs with the Turn as data: what there is to
 * do, and what was found. */
gboolean turn_load(gpointer turn, GError **error);
gboolean turn_settle(gpointer turn, GError **error);

/* A draft as it is to be put; where is noted first, so that it is found whatever happens. Runs
 * a writer job. NULL with *error; the caller frees. */
GString *turn_compose(const Turn *turn, const Draft *draft, GError **error);

void entry_free(gpointer entry);
