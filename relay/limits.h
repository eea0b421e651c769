/* limits.h - how much an agent may make us keep
 *
 * These limits are ours, so what is beyond them is a "try later", not a refusal (XC14): an
 * error, ERROR_TEMP, that names the key of exeat.conf. Writer's thread only. */
#pragma once

#include "relay/request.h"

/* Whether the login may bring another message now, whatever becomes of it (XF22). */
gboolean limits_pace(Request *request, GError **error);

/* Counts it for that. */
gboolean limits_count(Request *request, GError **error);

/* Whether the texts of a message that is not kept may be: it goes on without them. */
gboolean limits_texts(Request *request, gboolean *room_out, GError **error);

/* Whether there is room for another item that waits, and for its bytes. */
gboolean limits_room(Request *request, GError **error);
