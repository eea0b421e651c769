#include "relay/send-private.h"

#include "lib/log.h"
#include "relay/schedule.h"

/* A message is prepared and recorded while others have the sessions. FEW: when no more than
 * these are left, the schedule is asked for the next. */
enum { SESSIONS = 4, THREADS = 2 * SESSIONS, FEW = 2 * THREADS };

struct _Sender {
    Relay *relay;
    GThreadPool *pool;
    GMutex lock;
    GHashTable *under_way; /* ids */
    GCond session_ended;
    guint sessions;
    Connections *connections;
};

static void
transmit(Sender *sender, Passage *passage)
{
    g_mutex_lock(&sender->lock);
    while (sender->sessions >= SESSIONS)
        g_cond_wait(&sender->session_ended, &sender->lock);
    sender->sessions++;
    g_mutex_unlock(&sender->lock);

    passage_transmit(passage, sender->connections);

    g_mutex_lock(&sender->lock);
    sender->sessions--;
    g_cond_signal(&sender->session_ended);
    g_mutex_unlock(&sender->lock);
}

static void
send_item(gpointer data, gpointer user_data)
{
    Sender *sender = user_data;
    g_autoptr(GError) error = NULL;
    Passage passage = {
        .relay = sender->relay,
        .config = relay_config(sender->relay),
        .id = data,
        .fd = -1,
    };

    if (!writer_run(sender->relay->writer, passage_begin, &passage, &error))
        log_error("%s: not sent now: %s", passage.id, error->message);
    else if (passage.item != NULL) {
        transmit(sender, &passage);
        passage_record(&passage);
    }
    passage_report(&passage);
    g_mutex_lock(&sender->lock);
    g_hash_table_remove(sender->under_way, passage.id);
    gboolean few = g_hash_table_size(sender->under_way) <= FEW;
    g_mutex_unlock(&sender->lock);
    gboolean moved = passage.item != NULL || passage.said != NULL;
    passage_clear(&passage);
    if (moved && few) /* else the same item would be tried in a circle */
        schedule_wake(sender->relay->schedule);
}

Sender *
sender_start(Relay *relay)
{
    Sender *sender = g_new0(Sender, 1);

    sender->relay = relay;
    g_mutex_init(&sender->lock);
    g_cond_init(&sender->session_ended);
    sender->under_way = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    sender->connections = connections_new();
    sender->pool = g_thread_pool_new(send_item, sender, THREADS, FALSE, NULL);
    return sender;
}

void
sender_stop(Sender *sender)
{
    g_thread_pool_free(sender->pool, TRUE, TRUE);
    g_hash_table_destroy(sender->under_way);
    connections_free(sender->connections);
    g_cond_clear(&sender->session_ended);
    g_mutex_clear(&sender->lock);
    g_free(sender);
}

gboolean
sender_has(Sender *sender, const char *id)
{
    g_mutex_lock(&sender->lock);
    gboolean has = g_hash_table_contains(sender->under_way, id);
    g_mutex_unlock(&sender->lock);
    return has;
}

void
sender_tidy(Sender *sender)
{
    g_autoptr(Config) config = relay_config(sender->relay);

    connections_tidy(sender->connections, config, g_get_monotonic_time());
}

void
sender_push(Sender *sender, const char *id)
{
    g_mutex_lock(&sender->lock);
    gboolean fresh = g_hash_table_add(sender->under_way, g_strdup(id));
    g_mutex_unlock(&sender->lock);
    if (fresh)
        g_thread_pool_push(sender->pool, g_strdup(id), NULL);
}
