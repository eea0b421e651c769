/* trace.h - a message without what the way here wrote into it
 *
 * A mail server that tries again may have put another Received in front, with another queue id
 * and time: it is the same message for all that (XF22). */
#pragma once

#include <glib.h>

/* The sum of the message without the Received fields of its head (RFC 5321, section 4.4), in
 * hexadecimal; "" when it has none, or a head of more than 64 KiB. The caller frees. fd: read
 * from offset 0 to its end without moving the file position, which may shrink meanwhile: it is
 * never mapped. size: as for pread_most. NULL: ERROR_TEMP. */
char *trace_sum(int fd, guint64 size, GError **error);
