/* postbox.h - a connection to the mailbox in which a person sees what waits
 *
 * One thread's at a time. Errors: those of lib/imap.h. */
#pragma once

#include "lib/draftbox.h"
#include "lib/imap.h"

typedef struct {
    Imap *imap;
    char *drafts; /* the folder for drafts */
    char *sent;   /* the folder of what was sent; NULL: there is none */
    char *place;  /* server, user and folder for drafts, in one word */
    char *owner;  /* "user at host" */
} Postbox;

/* Connects, logs in and finds the folders: those that are named, else those that the server
 * names (RFC 6154), else Drafts and Sent. */
Postbox *postbox_open(const DraftBox *box, GError **error);
void postbox_free(Postbox *postbox);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Postbox, postbox_free)

/* Opens the folder of what was sent. *view_out is zeroed when there is none. */
gboolean postbox_open_sent(Postbox *postbox, ImapView *view_out, GError **error);

/* Whether the folder that is open has the message of an item: made from its draft, which shows
 * by the item's id ("": that does not count); or with its Message-ID, and there not before a
 * time. *uid_out: 0 when it
 * has not. */
gboolean postbox_find(Postbox *postbox, const char *item, const char *message_id, gint64 since,
                      guint32 *uid_out, GError **error);
