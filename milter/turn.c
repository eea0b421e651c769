#include "milter/turn.h"

#include "lib/error.h"

enum { LARGE_BYTES = 256 * 1024, AT_ONCE = 4, WAIT_SECONDS = 60 };

static struct {
    GMutex lock;
    GCond ended;
    guint taken;
} turns;

gboolean
turn_take(guint64 bytes, GError **error)
{
    gint64 until = g_get_monotonic_time() + WAIT_SECONDS * G_TIME_SPAN_SECOND;
    gboolean in_time = TRUE;

    if (bytes < LARGE_BYTES)
        return TRUE;
    g_mutex_lock(&turns.lock);
    while (turns.taken >= AT_ONCE && in_time)
        in_time = g_cond_wait_until(&turns.ended, &turns.lock, until);
    gboolean taken = turns.taken < AT_ONCE;
    turns.taken += taken;
    g_mutex_unlock(&turns.lock);
    if (!taken)
        g_set_error(error, EXEAT_ERROR, ERROR_TEMP,
                    "too many large messages at once: no turn within %d seconds",
                    WAIT_SECONDS);
    return taken;
}

void
turn_end(guint64 bytes)
{
    if (bytes < LARGE_BYTES)
        return;
    g_mutex_lock(&turns.lock);
    turns.taken--;
    g_cond_signal(&turns.ended);
    g_mutex_unlock(&turns.lock);
}
