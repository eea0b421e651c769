/* schedule.h - what happens because time passes
 *
 * One thread: items that are due leave, those that nobody decided expire (expiry never sends),
 * an approval that lapsed gives its item back to the queue, and what received mail taught is
 * let go in small steps. Due times are stored, so a restart changes nothing; the wall clock is
 * looked at every second, so a clock that jumps is noticed (XC20). */
#pragma once

#include "relay/relay.h"
#include "store/queue.h"

Schedule *schedule_start(Relay *relay);

/* Ends the thread. The sender's threads may call schedule_wake until schedule_free. */
void schedule_stop(Schedule *schedule);
void schedule_free(Schedule *schedule);

/* The rules were read again: what is delayed is judged by them. Any thread. */
void schedule_review(Schedule *schedule);

/* Loads an item as queue_load does, but a damaged record keeps nobody else waiting: it is
 * logged and put aside, never to be due again, and *item_out is NULL. In a writer job. */
gboolean schedule_load(Db *db, const char *id, Item **item_out, GError **error);

/* Something new may be due: look now. Any thread; schedule may be NULL. */
void schedule_wake(Schedule *schedule);
