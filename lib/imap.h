/* imap.h - the mail folders of a server (RFC 3501, folder roles by RFC 6154)
 *
 * The only home of libcurl, which makes the connection: TLS with certificate and host name
 * verified, STARTTLS, the login. The commands behind the login are ours, over curl_easy_send
 * and curl_easy_recv, because those of libcurl 7.88 do not read mail exactly (tried with
 * Dovecot 2.3.19): an address with ;UID=n opens the folder for writing and marks the message
 * as seen; a FETCH of our own comes back as lines, long ones cut, and a line in the message
 * that looks like the end of the answer is taken for it.
 *
 * Folders are opened with EXAMINE and read with BODY.PEEK, so nothing changes on the server
 * but by imap_create, imap_append and imap_remove. The server may say anything: answers,
 * folders and waits have limits. A handle belongs to one thread; after an error only imap_free
 * may follow, unless imap_stands. Texts of errors are as the server wrote
 * them: escape before showing. Errors: ERROR_TEMP no connection, lost, too slow or refused;
 * ERROR_CONFIG the login, the certificate, the address; ERROR_PROTOCOL an answer that is none.
 */
#pragma once

#include <glib.h>

typedef struct {
    gboolean starttls; /* imap://, where STARTTLS is demanded; else imaps://, TLS at once */
    char *user;
    char *host;
    guint port;   /* 0: the usual one */
    char *folder; /* UTF-8; NULL when none is named */
} ImapUrl;

/* imaps://user@host[:port][/Folder], percent-encoded where needed (RFC 5092); an @ in the user
 * may stand as it is. A password in it is refused: the command line shows to everybody. */
ImapUrl *imap_url_parse(const char *text, GError **error);
void imap_url_free(ImapUrl *url);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ImapUrl, imap_url_free)

typedef struct {
    const ImapUrl *url;
    const char *password;
    const char *token; /* instead of a password: OAUTHBEARER (RFC 7628) or XOAUTH2; or NULL */
    const char *ca_file; /* NULL: the system's */
    guint timeout_ms; /* 0: 30 s to connect and log in, 5 min an answer; else a cap on both */
} ImapServer;

typedef struct _Imap Imap;

/* Whether the server only refused the last command, and another may follow. */
gboolean imap_stands(const Imap *imap);

/* Connects and logs in. The server's strings are borrowed for this call only. */
Imap *imap_connect(const ImapServer *server, GError **error);
void imap_free(Imap *imap);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Imap, imap_free)

typedef enum {
    IMAP_ROLE_NONE,
    IMAP_ROLE_ALL, /* every message there is, once more */
    IMAP_ROLE_ARCHIVE,
    IMAP_ROLE_DRAFTS,
    IMAP_ROLE_FLAGGED, /* a view of messages that lie elsewhere */
    IMAP_ROLE_JUNK,
    IMAP_ROLE_SENT,
    IMAP_ROLE_TRASH
} ImapRole;

typedef struct {
    char *name; /* UTF-8 */
    ImapRole role;
    gboolean readable; /* FALSE: only a level of the tree */
} ImapFolder;

/* All folders (array of ImapFolder *), with the roles the server tells. The caller unrefs. */
GPtrArray *imap_folders(Imap *imap, GError **error);
void imap_folder_free(ImapFolder *folder);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ImapFolder, imap_folder_free)

typedef struct {
    guint32 count; /* messages */
    guint32
        uid_validity; /* another one: the UIDs of before mean nothing (RFC 3501, 2.3.1.1) */
    guint32 uid_next; /* greater once something was added; 0: unknown */
} ImapView;

/* Opens a folder, from its first message. */
gboolean imap_examine(Imap *imap, const char *folder, ImapView *view_out, GError **error);

#define IMAP_HEAD_MAX (256 * 1024) /* bytes of a header */

typedef struct {
    guint32 number;      /* its place in the folder, from 1 */
    guint32 uid;         /* 0: unknown */
    guint64 size;        /* of the whole message, as the server says */
    gint64 arrived;      /* when it came into the folder, epoch seconds; 0: unknown */
    gboolean draft;      /* by its flags */
    gboolean deleted;    /* by its flags */
    const char *problem; /* why there is no head; NULL when there is one. Static */
    char *head;          /* with its empty line, bytes as they came */
    gsize head_length;
} ImapMessage;

typedef enum { IMAP_FAILED, IMAP_MESSAGE, IMAP_END } ImapOutcome;

/* The next message of the folder as it was at imap_examine; borrowed until the next imap_next.
 * Heads are fetched some dozens at a time, and no more are in memory. Only IMAP_FAILED sets
 * error, only IMAP_MESSAGE the message. */
ImapOutcome imap_next(Imap *imap, const ImapMessage **message_out, GError **error);

/* The message with that UID, its first limit bytes, borrowed until the next call. *bytes_out
 * is NULL when it is there no more. */
gboolean imap_whole(Imap *imap, guint32 uid, gsize limit, const char **bytes_out,
                    gsize *length_out, GError **error);

/* Finding (imap-find.c), in the folder that is open */

/* UIDs (array of guint32, the newest first) of the messages whose field has exactly that
 * value, as far as white space goes. HEADER searches for a part of it (RFC 3501, 6.4.4), so
 * that what is found is looked at. since: not what arrived before, as far as the server tells.
 * What is marked as deleted, and a value that no search can name, is not found. */
GArray *imap_find(Imap *imap, const char *field, const char *value, gint64 since,
                  GError **error);

/* Which of those UIDs (array of guint32) are there and not marked as deleted: a new array. */
GArray *imap_present(Imap *imap, const GArray *uids, GError **error);

/* Whether a header, with or without its empty line, has the field with exactly that value. */
gboolean imap_head_has(const char *head, gsize length, const char *field, const char *value);

/* Writing (imap-write.c) */

gboolean imap_create(Imap *imap, const char *folder, GError **error);

/* Adds a message, marked as a draft and as read. Where it is, by UIDPLUS (RFC 4315); 0 and 0
 * when the server does not say. When its answer is lost, it may be there all the same. */
gboolean imap_append(Imap *imap, const char *folder, const char *bytes, gsize length,
                     guint32 *uid_validity_out, guint32 *uid_out, GError **error);

/* Opens a folder to remove messages from it. */
gboolean imap_select(Imap *imap, const char *folder, ImapView *view_out, GError **error);

/* Removes one message. Without UIDPLUS it is only marked as deleted: a plain EXPUNGE would
 * remove what others have marked, too. */
gboolean imap_remove(Imap *imap, guint32 uid, GError **error);
