/* trusted.h - reading the files that decide what may leave
 *
 * exeat.conf and the policies must belong to root or to the user who reads them, and be
 * writable by their owner only (XF16). Owner and mode are those of the opened file, so that it
 * cannot be exchanged in between; an access list shows in the bits of the group (acl(5)). */
#pragma once

#include <glib.h>

/* The whole file as UTF-8 text without NUL, at most 1 MiB. The caller frees. NULL:
 * ERROR_CONFIG with the file's name, what was found and what was expected, or ERROR_TEMP when
 * reading fails. */
char *trusted_read(const char *path, GError **error);

/* The same for a table that is made for another program: at most 16 MiB. */
char *trusted_read_table(const char *path, GError **error);

/* As trusted_read for a password: a file that group or others may read is refused too. Root
 * may read anybody's. */
char *trusted_read_secret(const char *path, GError **error);

/* Whether it can be read, with the same errors; "" names no file and passes. */
gboolean trusted_check(const char *path, GError **error);
gboolean trusted_check_secret(const char *path, GError **error);
