/* turn.h - large messages are read by turns
 *
 * Reading takes several times the memory of what is read, so that hundreds of large messages
 * at once would take it all. A few of them at a time keep the processors as busy. */
#pragma once

#include <glib.h>

/* Waits until a message of so many bytes may be read; a small one never waits. FALSE with
 * ERROR_TEMP after a minute. Each TRUE is followed by turn_end with the same size. */
gboolean turn_take(guint64 bytes, GError **error);

void turn_end(guint64 bytes);
