/* draft.h - where in somebody's mailbox the draft of an item is
 *
 * A draft is a copy for a person to see; nothing that happens to it changes what is sent, but
 * that it has gone means that the item is not wanted. Writer's thread only. Errors:
 * ERROR_TEMP.
 */
#pragma once

#include "store/queue.h"

typedef struct {
    char *item;
    State state; /* of the item, as are the next three */
    char *message_id;
    gint64 created;
    gint64 due;
    char *place;      /* "user at host:port/folder", port 0 being the usual one;
                       * "": nobody has tried to put it anywhere */
    guint32 validity; /* UIDVALIDITY of the folder then */
    guint32 uid;      /* 0: not known */
    gint64 put;       /* since when it is known to be there; 0: it never was */
} Draft;

void draft_free(Draft *draft);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Draft, draft_free)

/* The place for people: "nora at localhost/Drafts". The caller frees. */
char *draft_describe_place(const Draft *draft);

/* Whether an item in that state should have one. */
gboolean draft_is_wanted(State state);

/* The items of an account that wait, and those whose draft is still there: array of Draft *.
 */
GPtrArray *draft_list(Db *db, const char *account, GError **error);

/* The draft of an item; *draft_out NULL when it has none. */
gboolean draft_find(Db *db, const char *item, Draft **draft_out, GError **error);

/* Keeps place, validity, uid and put. */
gboolean draft_keep(Db *db, const Draft *draft, GError **error);

gboolean draft_drop(Db *db, const char *item, GError **error);
