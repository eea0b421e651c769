/* mailbox.h - the messages of a mailbox, one after the other
 *
 * A path is one mbox file (mboxo, mboxrd, mboxcl, mboxcl2; Google Takeout), one message (.eml,
 * .emlx of Apple Mail), a Maildir or Maildir++ tree, a folder of MH with its .mh_sequences, or
 * a directory with any of these below it. Nothing is written, no symbolic link below the path
 * is followed, and no more than one header is in memory, and the file names of one folder.
 * What cannot be read is a message with a problem, never an end: mailboxes have broken
 * messages in them. */
#pragma once

#include <glib.h>

#include "lib/folder.h"

#define MAILBOX_HEAD_MAX  (256 * 1024)       /* bytes of a header; mail-scan reads no more */
#define MAILBOX_WHOLE_MAX (32 * 1024 * 1024) /* bytes of a message copied for its text */

typedef struct _Mailbox Mailbox;

/* One mbox file, one folder of a Maildir, or the single messages of a directory. */
typedef struct {
    const char *path;  /* as given, with what lies below it; may be no UTF-8 */
    FolderRole role;   /* by its name, or the nearest name above it that tells */
    gboolean labelled; /* of Google Takeout: sent and received, as their labels tell */
} MailboxFolder;

/* Borrowed, until the next step. */
typedef struct {
    const char *where;   /* for people: the path, and the byte in an mbox */
    const char *problem; /* why there is no head; NULL when there is one */
    const char *head;    /* up to the empty line; bytes as they came */
    gsize head_length;
    gint64 arrived;    /* when it came into the mailbox, by the mailbox; 0: unknown */
    gboolean draft;    /* by its flags */
    gboolean deleted;  /* by its flags */
    gboolean labelled; /* Google wrote the X-Gmail-Labels that the head begins with */
} MailboxMessage;

/* ERROR_TEMP when there is no such path, or it is nothing that a mailbox could be. */
Mailbox *mailbox_open(const char *path, GError **error);
void mailbox_free(Mailbox *mailbox);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Mailbox, mailbox_free)

/* Steps to the next folder. FALSE: there is none, or the source as a whole has failed, which a
 * path never does. */
gboolean mailbox_next_folder(Mailbox *mailbox, MailboxFolder *folder_out, GError **error);

/* Before the first folder again. */
void mailbox_rewind(Mailbox *mailbox);

/* Steps to the next message of the folder. FALSE: likewise. */
gboolean mailbox_next(Mailbox *mailbox, MailboxMessage *message_out, GError **error);

/* A descriptor of the message stepped to, whole up to MAILBOX_WHOLE_MAX, for mail_extract; the
 * caller closes it. Once for each message. -1: ERROR_TEMP. */
int mailbox_whole(Mailbox *mailbox, GError **error);

/* SHA-256 of the folder that was read to its end: of an mbox file its bytes; of a folder of
 * files their sorted names, without the flags of a Maildir, each with a line feed. The caller
 * frees. */
char *mailbox_digest(Mailbox *mailbox);
