#include "relay/visitors.h"

#include "lib/daemon.h"
#include "lib/log.h"

/* A connection of the milter brings a message, of which the sender makes a copy. */
enum { MILTER_MOST = 512, MILTER_DESCRIPTORS = 3, USER_MOST = 8 };

static GMutex lock;
static GHashTable *open_now; /* uid to number of connections */
static guint milter_most;
static gint64 complained;

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
    if (milter_most == 0)
        milter_most = daemon_capacity(MILTER_DESCRIPTORS, MILTER_MOST);
    guint others = count(uid);
    gboolean room = others < (milter ? milter_most : USER_MOST);
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
    return log_may_repeat(&complained);
}
