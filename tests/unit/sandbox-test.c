/* What a process can still do once it has shut itself in. Each row is tried in a process of
 * its own, first at liberty: what fails there would prove nothing. */
#include "lib/sandbox.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <glib/gstdio.h>

static char *mine, *shared, *others; /* folders */

static int
result_of(int fd)
{
    return fd < 0 ? errno : 0;
}

static int
open_in(const char *folder, const char *name, int flags)
{
    g_autofree char *path = g_build_filename(folder, name, NULL);

    return result_of(open(path, flags | O_CLOEXEC, 0600));
}

/* At liberty the program takes the place of this process, and its status is 0. */
static int
start_program(void)
{
    char *const arguments[] = {(char *)"true", NULL};

    execve("/bin/true", arguments, arguments + 1);
    return errno;
}

static int
be_looked_into(void)
{
    return ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0 ? 0 : errno;
}

static int
speak_to_a_host(void)
{
    const struct sockaddr_in nobody = {.sin_family = AF_INET,
                                       .sin_port = htons(9),
                                       .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    if (fd < 0)
        return errno;
    connect(fd, (const struct sockaddr *)&nobody, sizeof nobody);
    return errno == ECONNREFUSED ? 0 : errno;
}

static int
send_a_datagram(void)
{
    return result_of(socket(AF_INET6, SOCK_DGRAM, 0));
}

static int
speak_to_the_relay(void)
{
    return result_of(socket(AF_UNIX, SOCK_STREAM, 0));
}

static int
write_mine(void)
{
    return open_in(mine, "new", O_WRONLY | O_CREAT | O_TRUNC);
}

static int
spool_mine(void)
{
    int fd = open(mine, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

    return fd >= 0 && write(fd, "x", 1) == 1 ? 0 : errno;
}

static int
read_shared(void)
{
    return open_in(shared, "file", O_RDONLY);
}

static int
write_shared(void)
{
    return open_in(shared, "file", O_WRONLY);
}

static int
make_in_shared(void)
{
    return open_in(shared, "new", O_WRONLY | O_CREAT);
}

static int
read_other(void)
{
    return open_in(others, "file", O_RDONLY);
}

static int
list_other(void)
{
    return open_in(others, ".", O_RDONLY | O_DIRECTORY);
}

/* Landlock closes TCP since version 4. */
#define BY_VERSION (-1)

static int
closed_tcp(void)
{
    return syscall(SYS_landlock_create_ruleset, NULL, 0, 1) >= 4 ? EACCES : 0;
}

static const struct {
    const char *name;
    int (*attempt)(void);
    int forbidden, confined; /* the errno once calls are forbidden, or files are confined */
} rows[] = {
    {"start a program", start_program, EPERM, EACCES},
    {"be looked into", be_looked_into, EPERM, 0},
    {"speak to a host", speak_to_a_host, EPERM, BY_VERSION},
    {"send a datagram", send_a_datagram, EPERM, 0},
    {"speak to the relay", speak_to_the_relay, 0, 0},
    {"write in a folder of one's own", write_mine, 0, 0},
    {"spool in a folder of one's own", spool_mine, 0, 0},
    {"read in a shared folder", read_shared, 0, 0},
    {"write in a shared folder", write_shared, 0, EACCES},
    {"make a file in a shared folder", make_in_shared, 0, EACCES},
    {"read in another's folder", read_other, 0, EACCES},
    {"list another's folder", list_other, 0, EACCES},
};

static gboolean
confine(void)
{
    const SandboxPlace places[] = {
        {mine, SANDBOX_WRITE}, {shared, SANDBOX_READ}, {"/nowhere", SANDBOX_READ}};

    return sandbox_confine(places, G_N_ELEMENTS(places));
}

/* What a child comes to; 255 when there is no such sandbox here. */
static int
try_in_child(gboolean (*shut_in)(void), int (*attempt)(void))
{
    pid_t child = fork();
    int status = 0;

    if (child == 0)
        _exit(shut_in != NULL && !shut_in() ? 255 : attempt());
    g_assert(child > 0);
    g_assert(waitpid(child, &status, 0) == child);
    g_assert(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void
check_row(gsize i, gboolean (*shut_in)(void), int expected)
{
    g_test_message("%s", rows[i].name);
    g_assert_cmpint(try_in_child(NULL, rows[i].attempt), ==, 0);
    g_assert_cmpint(try_in_child(shut_in, rows[i].attempt), ==,
                    expected == BY_VERSION ? closed_tcp() : expected);
}

static int
nothing(void)
{
    return 0;
}

static void
test_forbidden_calls(void)
{
    if (try_in_child(sandbox_forbid_calls, nothing) == 255) {
        g_test_skip("no seccomp for this kernel or processor");
        return;
    }
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++)
        check_row(i, sandbox_forbid_calls, rows[i].forbidden);
}

static void
test_confined_files(void)
{
    if (try_in_child(confine, nothing) == 255) {
        g_test_skip("this kernel has no Landlock");
        return;
    }
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++)
        check_row(i, confine, rows[i].confined);
}

static int
ask_privileges(void)
{
    return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0);
}

static void
test_no_new_privileges(void)
{
    g_assert_cmpint(try_in_child(sandbox_no_new_privileges, ask_privileges), ==, 1);
}

static char *
make_folder(const char *root, const char *name)
{
    char *folder = g_build_filename(root, name, NULL);
    g_autofree char *file = g_build_filename(folder, "file", NULL);

    g_assert(g_mkdir(folder, 0700) == 0);
    g_assert(g_file_set_contents(file, "x", 1, NULL));
    return folder;
}

static void
remove_folder(char *folder)
{
    static const char *const names[] = {"file", "new"};

    for (gsize i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autofree char *path = g_build_filename(folder, names[i], NULL);

        g_unlink(path);
    }
    g_rmdir(folder);
    g_free(folder);
}

int
main(int argc, char **argv)
{
    g_autofree char *root = g_dir_make_tmp("exeat-XXXXXX", NULL);

    g_test_init(&argc, &argv, NULL);
    g_assert(root != NULL);
    mine = make_folder(root, "mine");
    shared = make_folder(root, "shared");
    others = make_folder(root, "others");
    g_test_add_func("/sandbox/calls", test_forbidden_calls);
    g_test_add_func("/sandbox/files", test_confined_files);
    g_test_add_func("/sandbox/privileges", test_no_new_privileges);
    int status = g_test_run();
    remove_folder(mine);
    remove_folder(shared);
    remove_folder(others);
    g_rmdir(root);
    return status;
}
