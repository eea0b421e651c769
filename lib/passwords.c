#include "lib/passwords.h"

#include <string.h>
#include <sys/stat.h>

#include <glib/gstdio.h>

#include "lib/error.h"
#include "lib/people.h"
#include "lib/trusted.h"

static gboolean
fail(const char *path, guint line, const char *expected, GError **error)
{
    /* Never what was found: it may be a password, written there by mistake. */
    g_set_error(error, EXEAT_ERROR, ERROR_CONFIG, "%s:%u: expected %s", path, line, expected);
    return FALSE;
}

static gboolean
read_hex(const char *text, guint8 *bytes, gsize length)
{
    if (strlen(text) != 2 * length)
        return FALSE;
    for (gsize i = 0; i < length; i++) {
        int high = g_ascii_xdigit_value(text[2 * i]);
        int low = g_ascii_xdigit_value(text[2 * i + 1]);

        if (high < 0 || low < 0)
            return FALSE;
        bytes[i] = (guint8)(high << 4 | low);
    }
    return TRUE;
}

static gboolean
read_line(const char *path, guint number, const char *line, GArray *passwords, GError **error)
{
    g_auto(GStrv) fields = g_strsplit(line, ":", -1);
    Password password;
    gboolean known;

    if (g_strv_length(fields) != 3 ||
        !read_hex(fields[1], password.salt, sizeof password.salt) ||
        !read_hex(fields[2], password.hash, sizeof password.hash))
        return fail(path, number, "user:salt:hash as “exeat passwd” prints it", error);
    if (!people_find_user(fields[0], &password.uid, &known, error))
        return FALSE;
    if (!known)
        return fail(path, number, "a user of this machine", error);
    if (passwords_find(passwords, password.uid) != NULL)
        return fail(path, number, "each user once", error);
    g_array_append_val(passwords, password);
    return TRUE;
}

GArray *
passwords_read(const char *path, GError **error)
{
    g_autofree char *text = trusted_read(path, error);
    g_autoptr(GArray) passwords = g_array_new(FALSE, TRUE, sizeof(Password));
    GStatBuf status;

    if (text == NULL)
        return NULL;
    if (g_stat(path, &status) != 0 || (status.st_mode & (S_IROTH | S_IXOTH)) != 0) {
        g_set_error(error, EXEAT_ERROR, ERROR_CONFIG,
                    "%s: expected a file that only its owner and group may read", path);
        return NULL;
    }
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (guint i = 0; lines[i] != NULL; i++)
        if (*lines[i] != '\0' && *lines[i] != '#' &&
            !read_line(path, i + 1, lines[i], passwords, error))
            return NULL;
    return g_steal_pointer(&passwords);
}

const Password *
passwords_find(const GArray *passwords, uid_t uid)
{
    for (guint i = 0; i < passwords->len; i++) {
        const Password *password = &g_array_index(passwords, Password, i);

        if (password->uid == uid)
            return password;
    }
    return NULL;
}

static void
add_hex(GString *line, const guint8 *bytes, gsize length)
{
    for (gsize i = 0; i < length; i++)
        g_string_append_printf(line, "%02x", bytes[i]);
}

char *
passwords_format(const char *user, const Password *password)
{
    GString *line = g_string_new(user);

    g_string_append_c(line, ':');
    add_hex(line, password->salt, sizeof password->salt);
    g_string_append_c(line, ':');
    add_hex(line, password->hash, sizeof password->hash);
    return g_string_free(line, FALSE);
}
