/* XF16: rules that somebody else may write are nobody's rules. */
#include "lib/trusted.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "lib/error.h"

#define STRANGER 4002

typedef struct {
    char *folder;
    char *path;
} Files;

static void
files_begin(Files *files)
{
    g_autoptr(GError) error = NULL;

    files->folder = g_dir_make_tmp("exeat-trusted-XXXXXX", &error);
    g_assert_no_error(error);
    files->path = g_build_filename(files->folder, "file", NULL);
}

static void
files_end(Files *files)
{
    g_unlink(files->path);
    g_assert_cmpint(g_rmdir(files->folder), ==, 0);
    g_free(files->folder);
    g_free(files->path);
}

static void
write_file(const Files *files, const char *text, gsize length)
{
    g_autoptr(GError) error = NULL;

    g_file_set_contents(files->path, text, (gssize)length, &error);
    g_assert_no_error(error);
}

/* expected: what the message says after the path. */
static void
assert_refused(const char *path, const char *expected)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *message = g_strconcat(path, expected, NULL);

    g_assert_null(trusted_read(path, &error));
    g_assert_error(error, EXEAT_ERROR, ERROR_CONFIG);
    g_assert_cmpstr(error->message, ==, message);
}

static void
test_modes(void)
{
    static const struct {
        mode_t mode;
        const char *message; /* NULL: read */
    } ROWS[] = {
        {0600, NULL},
        {0444, NULL},
        {0755, NULL},
        {0620, ": found mode 0620, expected a file that only its owner may write"},
        {0602, ": found mode 0602, expected a file that only its owner may write"},
        {0666, ": found mode 0666, expected a file that only its owner may write"},
    };
    Files files;

    files_begin(&files);
    write_file(&files, "text\n", 5);
    for (gsize i = 0; i < G_N_ELEMENTS(ROWS); i++) {
        g_assert_cmpint(chmod(files.path, ROWS[i].mode), ==, 0);
        if (ROWS[i].message != NULL) {
            assert_refused(files.path, ROWS[i].message);
            continue;
        }
        g_autofree char *text = trusted_read(files.path, NULL);
        g_assert_cmpstr(text, ==, "text\n");
    }
    files_end(&files);
}

static void
test_secrets(void)
{
    static const struct {
        mode_t mode;
        gboolean refused;
    } ROWS[] = {
        {0600, FALSE}, {0400, FALSE}, {0640, TRUE}, {0604, TRUE}, {0620, TRUE}, {0601, TRUE},
    };
    Files files;

    files_begin(&files);
    write_file(&files, "secret\n", 7);
    for (gsize i = 0; i < G_N_ELEMENTS(ROWS); i++) {
        g_autoptr(GError) error = NULL;

        g_assert_cmpint(chmod(files.path, ROWS[i].mode), ==, 0);
        g_autofree char *text = trusted_read_secret(files.path, &error);
        if (!ROWS[i].refused) {
            g_assert_cmpstr(text, ==, "secret\n");
            continue;
        }
        g_assert_null(text);
        g_assert_error(error, EXEAT_ERROR, ERROR_CONFIG);
        g_assert_true(g_str_has_suffix(error->message,
                                       ", expected a file that only its owner may read"));
    }
    files_end(&files);
}

static void
test_owner(void)
{
    Files files;

    if (geteuid() != 0) {
        g_test_skip("only root can give a file away");
        return;
    }
    files_begin(&files);
    write_file(&files, "text\n", 5);
    g_assert_cmpint(chown(files.path, STRANGER, 0), ==, 0);
    assert_refused(files.path, ": found owner 4002, expected root or the user who reads it");
    g_assert_cmpint(chmod(files.path, 0600), ==, 0);
    g_autofree char *secret = trusted_read_secret(files.path, NULL);
    g_assert_cmpstr(secret, ==, "text\n");
    files_end(&files);
}

static void
test_kinds(void)
{
    Files files;

    files_begin(&files);
    assert_refused(files.path, ": No such file or directory");
    assert_refused(files.folder, ": found a folder or device, expected a regular file");
    g_assert_cmpint(mkfifo(files.path, 0600), ==, 0); /* must not wait for a writer */
    assert_refused(files.path, ": found a folder or device, expected a regular file");
    files_end(&files);
}

static void
test_bytes(void)
{
    const gsize limit = 1024 * 1024;
    g_autofree char *large = g_strnfill(limit + 1, '#');
    Files files;

    files_begin(&files);
    write_file(&files, "a\nb\0c", 5);
    assert_refused(files.path, ":2: found a byte that is not UTF-8, expected text");
    write_file(&files, "a\n\n\xff", 4);
    assert_refused(files.path, ":3: found a byte that is not UTF-8, expected text");
    write_file(&files, large, limit + 1);
    assert_refused(files.path, ": found more than 1 MiB, expected less");
    write_file(&files, large, limit);
    g_autofree char *text = trusted_read(files.path, NULL);
    g_assert_cmpuint(strlen(text), ==, limit);
    files_end(&files);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/trusted/modes XF16", test_modes);
    g_test_add_func("/trusted/secrets", test_secrets);
    g_test_add_func("/trusted/owner XF16", test_owner);
    g_test_add_func("/trusted/kinds", test_kinds);
    g_test_add_func("/trusted/bytes", test_bytes);
    return g_test_run();
}
