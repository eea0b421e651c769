#include "relay/drafts-private.h"

#include "lib/log.h"
#include "relay/people.h"
#include "relay/send.h"

/* Seconds between looks without a reason, between attempts after failures, and for which a
 * look lets an item leave. */
enum { LOOK_EVERY = 5, TRY_FIRST = 2, TRY_MOST = 60, PERMIT_LIFE = 30, THREADS = 4 };

struct _Drafts {
    Relay *relay;
    GThread *thread;
    GThreadPool *pool;
    GMutex lock;
    GCond woken;
    gboolean wake, stop;
    GHashTable *boxes;   /* account to DraftsBox * */
    GHashTable *permits; /* item to when its look was, monotonic */
};

static gint64
seconds(gint64 count)
{
    return count * G_USEC_PER_SEC;
}

static void
box_free(gpointer data)
{
    DraftsBox *box = data;

    postbox_free(box->postbox);
    g_clear_pointer(&box->config, config_unref);
    g_hash_table_destroy(box->refused);
    g_hash_table_destroy(box->asked);
    g_hash_table_destroy(box->looked_for);
    g_free(box->account);
    g_free(box->error);
    g_free(box);
}

/* With the lock. */
static DraftsBox *
find_box(Drafts *drafts, const char *account)
{
    DraftsBox *box = g_hash_table_lookup(drafts->boxes, account);

    if (box != NULL)
        return box;
    box = g_new0(DraftsBox, 1);
    box->drafts = drafts;
    box->account = g_strdup(account);
    box->refused = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    box->asked = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    box->looked_for = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_hash_table_insert(drafts->boxes, g_strdup(account), box);
    return box;
}

static gboolean
has_mailbox(const Account *account)
{
    return account != NULL && *account->drafts.address != '\0';
}

/* One turn */

static void
begin_again(DraftsBox *box)
{
    g_clear_pointer(&box->postbox, postbox_free);
    box->sent_next = 0;
}

/* With another configuration everything is tried at once: it may be mended. */
static void
note_config(DraftsBox *box, Config *config)
{
    if (box->config == config)
        return;
    begin_again(box);
    g_clear_pointer(&box->config, config_unref);
    box->config = config_ref(config);
    box->try_next = box->look_next = 0;
    g_hash_table_remove_all(box->refused);
}

static void
note_success(DraftsBox *box)
{
    Drafts *drafts = box->drafts;

    if (box->failures > 0)
        log_info("account %s: the mailbox for drafts can be used again", box->account);
    box->failures = 0;
    box->look_next = g_get_monotonic_time() + seconds(LOOK_EVERY);
    g_mutex_lock(&drafts->lock);
    g_clear_pointer(&box->error, g_free);
    g_mutex_unlock(&drafts->lock);
}

/* Logged once for each text: a server that is away for a day is one trouble. */
static void
note_failure(DraftsBox *box, const char *text)
{
    Drafts *drafts = box->drafts;
    gint64 wait = MIN(TRY_FIRST << MIN(box->failures, 10), TRY_MOST);

    begin_again(box);
    box->failures++;
    box->try_next = g_get_monotonic_time() + seconds(wait);
    g_mutex_lock(&drafts->lock);
    gboolean news = g_strcmp0(box->error, text) != 0;
    if (box->error == NULL)
        box->since = relay_now();
    if (news) {
        g_free(box->error);
        box->error = g_utf8_make_valid(text, -1);
    }
    g_mutex_unlock(&drafts->lock);
    if (news)
        log_error("account %s: the mailbox for drafts cannot be used: %s", box->account, text);
}

/* The ids that want to leave; what is not among the entries has been decided meanwhile. */
static gboolean
take_asked(Turn *turn)
{
    DraftsBox *box = turn->box;
    Drafts *drafts = box->drafts;
    GHashTable *asked = box->asked;
    gboolean any = FALSE;

    g_mutex_lock(&drafts->lock);
    for (guint i = 0; i < turn->entries->len; i++) {
        Entry *entry = turn->entries->pdata[i];
        entry->asked = g_hash_table_contains(asked, entry->draft->item);
        any |= entry->asked;
    }
    box->asked = box->looked_for;
    box->looked_for = asked;
    g_mutex_unlock(&drafts->lock);
    return any;
}

static gboolean
use_mailbox(Turn *turn, GError **error)
{
    DraftsBox *box = turn->box;

    if (box->postbox == NULL)
        box->postbox = postbox_open(&turn->account->drafts, error);
    return box->postbox != NULL && turn_look(turn, error);
}

static void
forget_findings(Turn *turn)
{
    for (guint i = 0; i < turn->entries->len; i++) {
        Entry *entry = turn->entries->pdata[i];

        entry->found = FOUND_NOTHING;
        entry->fresh = entry->known = FALSE;
    }
}

