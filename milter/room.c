#include "milter/room.h"

#include "lib/daemon.h"
#include "lib/log.h"

/* A session has its connection, one to the relay and the file of a large message. */
enum { DESCRIPTORS = 3 };

static gint sessions;

gboolean
room_enter(void)
{
    static gint64 complained;
    gint most = (gint)daemon_capacity(DESCRIPTORS, G_MAXINT);

    if (g_atomic_int_add(&sessions, 1) < most)
        return TRUE;
    room_leave();
    if (log_may_repeat(&complained))
        log_warning("sessions are turned away: %d stand already, and there are descriptors "
                    "for no more (RLIMIT_NOFILE)",
                    most);
    return FALSE;
}

void
room_leave(void)
{
    g_atomic_int_add(&sessions, -1);
}
