/* room.h - how many sessions stand at once
 *
 * As many as there are descriptors for: libmilter takes a session even when none is left for
 * what it needs, waits longer and longer then, and ends at last (XF6). Any thread. */
#pragma once

#include <glib.h>

/* Counts a session in. FALSE: there is no room, it is not counted, and that is logged now and
 * then. */
gboolean room_enter(void);

void room_leave(void);
