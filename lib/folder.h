/* folder.h - what a mail folder is for, by its name
 *
 * Mail programs name the folder of sent mail in the language of their user; so does Google
 * label it. Names are compared whole, without regard to case, width and the extension of a
 * mailbox file. */
#pragma once

#include <glib.h>

typedef enum {
    FOLDER_OTHER,
    FOLDER_SENT,
    FOLDER_DRAFTS /* also what waits to be sent: nobody has got it */
} FolderRole;

/* The role of a name: "Sent Items", "Entwürfe.mbox", "INBOX.Envoy&AOk-s" (modified UTF-7 of
 * RFC 3501, 5.1.3). The last of its parts, divided by / or ., that tells. */
FolderRole folder_role(const char *name);

/* The labels of X-Gmail-Labels, decoded and divided by commas outside quotes, which are left
 * out. The caller frees. */
char **folder_split_labels(const char *labels);

/* The role that X-Gmail-Labels, decoded, tell. Drafts go first: a draft was not sent, whatever
 * else it is called. sent: the labels of sent mail; NULL: those that are known. */
FolderRole folder_role_of_labels(const char *labels, char *const *sent);
