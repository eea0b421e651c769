#include "relay/prune.h"

#include "lib/error.h"
#include "lib/log.h"
#include "relay/clock.h"
#include "store/history.h"
#include "store/keep.h"
#include "store/queue.h"

/* Seconds from one account that had nothing to let go to the next; messages a step. */
enum { PAUSE = 60, MESSAGES_AT_ONCE = 8 };

typedef struct {
    Db *db;
    const Config *config;
    const Account *account;
    gint64 now;
    gboolean more;
} Step;

/* A damaged record keeps its texts, and nobody else's bytes from going. */
static gboolean
drop_texts(Db *db, const char *item, GError **error)
{
    g_autoptr(GError) trouble = NULL;

    if (queue_drop_texts(db, item, &trouble))
        return TRUE;
    if (!g_error_matches(trouble, EXEAT_ERROR, ERROR_INTEGRITY)) {
        g_propagate_error(error, g_steal_pointer(&trouble));
        return FALSE;
    }
    log_error("%s; its texts stay", trouble->message);
    return TRUE;
}

/* FALSE without error in *dropped_out: nothing may go. */
static gboolean
drop_message(const Step *step, gboolean *dropped_out, GError **error)
{
    const Config *config = step->config;
    const char *account = step->account->name;
    Kept kept = {0};

    if (!keep_next(step->db, account, step->now - config->keep, config->store_limit / 2, &kept,
                   error))
        return FALSE;
    g_autofree char *item = kept.item;
    *dropped_out = item != NULL;
    return item == NULL ||
           (drop_texts(step->db, item, error) && keep_drop(step->db, account, &kept, error));
}

static gboolean
run_step(gpointer data, GError **error)
{
    Step *step = data;
    const Config *config = step->config;
    gboolean dropped = TRUE;

    if (!history_prune(step->db, step->account->name, step->now - config->received_keep,
                       config->received_limit, &step->more, error))
        return FALSE;
    for (guint i = 0; i < MESSAGES_AT_ONCE && dropped; i++)
        if (!drop_message(step, &dropped, error))
            return FALSE;
    step->more |= dropped;
    return TRUE;
}

void
prune_step(Relay *relay, Pruner *pruner)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(Config) config = relay_config(relay);
    gint64 now;

    /* A clock that went back must not put it off. */
    if (!clock_is_steady(&now) || (now < pruner->next && now >= pruner->last))
        return;
    Step step = {
        .db = relay->db,
        .config = config,
        .account = g_ptr_array_index(config->accounts, pruner->turn % config->accounts->len),
        .now = now,
    };
    if (!writer_run(relay->writer, run_step, &step, &error))
        log_error("the records of %s cannot be pruned: %s", step.account->name,
                  error->message);
    pruner->turn += !step.more;
    pruner->last = now;
    pruner->next = now + (step.more ? 1 : PAUSE);
}
