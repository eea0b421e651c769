#include "relay/send-private.h"

#include "lib/log.h"
#include "relay/schedule.h"

/* A message is prepared and recorded while others have the sessions of its next hop. FEW: when
 * no more than these wait for a next hop, the schedule may give it more. */
enum { SESSIONS = 4, LANE_THREADS = 2 * SESSIONS, THREADS = 16 * LANE_THREADS, FEW = 16 };

/* What leaves by one next hop, so that a slow one keeps no other waiting. Under the sender's
 * lock; it goes with its last thread. */
typedef struct {
    char *target;
    GQueue ids; /* that wait for a thread */
    guint threads;
    guint sessions;
    GCond session_ended;
} Lane;

struct _Sender {
    Relay *relay;
    GThreadPool *pool; /* of Lane * */
    GMutex lock;
    gboolean stop;
    GHashTable *under_way; /* ids */
    GHashTable *lanes;     /* by target */
    Connections *connections;
};

static void
lane_free(gpointer data)
{
    Lane *lane = data;

    g_queue_clear_full(&lane->ids, g_free);
    g_cond_clear(&lane->session_ended);
    g_free(lane->target);
    g_free(lane);
}

/* With the lock. */
static Lane *
find_lane(Sender *sender, const char *target)
{
    Lane *lane = g_hash_table_lookup(sender->lanes, target);

    if (lane != NULL)
        return lane;
    lane = g_new0(Lane, 1);
    lane->target = g_strdup(target);
    g_queue_init(&lane->ids);
    g_cond_init(&lane->session_ended);
    g_hash_table_insert(sender->lanes, lane->target, lane);
    return lane;
}

static void
transmit(Sender *sender, Lane *lane, Passage *passage)
{
    g_mutex_lock(&sender->lock);
    while (lane->sessions >= SESSIONS)
        g_cond_wait(&lane->session_ended, &sender->lock);
    lane->sessions++;
    g_mutex_unlock(&sender->lock);

    passage_transmit(passage, sender->connections);

    g_mutex_lock(&sender->lock);
    lane->sessions--;
    g_cond_signal(&lane->session_ended);
    g_mutex_unlock(&sender->lock);
}

static void
send_item(Sender *sender, Lane *lane, char *id)
{
    g_autoptr(GError) error = NULL;
    Passage passage = {
        .relay = sender->relay,
        .config = relay_config(sender->relay),
        .id = id,
        .fd = -1,
    };

    gboolean begun = writer_run(sender->relay->writer, passage_begin, &passage, &error);
    if (!begun)
        log_error("%s: not sent now: %s", passage.id, error->message);
    else if (passage.item != NULL) {
        transmit(sender, lane, &passage);
        passage_record(&passage);
    }
    if (begun)
        passage_report(&passage);
    g_mutex_lock(&sender->lock);
    g_hash_table_remove(sender->under_way, passage.id);
    gboolean few = lane->ids.length <= FEW;
    g_mutex_unlock(&sender->lock);
    /* What the passage says of a transaction that was not committed has not happened. */
    gboolean moved = begun && (passage.item != NULL || passage.said != NULL);
    passage_clear(&passage);
    if (moved && few) /* else the same item would be tried in a circle */
        schedule_wake(sender->relay->schedule);
}

/* A thread of a lane, until nothing waits there. */
static void
work(gpointer data, gpointer user_data)
{
    Lane *lane = data;
    Sender *sender = user_data;
    char *id;

    g_mutex_lock(&sender->lock);
    while (!sender->stop && (id = g_queue_pop_head(&lane->ids)) != NULL) {
        g_mutex_unlock(&sender->lock);
        send_item(sender, lane, id);
        g_mutex_lock(&sender->lock);
    }
    if (--lane->threads == 0)
        g_hash_table_remove(sender->lanes, lane->target);
    g_mutex_unlock(&sender->lock);
}

Sender *
sender_start(Relay *relay)
{
    Sender *sender = g_new0(Sender, 1);

    sender->relay = relay;
    g_mutex_init(&sender->lock);
    sender->under_way = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    sender->lanes = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, lane_free);
    sender->connections = connections_new();
    sender->pool = g_thread_pool_new(work, sender, THREADS, FALSE, NULL);
    return sender;
}

void
sender_stop(Sender *sender)
{
    g_mutex_lock(&sender->lock);
    sender->stop = TRUE;
    g_mutex_unlock(&sender->lock);
    g_thread_pool_free(sender->pool, FALSE, TRUE);
    g_hash_table_destroy(sender->lanes);
    g_hash_table_destroy(sender->under_way);
    connections_free(sender->connections);
    g_mutex_clear(&sender->lock);
    g_free(sender);
}

/* Which next hop an account has may change while its messages wait: what is counted stays. */
static const char *
target_of(const Config *config, const char *account)
{
    return config_next_hop(config, account)->target;
}

gboolean
sender_wants(Sender *sender, const Config *config, const char *id, const char *account)
{
    g_mutex_lock(&sender->lock);
    const Lane *lane = g_hash_table_lookup(sender->lanes, target_of(config, account));
    gboolean wants = !g_hash_table_contains(sender->under_way, id) &&
                     (lane == NULL || lane->ids.length <= FEW);
    g_mutex_unlock(&sender->lock);
    return wants;
}

void
sender_tidy(Sender *sender)
{
    g_autoptr(Config) config = relay_config(sender->relay);

    connections_tidy(sender->connections, config, g_get_monotonic_time());
}

void
sender_push(Sender *sender, const Config *config, const char *id, const char *account)
{
    g_mutex_lock(&sender->lock);
    if (g_hash_table_add(sender->under_way, g_strdup(id))) {
        Lane *lane = find_lane(sender, target_of(config, account));

        g_queue_push_tail(&lane->ids, g_strdup(id));
        if (lane->threads < LANE_THREADS) {
            lane->threads++;
            g_thread_pool_push(sender->pool, lane, NULL);
        }
    }
    g_mutex_unlock(&sender->lock);
}
