#include "relay/schedule.h"

#include "lib/error.h"
#include "lib/log.h"
#include "relay/clock.h"
#include "relay/drafts.h"
#include "relay/prune.h"
#include "relay/record.h"
#include "relay/review.h"
#include "relay/send.h"
#include "relay/stats.h"

/* How many items one look may set in motion: a jump of the clock empties no queue at once. */
enum { AT_ONCE = 64, SLACK_US = 10000 };

struct _Schedule {
    Relay *relay;
    GThread *thread;
    GMutex lock;
    GCond woken;
    gboolean wake, stop, read_again;
    Pruner pruner;
    Review review;
    gint64 watch_next;
};

typedef struct {
    Relay *relay;
    Config *config;
    GPtrArray *leaving; /* of Item *, for the sender */
} Look;

static gboolean
expire(Db *db, const Item *item, gint64 now, GError **error)
{
    Move done;

    return queue_move(db, item->id, item->state, STATE_EXPIRED, "relay",
                      "nobody decided in time", now, &done, error);
}

gboolean
schedule_load(Db *db, const char *id, Item **item_out, GError **error)
{
    g_autoptr(GError) trouble = NULL;

    if (queue_load(db, id, item_out, &trouble))
        return TRUE;
    if (!g_error_matches(trouble, EXEAT_ERROR, ERROR_INTEGRITY)) {
        g_propagate_error(error, g_steal_pointer(&trouble));
        return FALSE;
    }
    log_error("%s; it stays as it is", trouble->message);
    *item_out = NULL;
    return queue_put_aside(db, id, error);
}

/* What has been set in motion already is passed over: much of it, by a slow way, keeps nothing
 * else from its turn. */
static gboolean
is_new(const char *id, const char *account, gpointer data)
{
    const Look *seen = data;

    return sender_wants(seen->relay->sender, seen->config, id, account) &&
           !drafts_asked(seen->relay->drafts, seen->config, id, account);
}

/* In the writer: what is due now. Sending itself checks everything again. */
static gboolean
look(gpointer data, GError **error)
{
    Look *seen = data;
    Db *db = seen->relay->db;
    gint64 now;
    gboolean steady = clock_is_steady(&now);
    g_autoptr(GPtrArray) due = queue_due(db, now, AT_ONCE, is_new, seen, error);

    if (due == NULL)
        return FALSE;
    for (guint i = 0; i < due->len; i++) {
        const char *id = g_ptr_array_index(due, i);
        g_autoptr(Item) item = NULL;

        if (!schedule_load(db, id, &item, error))
            return FALSE;
        if (item == NULL || (!steady && item->state != STATE_APPROVED))
            continue;
        if (item->state == STATE_DRAFT || item->state == STATE_HELD) {
            if (!expire(db, item, now, error))
                return FALSE;
        } else if (drafts_guard(seen->config, item)) {
            drafts_ask(seen->relay->drafts, item);
        } else {
            g_ptr_array_add(seen->leaving, g_steal_pointer(&item));
        }
    }
    return TRUE;
}

static void
act(Relay *relay)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) leaving = g_ptr_array_new_with_free_func((GDestroyNotify)item_free);
    g_autoptr(Config) config = relay_config(relay);
    Look seen = {.relay = relay, .config = config, .leaving = leaving};

    if (!writer_run(relay->writer, look, &seen, &error)) {
        log_error("what is due cannot be looked up: %s", error->message);
        return;
    }
    for (guint i = 0; i < leaving->len; i++) {
        const Item *item = g_ptr_array_index(leaving, i);

        sender_push(relay->sender, config, item->id, item->account);
    }
}

/* Times are whole seconds: the next look is soon after the next one begins, so that nothing is
 * late by much. Monotonic. */
static gint64
next_look(void)
{
    gint64 passed = g_get_real_time() % G_TIME_SPAN_SECOND;

    return g_get_monotonic_time() + G_TIME_SPAN_SECOND - passed + SLACK_US;
}

static gpointer
run(gpointer data)
{
    Schedule *schedule = data;

    g_mutex_lock(&schedule->lock);
    while (!schedule->stop) {
        schedule->wake = FALSE;
        if (schedule->read_again)
            review_begin(&schedule->review);
        schedule->read_again = FALSE;
        g_mutex_unlock(&schedule->lock);
        record_tick(schedule->relay);
        gboolean more = review_step(schedule->relay, &schedule->review);
        act(schedule->relay);
        sender_tidy(schedule->relay->sender);
        prune_step(schedule->relay, &schedule->pruner);
        stats_watch(schedule->relay, &schedule->watch_next);
        g_mutex_lock(&schedule->lock);
        gint64 until = next_look();
        while (!schedule->wake && !schedule->stop && !more)
            if (!g_cond_wait_until(&schedule->woken, &schedule->lock, until))
                break;
    }
    g_mutex_unlock(&schedule->lock);
    return NULL;
}

Schedule *
schedule_start(Relay *relay)
{
    Schedule *schedule = g_new0(Schedule, 1);

    schedule->relay = relay;
    schedule->read_again = TRUE; /* the rules may be others than before the start */
    g_mutex_init(&schedule->lock);
    g_cond_init(&schedule->woken);
    schedule->thread = g_thread_new("schedule", run, schedule);
    return schedule;
}

void
schedule_wake(Schedule *schedule)
{
    if (schedule == NULL)
        return;
    g_mutex_lock(&schedule->lock);
    schedule->wake = TRUE;
    g_cond_signal(&schedule->woken);
    g_mutex_unlock(&schedule->lock);
}

void
schedule_review(Schedule *schedule)
{
    g_mutex_lock(&schedule->lock);
    schedule->read_again = TRUE;
    g_mutex_unlock(&schedule->lock);
    schedule_wake(schedule);
}

void
schedule_stop(Schedule *schedule)
{
    g_mutex_lock(&schedule->lock);
    schedule->stop = TRUE;
    g_cond_signal(&schedule->woken);
    g_mutex_unlock(&schedule->lock);
    g_thread_join(schedule->thread);
}

void
schedule_free(Schedule *schedule)
{
    g_cond_clear(&schedule->woken);
    g_mutex_clear(&schedule->lock);
    g_free(schedule);
}
