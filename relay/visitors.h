/* visitors.h - how many connections each user has
 *
 * The milter's user may have many, every other few, so that no local user can keep the milter
 * or the approvers out (XF6). Any thread. */
#pragma once

#include <glib.h>
#include <sys/types.h>

/* Counts a connection in. FALSE: the user has as many as it may, and this one is not counted.
 */
gboolean visitors_enter(uid_t uid, gboolean milter);

void visitors_leave(uid_t uid);

/* TRUE at most once in ten seconds: whether to log that somebody was turned away. */
gboolean visitors_may_complain(void);
