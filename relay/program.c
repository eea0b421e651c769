#include "relay/program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/error.h"

enum { WAIT_MS = 60 * 1000, OUTPUT_MOST = 16 * 1024 };

void
program_allow_signals(gpointer unused G_GNUC_UNUSED)
{
    sigset_t none;

    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* A file that has the input and is at its beginning; -1 with error. */
static int
make_input(const char *input, GError **error)
{
    int fd = memfd_create("input", MFD_CLOEXEC);
    gssize length = (gssize)strlen(input);

    if (fd >= 0 && write(fd, input, length) == length && lseek(fd, 0, SEEK_SET) == 0)
        return fd;
    g_set_error(error, EXEAT_ERROR, ERROR_TEMP, "no memory for a program's input: %s",
                g_strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}

/* FALSE: it did not end in time, and was killed. */
static gboolean
wait_for(GPid pid, int *status_out)
{
    struct pollfd ends = {.fd = pidfd_open(pid, 0), .events = POLLIN};
    gboolean ended = ends.fd >= 0 && poll(&ends, 1, WAIT_MS) == 1;

    if (!ended)
        kill(pid, SIGKILL);
    if (ends.fd >= 0)
        close(ends.fd);
    while (waitpid(pid, status_out, 0) < 0 && errno == EINTR)
        ;
    return ended;
}

/* output: a file for what it prints, -1 for none. no_out: whether it ended with 1, which is an
 * error when it is NULL. */
static gboolean
run(char *const *command, const char *input, int output, gboolean *no_out, GError **error)
{
    const char *const environment[] = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8",
                                       NULL};
    g_autoptr(GError) trouble = NULL;
    int status = 0, fd = make_input(input, error);
    GPid pid;

    if (fd < 0)
        return FALSE;
    gboolean begun = g_spawn_async_with_pipes_and_fds(
        "/", (const char *const *)command, environment,
        G_SPAWN_DO_NOT_REAP_CHILD | (output < 0 ? G_SPAWN_STDOUT_TO_DEV_NULL : 0),
        program_allow_signals, NULL, fd, output, -1, NULL, NULL, 0, &pid, NULL, NULL, NULL,
        &trouble);
    close(fd);
    if (begun && !wait_for(pid, &status)) {
        g_set_error(error, EXEAT_ERROR, ERROR_TEMP, "%s did not end in time", command[0]);
        return FALSE;
    }
    if (begun && no_out != NULL)
        *no_out = WIFEXITED(status) && WEXITSTATUS(status) == 1;
    if (begun && ((no_out != NULL && *no_out) || g_spawn_check_wait_status(status, &trouble)))
        return TRUE;
    g_set_error(error, EXEAT_ERROR, ERROR_TEMP, "%s: %s", command[0], trouble->message);
    return FALSE;
}

gboolean
program_run(char *const *command, const char *input, GError **error)
{
    return run(command, input, -1, NULL, error);
}

/* A file of that size that cannot grow: to write more than fits is the program's error. */
static int
make_output(GError **error)
{
    int fd = memfd_create("output", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (fd >= 0 && ftruncate(fd, OUTPUT_MOST) == 0 &&
        fcntl(fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK) == 0)
        return fd;
    g_set_error(error, EXEAT_ERROR, ERROR_TEMP, "no memory for a program's output: %s",
                g_strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}

char *
program_ask(char *const *command, GError **error)
{
    int fd = make_output(error);
    char *text = NULL;

    if (fd < 0)
        return NULL;
    if (run(command, "", fd, NULL, error)) {
        text = g_malloc0(OUTPUT_MOST + 1);
        if (pread(fd, text, OUTPUT_MOST, 0) < 0)
            *text = '\0';
    }
    close(fd);
    return text;
}

gboolean
program_find(char *const *command, gboolean *found_out, GError **error)
{
    gboolean no = FALSE;

    if (!run(command, "", -1, &no, error))
        return FALSE;
    *found_out = !no;
    return TRUE;
}
