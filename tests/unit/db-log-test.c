/* The log of the database is written in few pieces, whole before anybody is told, and a commit
 * that cannot be written fails (XF5, XF7). */
#include "store/db.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib/gstdio.h>
#include <sqlite3.h>

#include "lib/error.h"
#include "tests/unit/scratch.h"

enum { ROWS = 400 };

static const Sql put = {"put",
                        "INSERT INTO list (account, address, seen) VALUES (?1, ?2, ?3)"};

/* A transaction over many pages. */
static gboolean
fill(Db *db, const char *account, GError **error)
{
    g_autofree char *long_part = g_strnfill(200, 'x');

    g_assert_true(db_begin(db, error));
    for (gint64 i = 0; i < ROWS; i++) {
        g_autofree char *address = g_strdup_printf("%d-%s", (int)i, long_part);

        g_assert_cmpint(db_run(db, &put, error, "ssi", account, address, i), ==, 1);
    }
    return db_commit(db, error);
}

/* How often this process has written. */
static guint64
count_writes(void)
{
    g_autofree char *text = NULL;

    g_assert_true(g_file_get_contents("/proc/self/io", &text, NULL, NULL));
    const char *line = g_strstr_len(text, -1, "syscw: ");
    g_assert_nonnull(line);
    return g_ascii_strtoull(line + strlen("syscw: "), NULL, 10);
}

static void
copy(const char *path, const char *suffix, const char *to)
{
    g_autofree char *from = g_strconcat(path, suffix, NULL);
    g_autofree char *other = g_strconcat(to, suffix, NULL);
    g_autofree char *bytes = NULL;
    gsize length;

    g_assert_true(g_file_get_contents(from, &bytes, &length, NULL));
    g_assert_true(g_file_set_contents(other, bytes, (gssize)length, NULL));
}

static void
drop(const char *path)
{
    static const char *const suffixes[] = {"", "-wal", "-shm"};

    for (guint i = 0; i < G_N_ELEMENTS(suffixes); i++) {
        g_autofree char *name = g_strconcat(path, suffixes[i], NULL);

        g_unlink(name);
    }
}

/* What is on the disk when a commit returns has all of it; others see it at once. */
static void
test_whole(void)
{
    g_autoptr(GError) error = NULL;
    Scratch scratch;

    scratch_open(&scratch);
    g_autofree char *image = g_strconcat(scratch.path, ".image", NULL);
    g_autoptr(Db) beside = db_open_reader(scratch.path, &error);
    g_assert_no_error(error);
    for (guint i = 1; i <= 3; i++) {
        g_autofree char *account = g_strdup_printf("%u", i);
        guint64 before = count_writes();

        g_assert_true(fill(scratch.db, account, &error));
        g_assert_cmpuint(count_writes() - before, <=, 30); /* of some sixty pages */
        g_assert_cmpint(scratch_count_rows(beside), ==, i * ROWS);
        copy(scratch.path, "", image);
        copy(scratch.path, "-wal", image);
        g_autoptr(Db) other = db_open(image, &error);
        g_assert_no_error(error);
        g_assert_cmpint(scratch_count_rows(other), ==, i * ROWS);
        g_clear_pointer(&other, db_close);
        drop(image);
    }
    g_clear_pointer(&beside, db_close);
    scratch_close(&scratch);
}

