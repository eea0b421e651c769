/* digest.h - the action digest: what an approval is bound to (E26, E30)
 *
 * SHA-256 over fields, each preceded by its length as 8 bytes, big endian:
 *   "exeat-action-1", account, "smtp.send",
 *   sender, number of its parameters (8 bytes), each parameter,
 *   number of distinct recipients (8 bytes), then each in byte order of its encoding:
 *       address, number of parameters (8 bytes), each parameter,
 *   the message, byte for byte as transmitted before dot-stuffing.
 * A number is a field like any other: its length, 8, precedes it. Parameters are sorted in
 * byte order. Two recipients are the same when address and parameters are. */
#pragma once

#include "lib/envelope.h"

#define DIGEST_LENGTH 64 /* hex digits */

/* The digest in lower-case hex; the caller frees. fd: the message, read from offset 0 to its
 * end without moving the file position. Errors: ERROR_TEMP when it cannot be read. */
char *digest_action(const char *account, const Envelope *envelope, int fd, GError **error);
