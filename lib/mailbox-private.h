/* mailbox-private.h - what a kind of mailbox has to bring; for mailbox*.c only
 *
 * mailbox-walk finds the folders below a path; mailbox-mbox and mailbox-files read one. A
 * source that is no path, a server for example, comes in by mailbox_new. */
#pragma once

#include <dirent.h>

#include "lib/mailbox.h"

/* Reads the messages of one folder. See the functions of mailbox.h. */
typedef struct {
    gboolean (*next)(gpointer self, MailboxMessage *message_out, GError **error);
    int (*whole)(gpointer self, GError **error);
    char *(*digest)(gpointer self);
    void (*free)(gpointer self);
} MailboxReader;

typedef struct {
    const MailboxReader *kind;
    gpointer self;
} MailboxReading;

/* Finds the folders. *reading_out: how to read the one stepped to. */
typedef struct {
    gboolean (*next_folder)(gpointer self, MailboxFolder *folder_out,
                            MailboxReading *reading_out, GError **error);
    void (*rewind)(gpointer self);
    void (*free)(gpointer self);
} MailboxSource;

/* Takes self. */
Mailbox *mailbox_new(const MailboxSource *source, gpointer self);

/* The folders at and below path. */
Mailbox *mailbox_walk(const char *path, GError **error);

/* Readers; fd and directories are theirs then, path is copied. */
MailboxReading mailbox_read_mbox(int fd, const char *path);
MailboxReading mailbox_read_file(int fd, const char *path);
MailboxReading mailbox_read_directory(int fd, const char *path);
MailboxReading mailbox_read_maildir(int fd, const char *path);

/* A folder that cannot be read: one message with this problem. */
MailboxReading mailbox_read_nothing(const char *path, const char *problem);

/* TRUE for a folder of MH: it keeps its sequences in a file, or its numbered files are
 * messages. */
gboolean mailbox_is_mh(int fd);

/* TRUE for the names of single messages: .eml, .emlx, numbers in a folder of MH. */
gboolean mailbox_is_message_name(const char *name, gboolean mh);

/* TRUE when bytes begin with "Name:". */
gboolean mailbox_is_field(const char *bytes, gsize length);

/* TRUE when bytes begin with a postmark and a field below it. */
gboolean mailbox_is_mbox(const char *bytes, gsize length);

/* The names in a directory from the first; fd stays the caller's. NULL with errno. */
DIR *mailbox_open_names(int fd);

/* Where the header ends, behind the empty line; 0 when it does not end in these bytes. */
gsize mailbox_head_end(const char *bytes, gsize length);

/* Bytes before the first message of an mbox that are none: a mark of byte order, empty lines.
 */
gsize mailbox_lead(const char *bytes, gsize length);

/* TRUE when bytes begin an mbox of Google Takeout. */
gboolean mailbox_is_takeout(const char *bytes, gsize length);

/* A copy without a name of length bytes of fd from offset, or of what there is of them.
 * ERROR_TEMP. */
int mailbox_copy(int fd, gint64 offset, gint64 length, GError **error);

/* A file without a name, in memory. -1: ERROR_TEMP. */
int mailbox_memory(GError **error);
gboolean mailbox_write(int fd, const char *bytes, gsize length, GError **error);
