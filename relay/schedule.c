#include "relay/schedule.h"

#include "lib/log.h"
#include "relay/record.h"
#include "relay/send.h"
#include "store/history.h"

/* How many items one look may set in motion: a jump of the clock empties no queue at once. */
enum { AT_ONCE = 64 };

/* Seconds from one account whose history had nothing to let go to the next. */
enum { PRUNE_PAUSE = 60 };

struct _Schedule {
    Relay *relay;
    GThread *thread;
    GMutex lock;
    GCond woken;
    gboolean wake, stop;
    guint turn;         /* counts the accounts whose history was pruned */
    gint64 pruned_last; /* when */
    gint64 prune_next;
};

typedef struct {
    Relay *relay;
    GPtrArray *leaving; /* ids for the sender */
} Look;

static gboolean
expire(Db *db, const Item *item, gint64 now, GError **error)
{
    Move done;

    return queue_move(db, item->id, item->state, STATE_EXPIRED, "relay",
                      "nobody decided in time", now, &done, error);
}

/* In the writer: what is due now. Sending itself checks everything again. */
static gboolean
look(gpointer data, GError **error)
{
    Look *seen = data;
    Db *db = seen->relay->db;
    gint64 now = relay_now();
    g_autoptr(GPtrArray) due = queue_due(db, now, AT_ONCE, error);

    if (due == NULL)
        return FALSE;
    for (guint i = 0; i < due->len; i++) {
        const char *id = g_ptr_array_index(due, i);
        g_autoptr(Item) item = NULL;

        if (!queue_load(db, id, &item, error))
            return FALSE;
        if (item == NULL)
            continue;
        if (item->state == STATE_DRAFT || item->state == STATE_HELD) {
            if (!expire(db, item, now, error))
                return FALSE;
        } else {
            g_ptr_array_add(seen->leaving, g_strdup(id));
        }
    }
    return TRUE;
}

static void
act(Relay *relay)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) leaving = g_ptr_array_new_with_free_func(g_free);
    Look seen = {.relay = relay, .leaving = leaving};

    if (!writer_run(relay->writer, look, &seen, &error)) {
        log_error("what is due cannot be looked up: %s", error->message);
        return;
    }
    for (guint i = 0; i < leaving->len; i++)
        sender_push(relay->sender, g_ptr_array_index(leaving, i));
}

typedef struct {
    Db *db;
    const Config *config;
    const Account *account;
    gint64 now;
    gboolean more;
} Pruning;

static gboolean
prune(gpointer data, GError **error)
{
    Pruning *pruning = data;
    const Config *config = pruning->config;

    return history_prune(pruning->db, pruning->account->name,
                         pruning->now - config->received_keep, config->received_limit,
                         &pruning->more, error);
}

/* One small step for one account, and soon another while there is more to do. */
static void
prune_step(Schedule *schedule)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(Config) config = relay_config(schedule->relay);
    gint64 now = relay_now();

    /* A clock that went back must not put it off. */
    if (now < schedule->prune_next && now >= schedule->pruned_last)
        return;
    Pruning pruning = {
        .db = schedule->relay->db,
        .config = config,
        .account = g_ptr_array_index(config->accounts, schedule->turn % config->accounts->len),
        .now = now,
    };
    if (!writer_run(schedule->relay->writer, prune, &pruning, &error))
        log_error("the history of %s cannot be pruned: %s", pruning.account->name,
                  error->message);
    schedule->turn += !pruning.more;
    schedule->pruned_last = now;
    schedule->prune_next = now + (pruning.more ? 1 : PRUNE_PAUSE);
}

static gpointer
run(gpointer data)
{
    Schedule *schedule = data;

    g_mutex_lock(&schedule->lock);
    while (!schedule->stop) {
        schedule->wake = FALSE;
        g_mutex_unlock(&schedule->lock);
        record_tick(schedule->relay);
        act(schedule->relay);
        prune_step(schedule);
        g_mutex_lock(&schedule->lock);
        gint64 until = g_get_monotonic_time() + G_TIME_SPAN_SECOND;
        while (!schedule->wake && !schedule->stop)
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
