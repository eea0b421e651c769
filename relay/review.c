#include "relay/review.h"

#include "lib/error.h"
#include "lib/log.h"
#include "relay/authority.h"
#include "relay/send.h"

enum { AT_ONCE = 16 };

typedef struct {
    Relay *relay;
    Review review; /* as it will be when the step is committed */
} Step;

void
review_begin(Review *review)
{
    review->open = TRUE;
    review->last[0] = '\0';
}

static gboolean
judge(Db *db, const Config *config, const char *id, gint64 now, GError **error)
{
    g_autoptr(GError) trouble = NULL;
    g_autoptr(Item) item = NULL;
    g_autofree char *why = NULL;
    gboolean valid;
    Tier tier;

    if (!queue_load(db, id, &item, &trouble)) {
        if (g_error_matches(trouble, EXEAT_ERROR, ERROR_INTEGRITY))
            return TRUE; /* the schedule puts it aside when it is due */
        g_propagate_error(error, g_steal_pointer(&trouble));
        return FALSE;
    }
    if (!authority_check(db, config, item, now, &valid, &tier, &why, error))
        return FALSE;
    return valid || send_back(db, item, tier, why, now, error);
}

static gboolean
step(gpointer data, GError **error)
{
    Step *taken = data;
    Review *review = &taken->review;
    Db *db = taken->relay->db;
    g_autoptr(Config) config = relay_config(taken->relay);
    g_autoptr(GPtrArray) ids = queue_delayed_after(db, review->last, AT_ONCE, error);

    if (ids == NULL)
        return FALSE;
    for (guint i = 0; i < ids->len; i++) {
        const char *id = g_ptr_array_index(ids, i);

        if (!judge(db, config, id, relay_now(), error))
            return FALSE;
        g_strlcpy(review->last, id, sizeof review->last);
    }
    review->open = ids->len == AT_ONCE;
    return TRUE;
}

gboolean
review_step(Relay *relay, Review *review)
{
    g_autoptr(GError) error = NULL;
    Step taken = {.relay = relay, .review = *review};

    if (!review->open)
        return FALSE;
    if (!writer_run(relay->writer, step, &taken, &error)) {
        log_error("what is delayed cannot be judged again now: %s", error->message);
        return FALSE;
    }
    *review = taken.review;
    return review->open;
}
