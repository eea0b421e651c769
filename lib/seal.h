/* seal.h - HMAC-SHA-256 under a key that the relay alone can read (RFC 2104)
 *
 * Approvals and audit entries carry a seal, so that who can write the database but not read
 * the key can neither make nor change one (XE5). The key is a file of 32 random bytes, made
 * once. It is never given to another program; who may read it may forge. */
#pragma once

#include <glib.h>

#define SEAL_KEY_BYTES 32
#define SEAL_BYTES     32
#define SEAL_LENGTH    64 /* hex digits */

typedef struct _Seal Seal;

Seal *seal_new(const guint8 key[SEAL_KEY_BYTES]);
Seal *seal_copy(const Seal *seal);
void seal_free(Seal *seal);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Seal, seal_free)

/* Makes a key file, mode 0600, that survives a power cut when this returns, and that is whole
 * or not there whenever the process ends. Works in a file beside it, with ".new" added to its
 * name. ERROR_TEMP, also when the key is there already. */
gboolean seal_make_key(const char *path, GError **error);

/* Reads a key file. ERROR_CONFIG unless it is a file of 32 bytes that belongs to the caller
 * and that nobody else may read or write (root may read anybody's); ERROR_TEMP when reading
 * fails. */
Seal *seal_open(const char *path, GError **error);

/* The seal over fields (fields.h), in lower-case hex. The caller frees. */
char *seal_over(const Seal *seal, const GByteArray *fields);

/* The same as bytes. */
void seal_bytes(const Seal *seal, const GByteArray *fields, guint8 out[SEAL_BYTES]);

/* Whether it is the seal over these fields. Takes the same time whatever differs. */
gboolean seal_fits(const Seal *seal, const GByteArray *fields, const char *claimed);
