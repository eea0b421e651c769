#include "relay/reconcile.h"

#include <string.h>

#include "lib/error.h"
#include "lib/log.h"
#include "relay/postbox.h"
#include "relay/program.h"
#include "store/audit.h"
#include "store/queue.h"

/* Seconds to the first look, between looks at first and at last; those by which a server's
 * clock may be behind. */
enum { WAIT_BEGIN = 2, WAIT_FIRST = 10, WAIT_MOST = 3600, JITTER = 2 };

struct _Reconciler {
    Relay *relay;
    GThread *thread;
    GMutex lock;
    GCond woken;
    gboolean stop;
    GHashTable *plans; /* item to Plan *; the thread's alone */
};

typedef struct {
    guint looks;
    gint64 next; /* monotonic */
    gboolean seen;
} Plan;

/* One look at one item. */
typedef struct {
    Relay *relay;
    Config *config;
    const char *id;
    guint number; /* of the look, from 1 */
    Item *item;   /* NULL: it is not uncertain any more */
    gint64 handed_on;
    char *queue_id; /* "" when it is not known */
    char *proof;    /* NULL: none was found */
    GString *places;
} Look;

static gint64
seconds(gint64 count)
{
    return count * G_USEC_PER_SEC;
}

/* What is known */

/* "its authority is used, queue id 4Xq..." */
static char *
read_queue_id(const char *why)
{
    const char *id = strstr(why, "queue id ");
    gsize length = 0;

    if (id == NULL)
        return g_strdup("");
    id += strlen("queue id ");
    while (g_ascii_isalnum(id[length]))
        length++;
    return g_strndup(id, length);
}

static void
read_moves(Look *look, GVariant *moves)
{
    look->handed_on = look->item->created;
    for (gsize i = 0; i < g_variant_n_children(moves); i++) {
        g_autoptr(GVariant) move = g_variant_get_child_value(moves, i);
        const char *to = "", *why = "";

        g_variant_lookup(move, "to", "&s", &to);
        g_variant_lookup(move, "why", "&s", &why);
        if (!g_str_equal(to, state_name(STATE_COMMITTING)))
            continue;
        g_variant_lookup(move, "when", "x", &look->handed_on);
        g_free(look->queue_id);
        look->queue_id = read_queue_id(why);
    }
}

static gboolean
load(gpointer data, GError **error)
{
    Look *look = data;
    g_autoptr(Item) item = NULL;

    if (!queue_load(look->relay->db, look->id, &item, error))
        return FALSE;
    if (item == NULL || item->state != STATE_UNCERTAIN)
        return TRUE;
    g_autoptr(GVariant) moves = queue_moves(look->relay->db, look->id, error);
    if (moves == NULL)
        return FALSE;
    g_variant_ref_sink(moves);
    look->item = g_steal_pointer(&item);
    read_moves(look, moves);
    return TRUE;
}

/* Where it may be */

static void
note_place(Look *look, const char *place)
{
    g_string_append_printf(look->places, "%s%s", look->places->len > 0 ? ", " : "", place);
}

/* FALSE: could not look. */
static gboolean
look_in_sent(Look *look, GError **error)
{
    const Account *account = config_account(look->config, look->item->account);
    ImapView view;
    guint32 uid;

    if (account == NULL || *account->drafts.address == '\0')
        return TRUE;
    g_autoptr(Postbox) postbox = postbox_open(&account->drafts, error);
    if (postbox == NULL)
        return FALSE;
    if (postbox->sent == NULL)
        return TRUE;
    if (!postbox_open_sent(postbox, &view, error) ||
        !postbox_find(postbox, "", look->item->message_id, look->handed_on - JITTER, &uid,
                      error))
        return FALSE;
    g_autofree char *place = g_strdup_printf("%s of %s", postbox->sent, postbox->owner);
    note_place(look, place);
    if (uid != 0)
        look->proof = g_strdup_printf("found in %s: UID %u, UIDVALIDITY %u", place, uid,
                                      view.uid_validity);
    return TRUE;
}

static gboolean
ask_command(Look *look, GError **error)
{
    char **command = look->config->reconcile;
    gboolean found;

    if (command[0] == NULL || look->proof != NULL)
        return TRUE;
    g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
    g_strv_builder_addv(builder, (const char **)command);
    g_strv_builder_add(builder, look->item->message_id);
    g_strv_builder_add(builder, look->queue_id);
    g_auto(GStrv) words = g_strv_builder_end(builder);
    if (!program_find(words, &found, error))
        return FALSE;
    note_place(look, command[0]);
    if (found)
        look->proof =
            g_strdup_printf("%s found it%s%s", command[0],
                            *look->queue_id != '\0' ? ", queue id " : "", look->queue_id);
    return TRUE;
}

/* What was found */

static gboolean
record(gpointer data, GError **error)
{
    Look *look = data;
    Db *db = look->relay->db;
    gint64 now = relay_now();
    GVariantDict details;
    Move done;

    if (look->proof != NULL)
        return queue_move(db, look->id, STATE_UNCERTAIN, STATE_SENT, "relay", look->proof, now,
                          &done, error);
    g_variant_dict_init(&details, NULL);
    g_variant_dict_insert(&details, "places", "s", look->places->str);
    g_variant_dict_insert(&details, "found", "b", FALSE);
    g_variant_dict_insert(&details, "look", "u", look->number);
    const AuditEntry entry = {.kind = "looked",
                              .account = look->item->account,
                              .item = look->id,
                              .who = "relay",
                              .details = g_variant_dict_end(&details)};
    return audit_append(db, &entry, now, error);
}

