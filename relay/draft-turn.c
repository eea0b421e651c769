#include "relay/drafts-private.h"

#include "lib/error.h"
#include "lib/log.h"
#include "relay/draft-message.h"

/* Seconds after which what the server does not take is offered again; messages that are looked
 * at because they bear an item's id; bytes by which X-Exeat-Due may differ. */
enum { REFUSED_FOR = 60, FOUND_MOST = 10, LONGER = 200 };

/* Its place is that of the mailbox as it is now. */
static gboolean
is_here(const Turn *turn, const Draft *draft)
{
    return g_str_equal(draft->place, turn->box->postbox->place);
}

static gboolean
was_tried(const Draft *draft)
{
    return *draft->place != '\0';
}

static gboolean
is_refused(const Turn *turn, const Draft *draft)
{
    gint64 *until = g_hash_table_lookup(turn->box->refused, draft->item);

    return until != NULL && g_get_monotonic_time() < *until;
}

static void
note_refused(Turn *turn, const Draft *draft, const char *why)
{
    gint64 until = g_get_monotonic_time() + REFUSED_FOR * G_USEC_PER_SEC;

    log_error("%s: its draft cannot be put into the mailbox: %s", draft->item, why);
    g_hash_table_replace(turn->box->refused, g_strdup(draft->item),
                         g_memdup2(&until, sizeof until));
}

/* What is being sent already gets none any more. */
static gboolean
is_missing(const Entry *entry)
{
    return entry->wanted && entry->draft->state != STATE_SENDING && entry->draft->put == 0;
}

gboolean
turn_has_work(const Turn *turn)
{
    if (turn->entries->len > 0 && g_get_monotonic_time() >= turn->box->look_next)
        return TRUE;
    for (guint i = 0; i < turn->entries->len; i++) {
        const Entry *entry = turn->entries->pdata[i];
        const Draft *draft = entry->draft;

        if (entry->asked || (!entry->wanted && was_tried(draft)) ||
            (is_missing(entry) && !is_refused(turn, draft)))
            return TRUE;
    }
    return FALSE;
}

/* The folder. It is made where it is missing, unless drafts were there before: then something
 * is wrong with the server, or somebody who removed it has to say so elsewhere, too. */
static gboolean
open_drafts(Turn *turn, ImapView *view_out, GError **error)
{
    Postbox *postbox = turn->box->postbox;
    g_autoptr(GError) trouble = NULL;
    gboolean used = FALSE;

    if (imap_examine(postbox->imap, postbox->drafts, view_out, &trouble))
        return TRUE;
    for (guint i = 0; i < turn->entries->len; i++) {
        const Draft *draft = ((Entry *)turn->entries->pdata[i])->draft;
        used |= draft->put != 0 && is_here(turn, draft);
    }
    if (imap_stands(postbox->imap) && !used)
        return imap_create(postbox->imap, postbox->drafts, error) &&
               imap_examine(postbox->imap, postbox->drafts, view_out, error);
    g_propagate_prefixed_error(error, g_steal_pointer(&trouble), "%s: ", postbox->drafts);
    return FALSE;
}

static gboolean
contains(const GArray *uids, guint32 uid)
{
    for (guint i = 0; i < uids->len; i++)
        if (g_array_index(uids, guint32, i) == uid)
            return TRUE;
    return FALSE;
}

static void
note_absent(Entry *entry)
{
    if (entry->draft->put != 0)
        entry->found = FOUND_GONE;
    else
        entry->draft->uid = 0; /* it never was there: once more */
}

/* Whether its UID means something. */
static gboolean
is_known(const Turn *turn, const Draft *draft, const ImapView *view)
{
    return is_here(turn, draft) && draft->uid != 0 && draft->validity == view->uid_validity;
}

