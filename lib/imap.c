#include <string.h>

#include "lib/error.h"
#include "lib/imap-private.h"

enum { ANSWER_MS = 5 * 60 * 1000, WINDOW = 50 /* messages whose heads are fetched at once */ };

static void
message_free(ImapMessage *message)
{
    g_free(message->head);
    g_free(message);
}

/* The connection */

Imap *
imap_connect(const ImapServer *server, GError **error)
{
    ImapStream *stream = imap_stream_open(server, error);

    if (stream == NULL)
        return NULL;
    g_autoptr(Imap) imap = g_new0(Imap, 1);
    imap->input.stream = stream;
    imap->answer = g_string_new(NULL);
    imap->whole_answer = g_string_new(NULL);
    imap->answer_ms = server->timeout_ms != 0 ? server->timeout_ms : ANSWER_MS;
    imap->window = g_ptr_array_new_with_free_func((GDestroyNotify)message_free);
    if (!imap_command_send(imap, error, "CAPABILITY") ||
        !imap_command_finish(imap, 0, NULL, error))
        return NULL;
    return g_steal_pointer(&imap);
}

void
imap_free(Imap *imap)
{
    if (imap == NULL)
        return;
    imap_stream_free(imap->input.stream);
    g_string_free(imap->answer, TRUE);
    g_string_free(imap->whole_answer, TRUE);
    g_ptr_array_unref(imap->window);
    g_free(imap);
}

gboolean
imap_stands(const Imap *imap)
{
    return !imap->broken;
}

/* Folders */

static gboolean
take_folder(Imap *imap, ImapAnswer kind, guint32 number, ImapCursor rest, GError **error)
{
    (void)number, (void)error;
    ImapFolder *folder = kind == ANSWER_LIST ? imap_folder_parse(rest) : NULL;

    if (folder != NULL)
        g_ptr_array_add(imap->folders, folder);
    return TRUE;
}

GPtrArray *
imap_folders(Imap *imap, GError **error)
{
    g_autoptr(GPtrArray) folders =
        g_ptr_array_new_with_free_func((GDestroyNotify)imap_folder_free);

    imap->folders = folders;
    gboolean listed = imap_command_send(imap, error, "LIST \"\" \"*\"%s",
                                        imap->lists_roles ? " RETURN (SPECIAL-USE)" : "") &&
                      imap_command_finish(imap, 0, take_folder, error);
    imap->folders = NULL;
    return listed ? g_steal_pointer(&folders) : NULL;
}

static gboolean
open_folder(Imap *imap, const char *command, const char *folder, ImapView *view_out,
            GError **error)
{
    g_autofree char *name = imap_quote_folder(folder);

    imap->view = (ImapView){0};
    g_ptr_array_set_size(imap->window, 0);
    imap->given = 0;
    if (!imap_command_send(imap, error, "%s %s", command, name) ||
        !imap_command_finish(imap, 0, NULL, error))
        return FALSE;
    imap->next = 1;
    imap->last = imap->view.count;
    *view_out = imap->view;
    return TRUE;
}

gboolean
imap_examine(Imap *imap, const char *folder, ImapView *view_out, GError **error)
{
    return open_folder(imap, "EXAMINE", folder, view_out, error);
}

gboolean
imap_select(Imap *imap, const char *folder, ImapView *view_out, GError **error)
{
    return open_folder(imap, "SELECT", folder, view_out, error);
}

/* Messages */

/* Puts a message into its place of the window. A second answer for the same message, or one
 * without a head, is news that nobody asked for. */
static void
take_head(Imap *imap, guint32 number, const ImapMessage *message)
{
    if (number < imap->next || number - imap->next >= imap->window->len || message->uid == 0 ||
        message->head == NULL)
        return;
    ImapMessage *place = g_ptr_array_index(imap->window, number - imap->next);
    if (place->uid != 0)
        return;
    *place = *message;
    place->number = number;
    place->problem = message->head_length > IMAP_HEAD_MAX ? "its header is too large" : NULL;
    place->head =
        place->problem == NULL ? g_memdup2(message->head, message->head_length + 1) : NULL;
}

static void
begin_window(Imap *imap, guint32 count)
{
    imap->given = 0;
    g_ptr_array_set_size(imap->window, 0);
    for (guint32 i = 0; i < count; i++) {
        ImapMessage *message = g_new0(ImapMessage, 1);
        message->number = imap->next + i;
        message->problem = "the server lists it and does not give it";
        g_ptr_array_add(imap->window, message);
    }
}

/* By number, not by UID: UIDs may have wide gaps. Numbers hold still during FETCH, and
 * note_expunge follows them between two (RFC 3501, 7.4.1). One byte more than the limit shows
 * that there are more. */
static gboolean
fetch_window(Imap *imap, GError **error)
{
    guint32 count = MIN(WINDOW, imap->last - imap->next + 1);

    begin_window(imap, count);
    if (!imap_command_send(
            imap, error,
            "FETCH %u:%u (UID RFC822.SIZE FLAGS INTERNALDATE BODY.PEEK[HEADER]<0.%u>)",
            imap->next, imap->next + count - 1, IMAP_HEAD_MAX + 1) ||
        !imap_command_fetched(imap, IMAP_HEAD_MAX + 1, take_head, error))
        return FALSE;
    imap->next += count;
    return TRUE;
}

ImapOutcome
imap_next(Imap *imap, const ImapMessage **message_out, GError **error)
{
    /* Not even what is at hand: its whole messages are out of reach. */
    if (imap->broken) {
        g_set_error(error, EXEAT_ERROR, ERROR_TEMP, "the connection is lost");
        return IMAP_FAILED;
    }
    if (imap->given == imap->window->len) {
        if (imap->next > imap->last)
            return IMAP_END;
        if (!fetch_window(imap, error))
            return IMAP_FAILED;
    }
    *message_out = g_ptr_array_index(imap->window, imap->given++);
    return IMAP_MESSAGE;
}

/* Keeps the answer that has the message: the next one would overwrite it. */
static void
take_whole(Imap *imap, guint32 number, const ImapMessage *message)
{
    (void)number;
    if (message->uid != imap->whole.uid || message->head == NULL)
        return;
    imap->whole = *message;
    GString *spare = imap->whole_answer;
    imap->whole_answer = imap->answer;
    imap->answer = spare;
}

gboolean
imap_whole(Imap *imap, guint32 uid, gsize limit, const char **bytes_out, gsize *length_out,
           GError **error)
{
    imap->whole = (ImapMessage){.uid = uid};
    if (!imap_command_send(imap, error,
                           "UID FETCH %u (UID BODY.PEEK[]<0.%" G_GSIZE_FORMAT ">)", uid,
                           limit) ||
        !imap_command_fetched(imap, limit, take_whole, error))
        return FALSE;
    *bytes_out = imap->whole.head;
    *length_out = imap->whole.head_length;
    return TRUE;
}
