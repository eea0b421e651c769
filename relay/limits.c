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

/* The record without texts, about as large as what came. */
static guint64
record_size(const Request *request)
{
    guint64 came = g_variant_get_size(request->arguments);

    return came - MIN(came, extract_texts_size(request->item->extract));
}

static gboolean
is_small(const Request *request, guint64 bytes, GError **error)
{
    const Item *item = request->item;

    if (bytes + record_size(request) <= request->config->record_limit)
        return TRUE;
    g_set_error(error, EXEAT_ERROR, ERROR_TEMP,
                "login %s has brought %" G_GUINT64_FORMAT
                " bytes of recipients, claims and names: the record-limit is reached",
                item->login, bytes);
    return FALSE;
}

gboolean
limits_pace(Request *request, GError **error)
{
    const char *login = request->item->login;
    Pace pace;

    return pace_count(request->relay->db, login, request->now, &pace, error) &&
           is_below(pace.hour, request->config->hour_limit, login, "hour-limit", error) &&
           is_below(pace.day, request->config->day_limit, login, "day-limit", error) &&
           is_small(request, pace.bytes, error);
}

gboolean
limits_count(Request *request, GError **error)
{
    return pace_add(request->relay->db, request->item->login, record_size(request),
                    request->now, error);
}

gboolean
limits_texts(Request *request, gboolean *room_out, GError **error)
{
    guint64 bytes;

    if (!keep_sum(request->relay->db, request->item->account, &bytes, error))
        return FALSE;
    *room_out =
        bytes + extract_texts_size(request->item->extract) <= request->config->store_limit;
    return TRUE;
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
    if (bytes + request->item->size + extract_texts_size(request->item->extract) <=
        request->config->store_limit)
        return TRUE;
    g_set_error(error, EXEAT_ERROR, ERROR_TEMP,
                "account %s keeps %" G_GUINT64_FORMAT " bytes: the store-limit is reached",
                request->item->account, bytes);
    return FALSE;
}