/* Those whose UID means something: are they there? */
static gboolean
look_by_uid(Turn *turn, const ImapView *view, GError **error)
{
    g_autoptr(GArray) uids = g_array_new(FALSE, FALSE, sizeof(guint32));

    for (guint i = 0; i < turn->entries->len; i++) {
        const Draft *draft = ((Entry *)turn->entries->pdata[i])->draft;
        if (is_known(turn, draft, view))
            g_array_append_val(uids, draft->uid);
    }
    g_autoptr(GArray) present = imap_present(turn->box->postbox->imap, uids, error);
    if (present == NULL)
        return FALSE;
    for (guint i = 0; i < turn->entries->len; i++) {
        Entry *entry = turn->entries->pdata[i];
        if (!is_known(turn, entry->draft, view))
            continue;
        if (!contains(present, entry->draft->uid)) {
            note_absent(entry);
            continue;
        }
        entry->found = FOUND_THERE;
        entry->known = entry->draft->put != 0;
    }
    return TRUE;
}

/* Whether a message that bears the item's id is what we put there: anybody who writes in the
 * mailbox could have made another. One whose bytes we have no more is nobody's. */
static gboolean
is_ours(Turn *turn, const Draft *draft, guint32 uid, gboolean *is_out, GError **error)
{
    g_autoptr(GError) trouble = NULL;
    g_autoptr(GString) ours = turn_compose(turn, draft, &trouble);
    const char *bytes;
    gsize length;

    *is_out = FALSE;
    if (ours == NULL) {
        if (trouble->code == ERROR_INTEGRITY)
            return TRUE;
        g_propagate_error(error, g_steal_pointer(&trouble));
        return FALSE;
    }
    if (!imap_whole(turn->box->postbox->imap, uid, ours->len + LONGER, &bytes, &length, error))
        return FALSE;
    *is_out = bytes != NULL && draft_is_same(ours, bytes, length);
    return TRUE;
}

/* By the item's id: after UIDVALIDITY changed, and before one is added that may be there
 * already, because the answer was lost. */
static gboolean
look_by_item(Turn *turn, Entry *entry, const ImapView *view, GError **error)
{
    g_autoptr(GArray) uids =
        imap_find(turn->box->postbox->imap, DRAFT_ITEM, entry->draft->item, 0, error);
    gboolean ours = FALSE;

    if (uids == NULL)
        return FALSE;
    for (guint i = 0; i < MIN(uids->len, FOUND_MOST) && !ours; i++) {
        guint32 uid = g_array_index(uids, guint32, i);

        if (!is_ours(turn, entry->draft, uid, &ours, error))
            return FALSE;
        if (ours)
            entry->draft->uid = uid;
    }
    if (!ours) {
        note_absent(entry);
        return TRUE;
    }
    entry->draft->validity = view->uid_validity;
    entry->found = FOUND_THERE;
    return TRUE;
}

static void
forget_place(const Turn *turn, Draft *draft)
{
    if (is_here(turn, draft))
        return;
    g_autofree char *place = draft_describe_place(draft);
    if (was_tried(draft))
        log_warning("%s: its draft stays in %s: there is another mailbox now", draft->item,
                    place);
    g_free(draft->place);
    draft->place = g_strdup(turn->box->postbox->place);
    draft->validity = draft->uid = 0;
    draft->put = 0;
}

static gboolean
look_for_others(Turn *turn, const ImapView *view, GError **error)
{
    for (guint i = 0; i < turn->entries->len; i++) {
        Entry *entry = turn->entries->pdata[i];
        Draft *draft = entry->draft;

        if (!entry->wanted && !was_tried(draft))
            continue;
        forget_place(turn, draft);
        if (entry->found == FOUND_NOTHING && !is_refused(turn, draft) &&
            !look_by_item(turn, entry, view, error))
            return FALSE;
    }
    return TRUE;
}

/* Adding */

static gboolean
add_draft(Turn *turn, Entry *entry, GError **error)
{
    Postbox *postbox = turn->box->postbox;
    Draft *draft = entry->draft;
    g_autoptr(GError) trouble = NULL;
    GString *message = turn_compose(turn, draft, &trouble);
    gboolean added =
        message != NULL && imap_append(postbox->imap, postbox->drafts, message->str,
                                       message->len, &draft->validity, &draft->uid, &trouble);

    if (message != NULL)
        g_string_free(message, TRUE);
    entry->fresh = added;
    if (added)
        return TRUE;
    if (imap_stands(postbox->imap)) {
        note_refused(turn, draft, trouble->message);
        return TRUE;
    }
    g_propagate_error(error, g_steal_pointer(&trouble));
    return FALSE;
}

