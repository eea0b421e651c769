/* The milter's configuration, by a file that changes in the moment it is looked at. */
#include "milter/current.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *path;
static const char *next; /* what the file becomes before the next look at it, or NULL */

static void
write_file(const char *spool)
{
    g_autofree char *text =
        g_strconcat("[account a]\npolicy = p\nagent-logins = b\naddresses = a@b.c\n"
                    "internal-domains = b.c\n[exeat]\nmilter-user = 4711\n"
                    "next-hop = unix:/d\nspool = ",
                    spool, NULL);

    g_assert_true(g_file_set_contents(path, text, -1, NULL));
    g_assert_cmpint(chmod(path, 0644), ==, 0);
}

/* Instead of the system's. */
int
stat(const char *name, struct stat *status)
{
    if (next != NULL && g_strcmp0(name, path) == 0) {
        write_file(next);
        next = NULL;
    }
    return fstatat(AT_FDCWD, name, status, 0);
}

static void
expect(const char *spool)
{
    g_autoptr(Config) config = current_config();

    g_assert_cmpstr(config->spool, ==, spool);
}

static void
test_changes(void)
{
    g_autoptr(GError) error = NULL;

    write_file("/one");
    next = "/two";
    g_autoptr(Config) config = current_begin(path, &error);
    g_assert_no_error(error);
    g_assert_cmpstr(config->spool, ==, "/two");
    expect("/two");
    next = "/three";
    expect("/three");
    expect("/three");
}

/* Written in place, within what the file system takes for one moment. */
static void
test_same_moment(void)
{
    struct stat status;

    write_file("/half");
    expect("/half");
    g_assert_cmpint(fstatat(AT_FDCWD, path, &status, 0), ==, 0);
    const struct timespec times[] = {status.st_atim, status.st_mtim};
    int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    g_assert_cmpint(write(fd, "way", 3), ==, 3);
    g_assert_cmpint(futimens(fd, times), ==, 0);
    close(fd);
    expect("/halfway");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_autofree char *folder = g_dir_make_tmp("exeat-current-XXXXXX", NULL);
    g_autofree char *file = g_build_filename(folder, "exeat.conf", NULL);
    path = file;
    g_test_add_func("/current/changed while it is looked at", test_changes);
    g_test_add_func("/current/changed in the same moment", test_same_moment);
    int status = g_test_run();
    unlink(file);
    rmdir(folder);
    return status;
}
