#include "relay/drafts-private.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/error.h"
#include "lib/log.h"
#include "relay/draft-message.h"
#include "relay/schedule.h"
#include "relay/send.h"
#include "relay/world.h"
#include "store/approval.h"
#include "store/audit.h"

/* A draft that came late has to be there for so long, or as long as the delay itself: somebody
 * should be able to see it. Attempts after a failed look are as far apart as those to send. */
enum { SEEN_LEAST = 10 * 60 };

#define GONE_WHY "its draft was deleted, moved or edited in the mailbox"

void
entry_free(gpointer data)
{
    Entry *entry = data;

    draft_free(entry->draft);
    g_free(entry);
}

gboolean
turn_load(gpointer data, GError **error)
{
    Turn *turn = data;
    g_autoptr(GPtrArray) list = draft_list(turn->relay->db, turn->account->name, error);

    if (list == NULL)
        return FALSE;
    for (guint i = 0; i < list->len; i++) {
        Entry *entry = g_new0(Entry, 1);

        entry->draft = g_steal_pointer(&list->pdata[i]);
        entry->wanted = draft_is_wanted(entry->draft->state);
        g_ptr_array_add(turn->entries, entry);
    }
    g_ptr_array_set_free_func(list, NULL);
    return TRUE;
}

/* The bytes */

typedef struct {
    Relay *relay;
    const Draft *draft;
    Item *item;
    int fd;
} Copy;

static gboolean
copy_item(gpointer data, GError **error)
{
    Copy *copy = data;

    const char *id = copy->draft->item;

    return queue_load(copy->relay->db, id, &copy->item, error) &&
           draft_keep(copy->relay->db, copy->draft, error) &&
           queue_copy_bytes(copy->relay->db, id, copy->fd, error);
}

static GString *
compose(const Copy *copy, GError **error)
{
    gsize size = copy->item->size;
    void *bytes = size > 0 ? mmap(NULL, size, PROT_READ, MAP_SHARED, copy->fd, 0) : NULL;

    if (bytes == MAP_FAILED) {
        g_set_error(error, EXEAT_ERROR, ERROR_TEMP, "no memory: %s", g_strerror(errno));
        return NULL;
    }
    GString *message = draft_compose(copy->item, bytes, size);
    if (bytes != NULL)
        munmap(bytes, size);
    return message;
}

GString *
turn_compose(const Turn *turn, const Draft *draft, GError **error)
{
    Copy copy = {
        .relay = turn->relay, .draft = draft, .fd = memfd_create("draft", MFD_CLOEXEC)};
    g_autoptr(GError) trouble = NULL;
    GString *message = NULL;

    if (copy.fd < 0)
        g_set_error(&trouble, EXEAT_ERROR, ERROR_TEMP, "no memory: %s", g_strerror(errno));
    else if (writer_run(turn->relay->writer, copy_item, &copy, &trouble))
        message = compose(&copy, &trouble);
    if (copy.fd >= 0)
        close(copy.fd);
    item_free(copy.item);
    if (message == NULL)
        g_propagate_error(error, g_steal_pointer(&trouble));
    return message;
}

/* What was found */

static char *
mailbox_of(const Turn *turn)
{
    return g_strdup_printf("mailbox %s", turn->box->postbox->owner);
}

static gboolean
audit_put(const Turn *turn, const Draft *draft, gint64 now, GError **error)
{
    GVariantDict details;

    g_variant_dict_init(&details, NULL);
    g_variant_dict_insert(&details, "mailbox", "s", turn->box->postbox->owner);
    g_variant_dict_insert(&details, "folder", "s", turn->box->postbox->drafts);
    g_variant_dict_insert(&details, "uidvalidity", "u", draft->validity);
    g_variant_dict_insert(&details, "uid", "u", draft->uid);
    const AuditEntry entry = {.kind = "draft",
                              .account = turn->account->name,
                              .item = draft->item,
                              .who = "relay",
                              .details = g_variant_dict_end(&details)};
    return audit_append(turn->relay->db, &entry, now, error);
}

/* To the state that the finding means, if the item still is in one that it ends. */
static gboolean
end_item(const Turn *turn, const Item *item, State to, const char *why, gint64 now,
         GError **error)
{
    g_autofree char *who = mailbox_of(turn);
    Move done;

    return approval_void(turn->relay->db, item->id, now, error) &&
           queue_move(turn->relay->db, item->id, item->state, to, who, why, now, &done, error);
}

