/* handover.h - conversations that the agent hands back, or a person takes back (B5)
 *
 * "Agent-Action: hand-over" locks the conversation of its message, and so does an approver.
 * Until an approver unlocks it, what the agent submits in it has the fact "locked" and never
 * goes by itself; what waits in it is judged again when it is due, and stays. That the agent
 * may lock grants it nothing. Writer jobs. */
#pragma once

#include "relay/request.h"

/* The fact "locked": the message hands over, or its conversation is locked. */
gboolean handover_find(Db *db, const Item *item, gboolean *locked_out, GError **error);

/* After a submission was stored: locks its conversation if it hands over; if it is in a locked
 * one, its ids lead there from now on. */
gboolean handover_take(Request *request, GError **error);

/* {id s}: the conversation of that item. */
gboolean handover_lock(Request *request, GError **error);
gboolean handover_unlock(Request *request, GError **error);
