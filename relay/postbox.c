#include "relay/postbox.h"

#include "lib/error.h"
#include "relay/credentials.h"
#include "relay/draft-message.h"

enum { PATIENCE_MS = 20 * 1000 };

static Imap *
try_login(const DraftBox *box, const ImapUrl *url, gboolean fresh, GError **error)
{
    gboolean token = secret_is_token(&box->secret);
    char *secret = credentials_fetch(&box->secret, url->user, fresh, error);

    if (secret == NULL)
        return NULL;
    const ImapServer server = {
        .url = url,
        .password = token ? NULL : secret,
        .token = token ? secret : NULL,
        .ca_file = *box->ca_file != '\0' ? box->ca_file : NULL,
        .timeout_ms = PATIENCE_MS,
    };
    Imap *imap = imap_connect(&server, error);
    secret_forget(secret);
    return imap;
}

/* A token grows old: one that is refused is asked for once more. */
static Imap *
log_in(const DraftBox *box, const ImapUrl *url, GError **error)
{
    g_autoptr(GError) trouble = NULL;
    Imap *imap = try_login(box, url, FALSE, &trouble);

    if (imap == NULL && box->secret.token_command[0] != NULL &&
        g_error_matches(trouble, EXEAT_ERROR, ERROR_CONFIG))
        return try_login(box, url, TRUE, error);
    if (imap == NULL)
        g_propagate_error(error, g_steal_pointer(&trouble));
    return imap;
}

/* The server's name for a role; of those without one, the usual name; NULL: neither. */
static char *
find_folder(const GPtrArray *folders, ImapRole role, const char *usual)
{
    const char *found = NULL;

    for (guint i = 0; i < folders->len; i++) {
        const ImapFolder *folder = folders->pdata[i];

        if (folder->readable && folder->role == role)
            return g_strdup(folder->name);
        if (folder->readable && g_str_equal(folder->name, usual))
            found = folder->name;
    }
    return g_strdup(found);
}

static gboolean
find_folders(Postbox *postbox, const DraftBox *box, const ImapUrl *url, GError **error)
{
    g_autoptr(GPtrArray) folders = imap_folders(postbox->imap, error);

    if (folders == NULL)
        return FALSE;
    postbox->drafts = url->folder != NULL ? g_strdup(url->folder)
                                          : find_folder(folders, IMAP_ROLE_DRAFTS, "Drafts");
    if (postbox->drafts == NULL)
        postbox->drafts = g_strdup("Drafts");
    postbox->sent = *box->sent != '\0' ? g_strdup(box->sent)
                                       : find_folder(folders, IMAP_ROLE_SENT, "Sent");
    return TRUE;
}

Postbox *
postbox_open(const DraftBox *box, GError **error)
{
    g_autoptr(ImapUrl) url = imap_url_parse(box->address, error);
    g_autoptr(Postbox) postbox = g_new0(Postbox, 1);

    postbox->imap = url != NULL ? log_in(box, url, error) : NULL;
    if (postbox->imap == NULL || !find_folders(postbox, box, url, error))
        return NULL;
    postbox->owner = g_strdup_printf("%s at %s", url->user, url->host);
    postbox->place = g_strdup_printf("%s:%u/%s", postbox->owner, url->port, postbox->drafts);
    return g_steal_pointer(&postbox);
}

void
postbox_free(Postbox *postbox)
{
    if (postbox == NULL)
        return;
    imap_free(postbox->imap);
    g_free(postbox->drafts);
    g_free(postbox->sent);
    g_free(postbox->place);
    g_free(postbox->owner);
    g_free(postbox);
}

gboolean
postbox_open_sent(Postbox *postbox, ImapView *view_out, GError **error)
{
    *view_out = (ImapView){0};
    return postbox->sent == NULL ||
           imap_examine(postbox->imap, postbox->sent, view_out, error);
}

static gboolean
find_newest(Postbox *postbox, const char *field, const char *value, gint64 since,
            guint32 *uid_out, GError **error)
{
    g_autoptr(GArray) uids = imap_find(postbox->imap, field, value, since, error);

    if (uids == NULL)
        return FALSE;
    *uid_out = uids->len > 0 ? g_array_index(uids, guint32, 0) : 0;
    return TRUE;
}

gboolean
postbox_find(Postbox *postbox, const char *item, const char *message_id, gint64 since,
             guint32 *uid_out, GError **error)
{
    return find_newest(postbox, "Message-ID", message_id, since, uid_out, error) &&
           (*uid_out != 0 || *item == '\0' ||
            find_newest(postbox, DRAFT_ITEM, item, 0, uid_out, error));
}