/* As a person would have done it with exeat reject and exeat veto. One that is being sent is
 * looked at again. */
static gboolean
settle_gone(const Turn *turn, const Item *item, gint64 now, GError **error)
{
    if (item->state == STATE_SENDING)
        return TRUE;
    if ((item->state == STATE_HELD || item->state == STATE_DRAFT) &&
        !end_item(turn, item, STATE_REJECTED, GONE_WHY, now, error))
        return FALSE;
    if ((item->state == STATE_DELAYED || item->state == STATE_APPROVED) &&
        !end_item(turn, item, STATE_VETOED, GONE_WHY, now, error))
        return FALSE;
    return draft_drop(turn->relay->db, item->id, error);
}

static gboolean
settle_sent(const Turn *turn, const Item *item, const Entry *entry, gint64 now, GError **error)
{
    g_autofree char *why = g_strdup_printf("%s: UID %u of %s", WORLD_SENT, entry->sent_uid,
                                           turn->box->postbox->sent);

    return !state_may_become(item->state, STATE_BY_HUMAN) ||
           end_item(turn, item, STATE_BY_HUMAN, why, now, error);
}

static gboolean
keep_there(const Turn *turn, Entry *entry, gint64 now, GError **error)
{
    Draft *draft = entry->draft;
    gboolean first = draft->put == 0;

    if (first)
        draft->put = now;
    return draft_keep(turn->relay->db, draft, error) &&
           (!first || audit_put(turn, draft, now, error));
}

static gboolean
settle_found(const Turn *turn, Entry *entry, const Item *item, gint64 now, GError **error)
{
    switch (entry->found) {
    case FOUND_NOTHING:
        return TRUE;
    case FOUND_THERE:
        return entry->known || keep_there(turn, entry, now, error);
    case FOUND_GONE:
        return settle_gone(turn, item, now, error);
    case FOUND_SENT:
        return settle_sent(turn, item, entry, now, error);
    case FOUND_REMOVED:
        break;
    }
    return draft_drop(turn->relay->db, item->id, error);
}

/* What wants to leave */

static gint64
seen_long_enough(const Draft *draft)
{
    return draft->put + MIN(draft->due - draft->created, SEEN_LEAST);
}

/* Not now; not at all once nobody would have decided on it either. */
static gboolean
put_off(const Turn *turn, const Item *item, gint64 when, gint64 now, GError **error)
{
    Db *db = turn->relay->db;

    if (item->expires <= now)
        return send_back(db, item, TIER_DRAFT, "its mailbox could not be looked at in time",
                         now, error);
    log_info("%s: not sent now: %s", item->id,
             turn->why ? turn->why
                       : "its draft is not in the mailbox, or not for long enough");
    return queue_record_attempt(db, item->id, item->answer, when, error);
}

static gboolean
settle_asked(Turn *turn, const Entry *entry, const Item *item, gint64 now, GError **error)
{
    gboolean there = turn->why == NULL && entry->found == FOUND_THERE;

    if (item->state != STATE_DELAYED)
        return TRUE;
    if (!there)
        return put_off(turn, item, send_next_try(item, now), now, error);
    if (now < seen_long_enough(entry->draft))
        return put_off(turn, item, seen_long_enough(entry->draft), now, error);
    g_ptr_array_add(turn->leaving, g_strdup(item->id));
    return TRUE;
}

/* Most looks find what there was, and cost no more than that. */
static gboolean
is_news(const Entry *entry)
{
    return entry->found != FOUND_NOTHING && !(entry->found == FOUND_THERE && entry->known);
}

gboolean
turn_settle(gpointer data, GError **error)
{
    Turn *turn = data;
    gint64 now = relay_now();

    g_ptr_array_set_size(turn->leaving, 0);
    for (guint i = 0; i < turn->entries->len; i++) {
        Entry *entry = turn->entries->pdata[i];
        g_autoptr(Item) item = NULL;

        if (!entry->asked && !is_news(entry))
            continue;
        if (!schedule_load(turn->relay->db, entry->draft->item, &item, error))
            return FALSE;
        if (item == NULL)
            continue;
        if (!settle_found(turn, entry, item, now, error))
            return FALSE;
        g_autoptr(Item) after = NULL;
        if (entry->asked && (!queue_load(turn->relay->db, item->id, &after, error) ||
                             !settle_asked(turn, entry, after, now, error)))
            return FALSE;
    }
    return TRUE;
}