/* Trouble in one place keeps nobody from looking in the other. */
static void
look_everywhere(Look *look)
{
    g_autoptr(GError) in_sent = NULL, in_command = NULL, error = NULL;

    if (!look_in_sent(look, &in_sent))
        log_error("%s: cannot look among what was sent: %s", look->id, in_sent->message);
    if (!ask_command(look, &in_command))
        log_error("%s: %s", look->id, in_command->message);
    if (look->places->len == 0)
        return;
    if (!writer_run(look->relay->writer, record, look, &error))
        log_error("%s: what was found is not recorded: %s", look->id, error->message);
    else if (look->proof != NULL)
        log_info("%s: sent: %s", look->id, look->proof);
    else if (look->number == RECONCILE_LOOKS)
        log_warning(
            "%s: no proof was found, and nobody looks any more: say with exeat resolve "
            "what became of it",
            look->id);
}

static gboolean
can_look(const Config *config, const Item *item)
{
    const Account *account = config_account(config, item->account);

    return config->reconcile[0] != NULL ||
           (account != NULL && *account->drafts.address != '\0');
}

static void
look_at(Reconciler *reconciler, const char *id, Plan *plan)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(Config) config = relay_config(reconciler->relay);
    Look look = {
        .relay = reconciler->relay,
        .config = config,
        .id = id,
        .number = plan->looks + 1,
        .queue_id = g_strdup(""),
        .places = g_string_new(NULL),
    };

    if (!writer_run(reconciler->relay->writer, load, &look, &error))
        log_error("%s: %s", id, error->message);
    else if (look.item != NULL && can_look(config, look.item))
        look_everywhere(&look);
    item_free(look.item);
    g_free(look.queue_id);
    g_free(look.proof);
    g_string_free(look.places, TRUE);
}

/* When */

typedef struct {
    Relay *relay;
    GPtrArray *ids;
} Listing;

static gboolean
list(gpointer data, GError **error)
{
    Listing *listing = data;

    listing->ids = queue_in_state(listing->relay->db, STATE_UNCERTAIN, error);
    return listing->ids != NULL;
}

static void
plan_looks(Reconciler *reconciler, const GPtrArray *ids)
{
    GHashTableIter iter;
    gpointer value;

    g_hash_table_iter_init(&iter, reconciler->plans);
    while (g_hash_table_iter_next(&iter, NULL, &value))
        ((Plan *)value)->seen = FALSE;
    for (guint i = 0; i < ids->len; i++) {
        Plan *plan = g_hash_table_lookup(reconciler->plans, ids->pdata[i]);

        if (plan == NULL) {
            plan = g_new0(Plan, 1);
            plan->next = g_get_monotonic_time() + seconds(WAIT_BEGIN);
            g_hash_table_insert(reconciler->plans, g_strdup(ids->pdata[i]), plan);
        }
        plan->seen = TRUE;
    }
    g_hash_table_iter_init(&iter, reconciler->plans);
    while (g_hash_table_iter_next(&iter, NULL, &value))
        if (!((Plan *)value)->seen)
            g_hash_table_iter_remove(&iter);
}

static gboolean
is_stopping(Reconciler *reconciler)
{
    g_mutex_lock(&reconciler->lock);
    gboolean stop = reconciler->stop;
    g_mutex_unlock(&reconciler->lock);
    return stop;
}

static void
take_looks(Reconciler *reconciler)
{
    GHashTableIter iter;
    gpointer id, value;

    g_hash_table_iter_init(&iter, reconciler->plans);
    while (g_hash_table_iter_next(&iter, &id, &value) && !is_stopping(reconciler)) {
        Plan *plan = value;

        if (plan->looks == RECONCILE_LOOKS || g_get_monotonic_time() < plan->next)
            continue;
        look_at(reconciler, id, plan);
        plan->next = g_get_monotonic_time() +
                     seconds(MIN((gint64)WAIT_FIRST << MIN(plan->looks, 16), WAIT_MOST));
        plan->looks++;
    }
}

static gpointer
run(gpointer data)
{
    Reconciler *reconciler = data;

    while (!is_stopping(reconciler)) {
        Listing listing = {.relay = reconciler->relay};
        g_autoptr(GError) error = NULL;

        if (writer_run(reconciler->relay->writer, list, &listing, &error)) {
            plan_looks(reconciler, listing.ids);
            take_looks(reconciler);
            g_ptr_array_unref(listing.ids);
        } else {
            log_error("what is uncertain cannot be looked up: %s", error->message);
        }
        g_mutex_lock(&reconciler->lock);
        gint64 until = g_get_monotonic_time() + G_TIME_SPAN_SECOND;
        while (!reconciler->stop)
            if (!g_cond_wait_until(&reconciler->woken, &reconciler->lock, until))
                break;
        g_mutex_unlock(&reconciler->lock);
    }
    return NULL;
}

Reconciler *
reconciler_start(Relay *relay)
{
    Reconciler *reconciler = g_new0(Reconciler, 1);

    reconciler->relay = relay;
    g_mutex_init(&reconciler->lock);
    g_cond_init(&reconciler->woken);
    reconciler->plans = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    reconciler->thread = g_thread_new("reconcile", run, reconciler);
    return reconciler;
}

void
reconciler_stop(Reconciler *reconciler)
{
    g_mutex_lock(&reconciler->lock);
    reconciler->stop = TRUE;
    g_cond_signal(&reconciler->woken);
    g_mutex_unlock(&reconciler->lock);
    g_thread_join(reconciler->thread);
    g_hash_table_destroy(reconciler->plans);
    g_cond_clear(&reconciler->woken);
    g_mutex_clear(&reconciler->lock);
    g_free(reconciler);
}
