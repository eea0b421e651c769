#include "relay/visitors.h"

enum { MILTER_MOST = 512, USER_MOST = 8, COMPLAINT_PAUSE = 10 };

static GMutex lock;
static GHashTable *open_now; /* uid to number of connections */
static gint64 complained;    /* monotonic, µs */

static guint
count(uid_t uid)
{
    return GPOINTER_TO_UINT(g_hash_table_lookup(open_now, GUINT_TO_POINTER(uid)));
}

gboolean
visitors_enter(uid_t uid, gboolean milter)
{
    g_mutex_lock(&lock);
    if (open_now == NULL)
        open_now = g_hash_table_new(NULL, NULL);
    guint others = count(uid);
    gboolean room = others < (milter ? MILTER_MOST : USER_MOST);
    if (room)
        g_hash_table_insert(open_now, GUINT_TO_POINTER(uid), GUINT_TO_POINTER(others + 1));
    g_mutex_unlock(&lock);
    return room;
}

void
visitors_leave(uid_t uid)
{
    g_mutex_lock(&lock);
    guint others = count(uid) - 1;
    if (others == 0)
        g_hash_table_remove(open_now, GUINT_TO_POINTER(uid));
    else
        g_hash_table_insert(open_now, GUINT_TO_POINTER(uid), GUINT_TO_POINTER(others));
    g_mutex_unlock(&lock);
}

gboolean
visitors_may_complain(void)
{
    gint64 now = g_get_monotonic_time();

    g_mutex_lock(&lock);
    gboolean may = complained == 0 || now - complained > COMPLAINT_PAUSE * G_TIME_SPAN_SECOND;
    if (may)
        complained = now;
    g_mutex_unlock(&lock);
    return may;
}
