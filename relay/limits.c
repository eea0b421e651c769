#include "relay/limits.h"

#include "lib/error.h"
#include "store/keep.h"
#include "store/pace.h"
#include "store/queue.h"

static gboolean
is_below(guint count, guint limit, const char *login, const char *key, GError **error)
{
    if (count < limit)
        return TRUE;
    g_set_error(error, EXEAT_ERROR, ERROR_TEMP,
                "login %s has brought %u messages: the %s is reached", login, count, key);
    return FALSE;
}

gboolean
limits_pace(Request *request, GError **error)
{
    const char *login = request->item->login;
    guint hour, day;

    return pace_count(request->relay->db, login, request->now, &hour, &day, error) &&
           is_below(hour, request->config->hour_limit, login, "hour-limit", error) &&
           is_below(day, request->config->day_limit, login, "day-limit", error);
}

gboolean
limits_room(Request *request, GError **error)
{
    guint counts[STATE_COUNT], waiting;
    guint64 bytes;

    if (!queue_count(request->relay->db, request->item->account, counts, error))
        return FALSE;
    waiting = counts[STATE_HELD] + counts[STATE_DRAFT] + counts[STATE_DELAYED] +
              counts[STATE_APPROVED];
    if (waiting >= request->config->waiting_limit) {
        g_set_error(error, EXEAT_ERROR, ERROR_TEMP,
                    "account %s has %u waiting items: the waiting-limit is reached",
                    request->item->account, waiting);
        return FALSE;
    }
    if (!keep_sum(request->relay->db, request->item->account, &bytes, error))
        return FALSE;
    if (bytes + request->item->size <= request->config->store_limit)
        return TRUE;
    g_set_error(error, EXEAT_ERROR, ERROR_TEMP,
                "account %s keeps %" G_GUINT64_FORMAT " bytes: the store-limit is reached",
                request->item->account, bytes);
    return FALSE;
}
