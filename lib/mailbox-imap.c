#include "lib/mailbox-imap.h"

#include <string.h>
#include <unistd.h>

#include "lib/error.h"
#include "lib/mailbox-private.h"

enum { NAMES_SHOWN = 20 };

/* The source: it outlives the readings of its folders. */
typedef struct {
    Imap *imap;
    char *place; /* the address without a folder, for messages */
    GPtrArray *folders;
    guint next;
    char *path; /* of the folder stepped to */
} Server;

typedef struct {
    Imap *imap; /* borrowed from the source */
    char *path;
    ImapView view;
    guint32 count;              /* messages stepped to */
    const ImapMessage *message; /* the last of them */
    char *where;
    GChecksum *checksum;
} Folder;

/* One folder */

static gboolean
folder_next(gpointer self, MailboxMessage *message_out, GError **error)
{
    Folder *folder = self;
    ImapOutcome outcome = imap_next(folder->imap, &folder->message, error);

    if (outcome == IMAP_FAILED)
        g_prefix_error(error, "%s: after %u of %u messages: ", folder->path, folder->count,
                       folder->view.count);
    if (outcome != IMAP_MESSAGE)
        return FALSE;
    folder->count++;
    const ImapMessage *message = folder->message;
    g_autofree char *line = g_strdup_printf("%u\n", message->uid);
    g_checksum_update(folder->checksum, (const guchar *)line, -1);
    g_free(folder->where);
    folder->where = message->uid != 0
                        ? g_strdup_printf("%s: UID %u", folder->path, message->uid)
                        : g_strdup_printf("%s: message %u", folder->path, message->number);
    *message_out = (MailboxMessage){.where = folder->where,
                                    .problem = message->problem,
                                    .head = message->head,
                                    .head_length = message->head_length,
                                    .arrived = message->arrived,
                                    .draft = message->draft,
                                    .deleted = message->deleted};
    return TRUE;
}

static int
folder_whole(gpointer self, GError **error)
{
    Folder *folder = self;
    const char *bytes;
    gsize length;

    if (!imap_whole(folder->imap, folder->message->uid, MAILBOX_WHOLE_MAX, &bytes, &length,
                    error))
        return -1;
    if (bytes == NULL) {
        g_set_error(error, EXEAT_ERROR, ERROR_TEMP, "it is there no more");
        return -1;
    }
    int fd = mailbox_memory(error);
    if (fd >= 0 && !mailbox_write(fd, bytes, length, error)) {
        close(fd);
        return -1;
    }
    return fd;
}

static char *
folder_digest(gpointer self)
{
    Folder *folder = self;

    return g_strdup(g_checksum_get_string(folder->checksum));
}

static void
folder_free(gpointer self)
{
    Folder *folder = self;

    g_checksum_free(folder->checksum);
    g_free(folder->where);
    g_free(folder->path);
    g_free(folder);
}

static const MailboxReader folder_reader = {folder_next, folder_whole, folder_digest,
                                            folder_free};

/* The folders */

static FolderRole
role_of(const ImapFolder *folder)
{
    if (folder->role == IMAP_ROLE_SENT)
        return FOLDER_SENT;
    if (folder->role == IMAP_ROLE_DRAFTS)
        return FOLDER_DRAFTS;
    return folder->role == IMAP_ROLE_NONE ? folder_role(folder->name) : FOLDER_OTHER;
}

static gboolean
server_next_folder(gpointer self, MailboxFolder *folder_out, MailboxReading *reading_out,
                   GError **error)
{
    Server *server = self;
    ImapView view;

    if (server->next == server->folders->len)
        return FALSE;
    const ImapFolder *found = g_ptr_array_index(server->folders, server->next++);
    g_free(server->path);
    server->path = g_strconcat(server->place, found->name, NULL);
    if (!imap_examine(server->imap, found->name, &view, error)) {
        g_prefix_error(error, "%s: ", server->path);
        return FALSE;
    }
    Folder *folder = g_new0(Folder, 1);
    folder->imap = server->imap;
    folder->path = g_strdup(server->path);
    folder->view = view;
    /* The UIDs mean nothing without it. */
    folder->checksum = g_checksum_new(G_CHECKSUM_SHA256);
    g_autofree char *line = g_strdup_printf("%u\n", view.uid_validity);
    g_checksum_update(folder->checksum, (const guchar *)line, -1);
    *folder_out = (MailboxFolder){.path = server->path, .role = role_of(found)};
    *reading_out = (MailboxReading){&folder_reader, folder};
    return TRUE;
}

static void
server_rewind(gpointer self)
{
    Server *server = self;

    server->next = 0;
}

static void
server_free(gpointer self)
{
    Server *server = self;

    imap_free(server->imap);
    g_clear_pointer(&server->folders, g_ptr_array_unref);
    g_free(server->place);
    g_free(server->path);
    g_free(server);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Server, server_free)

static const MailboxSource source = {server_next_folder, server_rewind, server_free};

/* Whether a folder is to be read. INBOX is the one name without case (RFC 3501, 5.1). */
static gboolean
is_wanted(const ImapFolder *folder, const char *name)
{
    if (name == NULL)
        return folder->readable && folder->role != IMAP_ROLE_ALL &&
               folder->role != IMAP_ROLE_FLAGGED;
    return g_str_equal(folder->name, name) ||
           (g_ascii_strcasecmp(folder->name, "INBOX") == 0 &&
            g_ascii_strcasecmp(name, "INBOX") == 0);
}

static gboolean
fail_folder(const GPtrArray *folders, const char *name, GError **error)
{
    g_autoptr(GString) names = g_string_new(NULL);

    for (guint i = 0; i < MIN(folders->len, NAMES_SHOWN); i++) {
        const ImapFolder *folder = g_ptr_array_index(folders, i);
        g_string_append_printf(names, "%s“%s”", i > 0 ? ", " : "", folder->name);
    }
    g_set_error(error, EXEAT_ERROR, ERROR_CONFIG, "there is no folder “%s”, but %s%s", name,
                names->str, folders->len > NAMES_SHOWN ? " and others" : "");
    return FALSE;
}

static gboolean
choose_folders(Server *server, const char *name, GError **error)
{
    g_autoptr(GPtrArray) found = imap_folders(server->imap, error);

    if (found == NULL)
        return FALSE;
    server->folders = g_ptr_array_new_with_free_func((GDestroyNotify)imap_folder_free);
    for (guint i = found->len; i-- > 0;)
        if (is_wanted(g_ptr_array_index(found, i), name))
            g_ptr_array_add(server->folders, g_ptr_array_steal_index(found, i));
    return server->folders->len > 0 || name == NULL || fail_folder(found, name, error);
}

Mailbox *
mailbox_open_imap(const ImapServer *where, GError **error)
{
    const ImapUrl *url = where->url;
    g_autoptr(Server) server = g_new0(Server, 1);

    server->imap = imap_connect(where, error);
    if (server->imap == NULL || !choose_folders(server, url->folder, error))
        return NULL;
    server->place =
        g_strdup_printf("%s://%s@%s/", url->starttls ? "imap" : "imaps", url->user, url->host);
    return mailbox_new(&source, g_steal_pointer(&server));
}
