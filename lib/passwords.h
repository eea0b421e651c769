/* passwords.h - the file of approvers' passwords
 *
 * A line for each: user:salt:hash, salt and hash in hex, as exeat passwd prints it; a line
 * that is empty or starts with # is a comment. What the hash is, the relay knows. Others than
 * its owner and group may not even read it: who can, can try passwords in peace. Errors:
 * ERROR_CONFIG with file and line, ERROR_TEMP. */
#pragma once

#include <glib.h>
#include <sys/types.h>

#define PASSWORD_SALT 16
#define PASSWORD_HASH 32

typedef struct {
    uid_t uid;
    guint8 salt[PASSWORD_SALT];
    guint8 hash[PASSWORD_HASH];
} Password;

/* Array of Password, one for each user. */
GArray *passwords_read(const char *path, GError **error);

/* The user's; NULL when there is none. Borrowed. */
const Password *passwords_find(const GArray *passwords, uid_t uid);

/* The line for a file, without a line feed; its uid is not looked at. The caller frees. */
char *passwords_format(const char *user, const Password *password);