static gboolean
add_missing(Turn *turn, gboolean *added_out, GError **error)
{
    *added_out = FALSE;
    for (guint i = 0; i < turn->entries->len; i++) {
        Entry *entry = turn->entries->pdata[i];

        if (!is_missing(entry) || entry->found != FOUND_NOTHING ||
            is_refused(turn, entry->draft))
            continue;
        if (!add_draft(turn, entry, error))
            return FALSE;
        *added_out |= entry->fresh;
    }
    return TRUE;
}

/* Nothing is believed to be there that was not seen there. What cannot be found is not put
 * there again and again. */
static gboolean
look_at_added(Turn *turn, ImapView *view, GError **error)
{
    if (!open_drafts(turn, view, error) || !look_by_uid(turn, view, error))
        return FALSE;
    for (guint i = 0; i < turn->entries->len; i++) {
        Entry *entry = turn->entries->pdata[i];

        if (!entry->fresh || entry->found == FOUND_THERE)
            continue;
        if (!look_by_item(turn, entry, view, error))
            return FALSE;
        if (entry->found != FOUND_THERE)
            note_refused(turn, entry->draft, "what was added is not there");
    }
    return TRUE;
}

/* What was sent */

/* A copy that the agent's own program filed when it submitted the message has no mark of ours,
 * and came before the draft. */
static gint64
sent_since(const Draft *draft)
{
    return draft->put != 0 ? draft->put + 1 : G_MAXINT64;
}

static gboolean
look_at_sent(Turn *turn, GError **error)
{
    DraftsBox *box = turn->box;
    ImapView view;

    if (box->postbox->sent == NULL)
        return TRUE;
    if (!postbox_open_sent(box->postbox, &view, error))
        return FALSE;
    gboolean changed = view.uid_next == 0 || view.uid_next != box->sent_next;
    for (guint i = 0; i < turn->entries->len; i++) {
        Entry *entry = turn->entries->pdata[i];
        const Draft *draft = entry->draft;
        guint32 uid;

        if (!entry->wanted || (!changed && entry->found != FOUND_GONE && !entry->asked))
            continue;
        if (!postbox_find(box->postbox, draft->item, draft->message_id, sent_since(draft),
                          &uid, error))
            return FALSE;
        if (uid != 0) {
            entry->found = FOUND_SENT;
            entry->sent_uid = uid;
        }
    }
    box->sent_next = view.uid_next;
    return TRUE;
}

/* Removing */

static gboolean
remove_ended(Turn *turn, GError **error)
{
    Postbox *postbox = turn->box->postbox;
    gboolean open = FALSE;
    ImapView view;

    for (guint i = 0; i < turn->entries->len; i++) {
        Entry *entry = turn->entries->pdata[i];

        if (entry->wanted || !was_tried(entry->draft))
            continue;
        if (entry->found == FOUND_THERE) {
            if (!open && !imap_select(postbox->imap, postbox->drafts, &view, error))
                return FALSE;
            open = TRUE;
            if (view.uid_validity != entry->draft->validity)
                continue; /* just now: next time */
            if (!imap_remove(postbox->imap, entry->draft->uid, error))
                return FALSE;
        }
        entry->found = FOUND_REMOVED;
    }
    return TRUE;
}

gboolean
turn_look(Turn *turn, GError **error)
{
    ImapView view;
    gboolean added;

    return open_drafts(turn, &view, error) && look_by_uid(turn, &view, error) &&
           look_for_others(turn, &view, error) && add_missing(turn, &added, error) &&
           (!added || look_at_added(turn, &view, error)) && look_at_sent(turn, error) &&
           remove_ended(turn, error);
}
