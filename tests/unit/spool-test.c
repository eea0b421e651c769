/* Where the bytes of a message lie, and that nobody changes them afterwards. */
#include "lib/spool.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "lib/error.h"

#define LIMIT 10
#define SEALS (F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

typedef struct {
    const char *name;
    const char *chunks[4]; /* NULL-terminated */
    gboolean in_file;
} Row;

static const Row rows[] = {
    {"nothing", {NULL}, FALSE},
    {"one chunk", {"hello", NULL}, FALSE},
    {"up to the limit", {"hello", "world", NULL}, FALSE},
    {"one past the limit", {"hello", "world", "!", NULL}, TRUE},
    {"past it at once", {"hello, world", NULL}, TRUE},
    {"goes on in the file", {"hello", ", world", " again"}, TRUE},
};

static void
assert_sealed(int fd)
{
    g_assert_cmpint(fcntl(fd, F_GET_SEALS), ==, SEALS);
    g_assert_cmpint(pwrite(fd, "x", 1, 0), ==, -1);
    g_assert_cmpint(ftruncate(fd, 1000), ==, -1);
}

static void
check_row(const Row *row, const char *folder)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(Spool) spool = spool_new(LIMIT, folder);
    g_autoptr(GString) expected = g_string_new(NULL);
    struct stat status;
    char text[64] = "";

    g_test_message("%s", row->name);
    for (gsize i = 0; i < G_N_ELEMENTS(row->chunks) && row->chunks[i] != NULL; i++) {
        g_string_append(expected, row->chunks[i]);
        g_assert_true(spool_append(spool, row->chunks[i], strlen(row->chunks[i]), &error));
        g_assert_cmpuint(spool_size(spool), ==, expected->len);
    }
    int fd = spool_descriptor(spool, &error);
    g_assert_no_error(error);
    g_assert_cmpint(fd, >=, 0);
    g_assert_cmpint(spool_descriptor(spool, &error), ==, fd);
    g_assert_cmpint(fcntl(fd, F_GETFD) & FD_CLOEXEC, !=, 0);
    g_assert_cmpint(fstat(fd, &status), ==, 0);
    g_assert_cmpuint(status.st_nlink, ==, 0);
    g_assert_cmpint(read(fd, text, sizeof text), ==, expected->len);
    g_assert_cmpstr(text, ==, expected->str);
    if (row->in_file)
        g_assert_cmpint(fcntl(fd, F_GET_SEALS), !=, SEALS);
    else
        assert_sealed(fd);
}

static void
test_rows(void)
{
    g_autofree char *folder = g_dir_make_tmp("exeat-spool-XXXXXX", NULL);

    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++)
        check_row(&rows[i], folder);
    g_assert_cmpint(g_rmdir(folder), ==, 0); /* nothing has a name there */
}

static void
test_large(void)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *folder = g_dir_make_tmp("exeat-spool-XXXXXX", NULL);
    g_autoptr(Spool) spool = spool_new(100 * 1000, folder);
    g_autofree char *chunk = g_strnfill(65535, 'x');

    for (guint i = 0; i < 20; i++)
        g_assert_true(spool_append(spool, chunk, 65535, &error));
    int fd = spool_descriptor(spool, &error);
    g_assert_cmpint(lseek(fd, 0, SEEK_END), ==, 20 * 65535);
    g_assert_cmpint(g_rmdir(folder), ==, 0);
}

/* A folder that is not there is our trouble; what fits into memory does not need it. */
static void
test_no_folder(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(Spool) spool = spool_new(LIMIT, "/proc/none");

    g_assert_true(spool_append(spool, "hello", 5, &error));
    g_assert_false(spool_append(spool, "hello, world", 12, &error));
    g_assert_error(error, EXEAT_ERROR, ERROR_TEMP);
    g_assert_cmpuint(spool_size(spool), ==, 5);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/spool/rows", test_rows);
    g_test_add_func("/spool/large", test_large);
    g_test_add_func("/spool/no-folder", test_no_folder);
    return g_test_run();
}