/* The limit lies within the commit: what was written of it counts for nothing. */
static void
test_full(void)
{
    g_autoptr(GError) error = NULL;
    struct rlimit usual, small;
    struct stat status;
    Scratch scratch;

    scratch_open(&scratch);
    g_autofree char *log = g_strconcat(scratch.path, "-wal", NULL);
    g_assert_true(fill(scratch.db, "first", &error));
    g_assert_cmpint(stat(log, &status), ==, 0);
    g_assert_cmpint(getrlimit(RLIMIT_FSIZE, &usual), ==, 0);
    small = usual;
    small.rlim_cur = (rlim_t)status.st_size + 20000;
    g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &small), ==, 0);
    gboolean filled = fill(scratch.db, "second", &error);
    g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &usual), ==, 0);
    g_assert_false(filled);
    g_assert_error(error, EXEAT_ERROR, ERROR_TEMP);
    g_clear_error(&error);
    g_assert_cmpint(scratch_count_rows(scratch.db), ==, ROWS);

    g_assert_true(fill(scratch.db, "third", &error));
    g_assert_no_error(error);
    scratch_reopen(&scratch);
    g_assert_cmpint(scratch_count_rows(scratch.db), ==, 2 * ROWS);
    scratch_close(&scratch);
}

static guint writes_left;

static ssize_t
write_some(int fd, const void *bytes, size_t length, off_t offset)
{
    if (writes_left > 0) {
        writes_left--;
        return pwrite(fd, bytes, length, offset);
    }
    errno = ENOSPC;
    return -1;
}

static void
replace_pwrite(sqlite3_syscall_ptr call)
{
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);

    g_assert_cmpint(vfs->xSetSystemCall(vfs, "pwrite", call), ==, SQLITE_OK);
    g_assert_cmpint(vfs->xSetSystemCall(vfs, "pwrite64", call), ==, SQLITE_OK);
}

/* Whether or not there is room: one row after the other, and then as many by one statement,
 * which SQLite can undo by itself. Returns how many are in the transaction, if it stands. */
static guint
try_to_fill(Db *db)
{
    static const Sql put_again = {
        "put_again", "INSERT INTO list (account, address, seen)"
                     " SELECT 'again', address, seen FROM list WHERE account = 'first'"};
    g_autofree char *long_part = g_strnfill(200, 'x');
    guint rows = 0;

    for (gint64 i = 0; i < ROWS; i++) {
        g_autofree char *address = g_strdup_printf("%d-%s", (int)i, long_part);

        rows += db_run(db, &put, NULL, "ssi", "second", address, i) == 1;
    }
    return rows + (db_run(db, &put_again, NULL, "") == ROWS ? ROWS : 0);
}

/* Pages that do not fit into memory go to the log before the commit, and are read from there.
 * Wherever the disk is full then, what was said to be in the transaction stands or falls. */
static void
test_full_while_reading(void)
{
    static const Sql small_cache = {"small_cache", "PRAGMA cache_size = 10"};
    guint stood = 0, fell = 0; /* how often */

    for (guint writes = 0; stood < 4; writes += 11) {
        g_autoptr(GError) error = NULL;
        Scratch scratch;

        scratch_open(&scratch);
        g_assert_true(fill(scratch.db, "first", &error));
        g_assert_true(db_execute(scratch.db, &small_cache, &error));
        g_assert_true(db_begin(scratch.db, &error));
        writes_left = writes;
        replace_pwrite((sqlite3_syscall_ptr)write_some);
        guint rows = try_to_fill(scratch.db);
        replace_pwrite(NULL);
        gboolean stands = db_commit(scratch.db, NULL);
        g_assert_cmpint(scratch_count_rows(scratch.db), ==, stands ? ROWS + rows : ROWS);
        scratch_reopen(&scratch);
        g_assert_cmpint(scratch_count_rows(scratch.db), ==, stands ? ROWS + rows : ROWS);
        g_assert_true(fill(scratch.db, "third", &error));
        g_assert_no_error(error);
        scratch_close(&scratch);
        *(stands ? &stood : &fell) += 1;
    }
    g_assert_cmpuint(fell, >, 1);
}

int
main(int argc, char **argv)
{
    signal(SIGXFSZ, SIG_IGN);
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/db-log/whole", test_whole);
    g_test_add_func("/db-log/full/XF7", test_full);
    g_test_add_func("/db-log/full-while-reading/XF7", test_full_while_reading);
    return g_test_run();
}