/* A connection that was kept may have ended since: the first trouble with it is none. */
static gboolean
look(Turn *turn, GError **error)
{
    gboolean kept = turn->box->postbox != NULL;
    g_autoptr(GError) trouble = NULL;

    if (use_mailbox(turn, &trouble))
        return TRUE;
    if (!kept) {
        g_propagate_error(error, g_steal_pointer(&trouble));
        return FALSE;
    }
    begin_again(turn->box);
    forget_findings(turn);
    return use_mailbox(turn, error);
}

static void
permit(Turn *turn)
{
    Drafts *drafts = turn->box->drafts;
    gint64 now = g_get_monotonic_time();

    for (guint i = 0; i < turn->leaving->len; i++) {
        const char *id = turn->leaving->pdata[i];

        g_mutex_lock(&drafts->lock);
        g_hash_table_replace(drafts->permits, g_strdup(id), g_memdup2(&now, sizeof now));
        g_mutex_unlock(&drafts->lock);
        sender_push(turn->relay->sender, turn->box->config, id, turn->account->name);
    }
}

static void
settle(Turn *turn)
{
    g_autoptr(GError) error = NULL;

    if (writer_run(turn->relay->writer, turn_settle, turn, &error))
        permit(turn);
    else
        log_error("account %s: what the mailbox shows is not recorded: %s", turn->box->account,
                  error->message);
}

static void
take_turn(DraftsBox *box, const Account *account)
{
    g_autoptr(GPtrArray) entries = g_ptr_array_new_with_free_func(entry_free);
    g_autoptr(GPtrArray) leaving = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GError) error = NULL;
    Turn turn = {
        .box = box,
        .relay = box->drafts->relay,
        .account = account,
        .entries = entries,
        .leaving = leaving,
    };

    if (!writer_run(turn.relay->writer, turn_load, &turn, &error)) {
        log_error("account %s: drafts: %s", account->name, error->message);
        return;
    }
    gboolean asked = take_asked(&turn);
    if (!turn_has_work(&turn) || (!asked && g_get_monotonic_time() < box->try_next))
        return;
    if (look(&turn, &error)) {
        note_success(box);
        settle(&turn);
        return;
    }
    note_failure(box, error->message);
    turn.why = error->message;
    forget_findings(&turn);
    if (asked)
        settle(&turn);
}

static void
serve(gpointer data, gpointer user_data)
{
    DraftsBox *box = data;
    Drafts *drafts = user_data;
    g_autoptr(Config) config = relay_config(drafts->relay);
    const Account *account = config_account(config, box->account);

    note_config(box, config);
    if (has_mailbox(account))
        take_turn(box, account);
    g_mutex_lock(&drafts->lock);
    g_hash_table_remove_all(box->looked_for);
    box->busy = FALSE;
    g_mutex_unlock(&drafts->lock);
}

/* All of them */

/* With the lock. */
static void
forget_permits(Drafts *drafts)
{
    gint64 oldest = g_get_monotonic_time() - seconds(PERMIT_LIFE);
    GHashTableIter iter;
    gpointer when;

    g_hash_table_iter_init(&iter, drafts->permits);
    while (g_hash_table_iter_next(&iter, NULL, &when))
        if (*(gint64 *)when < oldest)
            g_hash_table_iter_remove(&iter);
}

static void
begin_turns(Drafts *drafts)
{
    g_autoptr(Config) config = relay_config(drafts->relay);

    g_mutex_lock(&drafts->lock);
    forget_permits(drafts);
    for (guint i = 0; i < config->accounts->len && !drafts->stop; i++) {
        const Account *account = config->accounts->pdata[i];
        DraftsBox *box = has_mailbox(account) ? find_box(drafts, account->name) : NULL;

        if (box == NULL || box->busy)
            continue;
        box->busy = TRUE;
        g_thread_pool_push(drafts->pool, box, NULL);
    }
    g_mutex_unlock(&drafts->lock);
}

static gpointer
run(gpointer data)
{
    Drafts *drafts = data;

    g_mutex_lock(&drafts->lock);
    while (!drafts->stop) {
        drafts->wake = FALSE;
        g_mutex_unlock(&drafts->lock);
        begin_turns(drafts);
        g_mutex_lock(&drafts->lock);
        gint64 until = g_get_monotonic_time() + G_TIME_SPAN_SECOND;
        while (!drafts->stop && !drafts->wake)
            if (!g_cond_wait_until(&drafts->woken, &drafts->lock, until))
                break;
    }
    g_mutex_unlock(&drafts->lock);
    return NULL;
}

