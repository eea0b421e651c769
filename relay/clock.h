/* clock.h - whether the time of day can be believed
 *
 * A clock that is set forward by mistake would let everything that waits expire, and end every
 * delay, in which somebody may still veto, at once. So when it goes forward by more than an
 * hour while no such time has passed, nothing of this happens for an hour: time to mend it.
 * Then it is believed. A machine that slept has a right clock. */
#pragma once

#include <glib.h>

/* Called again and again, by one thread at a time, and learns by it. FALSE: not now. A change
 * is logged. now_out: the time of day to act by. A clock that is set forward in this very
 * moment is noticed, or this is the time before it. */
gboolean clock_is_steady(gint64 *now_out);
