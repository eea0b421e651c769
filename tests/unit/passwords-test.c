/* The file of passwords: what is read back, and what is refused. */
#include "lib/passwords.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib/gstdio.h>

#define SALT "000102030405060708090a0b0c0d0e0f"
#define HASH SALT SALT

/* Returns the path of a new file, for remove_file. */
static char *
write_file(const char *text, mode_t mode)
{
    g_autoptr(GError) error = NULL;
    char *path = NULL;
    int fd = g_file_open_tmp("exeat-passwords-XXXXXX", &path, &error);

    g_assert_no_error(error);
    g_assert_cmpint(write(fd, text, strlen(text)), ==, (gssize)strlen(text));
    g_assert_cmpint(fchmod(fd, mode), ==, 0);
    close(fd);
    return path;
}

static void
remove_file(char *path)
{
    g_assert_cmpint(g_unlink(path), ==, 0);
    g_free(path);
}

static void
test_read(void)
{
    g_autoptr(GError) error = NULL;
    Password password = {0};

    memset(password.salt, 0xa5, sizeof password.salt);
    password.hash[31] = 7;
    g_autofree char *line = passwords_format("4003", &password);
    g_autofree char *text = g_strconcat("# approvers\n\n4002:" SALT ":" HASH "\n", line, NULL);
    char *path = write_file(text, 0640);
    g_autoptr(GArray) passwords = passwords_read(path, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(passwords->len, ==, 2);
    const Password *found = passwords_find(passwords, 4003);
    g_assert_nonnull(found);
    g_assert_cmpmem(found->salt, PASSWORD_SALT, password.salt, PASSWORD_SALT);
    g_assert_cmpmem(found->hash, PASSWORD_HASH, password.hash, PASSWORD_HASH);
    g_assert_cmpuint(passwords_find(passwords, 4002)->salt[15], ==, 15);
    g_assert_null(passwords_find(passwords, 4001));
    remove_file(path);
}

static void
test_refused(void)
{
    static const struct {
        const char *text;
        mode_t mode;
        const char *expected;
    } rows[] = {
        {"4002:" SALT ":" HASH "\n", 0644, "only its owner and group may read"},
        {"4002:" SALT ":" HASH "\n", 0660, "only its owner may write"},
        {"4002:" SALT "\n", 0600, ":1: expected user:salt:hash"},
        {"\n4002:" SALT ":" HASH ":\n", 0600, ":2: expected user:salt:hash"},
        {"4002:" SALT ":" SALT "\n", 0600, "user:salt:hash"},
        {"4002:" HASH ":" HASH "\n", 0600, "user:salt:hash"},
        {"4002:xx0102030405060708090a0b0c0d0e0f:" HASH "\n", 0600, "user:salt:hash"},
        {"4002:" SALT ":" HASH "\r\n", 0600, "user:salt:hash"},
        {"no such user:" SALT ":" HASH "\n", 0600, ":1: expected a user of this machine"},
        {"4002:" SALT ":" HASH "\n4002:" SALT ":" HASH "\n", 0600, ":2: expected each user"},
        {"secret\n", 0600, "user:salt:hash"},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(GError) error = NULL;
        char *path = write_file(rows[i].text, rows[i].mode);

        g_test_message("%s", rows[i].text);
        g_assert_null(passwords_read(path, &error));
        g_assert_nonnull(error);
        g_assert_nonnull(strstr(error->message, rows[i].expected));
        g_assert_null(strstr(error->message, "secret"));
        remove_file(path);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/passwords/read", test_read);
    g_test_add_func("/passwords/refused", test_refused);
    return g_test_run();
}