Drafts *
drafts_start(Relay *relay)
{
    Drafts *drafts = g_new0(Drafts, 1);

    drafts->relay = relay;
    g_mutex_init(&drafts->lock);
    g_cond_init(&drafts->woken);
    drafts->boxes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, box_free);
    drafts->permits = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    drafts->pool = g_thread_pool_new(serve, drafts, THREADS, FALSE, NULL);
    drafts->thread = g_thread_new("drafts", run, drafts);
    return drafts;
}

void
drafts_stop(Drafts *drafts)
{
    g_mutex_lock(&drafts->lock);
    drafts->stop = TRUE;
    g_cond_signal(&drafts->woken);
    g_mutex_unlock(&drafts->lock);
    g_thread_join(drafts->thread);
    g_thread_pool_free(drafts->pool, FALSE, TRUE);
}

void
drafts_free(Drafts *drafts)
{
    g_hash_table_destroy(drafts->boxes);
    g_hash_table_destroy(drafts->permits);
    g_cond_clear(&drafts->woken);
    g_mutex_clear(&drafts->lock);
    g_free(drafts);
}

gboolean
drafts_guard(const Config *config, const Item *item)
{
    return item->state == STATE_DELAYED && has_mailbox(config_account(config, item->account));
}

void
drafts_ask(Drafts *drafts, const Item *item)
{
    g_mutex_lock(&drafts->lock);
    DraftsBox *box = find_box(drafts, item->account);
    if (g_hash_table_add(box->asked, g_strdup(item->id))) {
        drafts->wake = TRUE;
        g_cond_signal(&drafts->woken);
    }
    g_mutex_unlock(&drafts->lock);
}

gboolean
drafts_asked(Drafts *drafts, const Config *config, const char *id, const char *account)
{
    gboolean asked = FALSE;

    if (!has_mailbox(config_account(config, account)))
        return FALSE;
    g_mutex_lock(&drafts->lock);
    const DraftsBox *box = g_hash_table_lookup(drafts->boxes, account);
    if (box != NULL)
        asked = g_hash_table_contains(box->asked, id) ||
                g_hash_table_contains(box->looked_for, id);
    g_mutex_unlock(&drafts->lock);
    return asked;
}

gboolean
drafts_permit(Relay *relay, const Config *config, const Item *item)
{
    Drafts *drafts = relay->drafts;

    if (!drafts_guard(config, item))
        return TRUE;
    g_mutex_lock(&drafts->lock);
    const gint64 *when = g_hash_table_lookup(drafts->permits, item->id);
    gboolean good = when != NULL && g_get_monotonic_time() - *when < seconds(PERMIT_LIFE);
    g_hash_table_remove(drafts->permits, item->id);
    g_mutex_unlock(&drafts->lock);
    return good;
}

gboolean
drafts_describe(const Request *request, const Item *item, GVariantDict *dict, GError **error)
{
    Drafts *drafts = request->relay->drafts;
    g_autoptr(Draft) draft = NULL;

    if (!draft_is_wanted(item->state) ||
        !has_mailbox(config_account(request->config, item->account)))
        return TRUE;
    if (!draft_find(request->relay->db, item->id, &draft, error))
        return FALSE;
    g_variant_dict_insert(dict, "draft_since", "x", draft != NULL ? draft->put : 0);
    g_autofree char *place = draft != NULL ? draft_describe_place(draft) : g_strdup("");
    g_variant_dict_insert(dict, "draft_place", "s", place);
    g_mutex_lock(&drafts->lock);
    const DraftsBox *box = find_box(drafts, item->account);
    g_variant_dict_insert(dict, "draft_trouble", "s", box->error != NULL ? box->error : "");
    g_mutex_unlock(&drafts->lock);
    return TRUE;
}

GVariant *
drafts_view(const Request *request)
{
    Drafts *drafts = request->relay->drafts;
    GVariantBuilder view;
    GHashTableIter iter;
    gpointer value;

    g_variant_builder_init(&view, G_VARIANT_TYPE("aa{sv}"));
    g_mutex_lock(&drafts->lock);
    g_hash_table_iter_init(&iter, drafts->boxes);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        const DraftsBox *box = value;
        GVariantDict dict;

        if (box->error == NULL || !people_may_know(request, box->account))
            continue;
        g_variant_dict_init(&dict, NULL);
        g_variant_dict_insert(&dict, "account", "s", box->account);
        g_variant_dict_insert(&dict, "error", "s", box->error);
        g_variant_dict_insert(&dict, "since", "x", box->since);
        g_variant_builder_add_value(&view, g_variant_dict_end(&dict));
    }
    g_mutex_unlock(&drafts->lock);
    return g_variant_builder_end(&view);
}
