/* burglar.c - what could be done by somebody who has got into a daemon
 *
 * Loaded with LD_PRELOAD into a daemon under test. Tries to start a program, to read the file
 * that EXEAT_TEST_BOOTY names and to make a socket for other hosts: once when the process
 * begins, once when it keeps a message, which a daemon does in memfd_create. What came of it
 * stands in the file EXEAT_TEST_BURGLAR, a line for each time: three errnos. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static int
start_program(void)
{
    char *const nothing[] = {(char *)"true", NULL};
    int status = 0;
    pid_t child = fork();

    if (child == 0) {
        execve("/bin/true", nothing, nothing + 1);
        _exit(errno);
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status)
               ? WEXITSTATUS(status)
               : EINVAL;
}

static int
read_booty(void)
{
    const char *path = getenv("EXEAT_TEST_BOOTY");
    int fd = open(path ? path : "", O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return errno;
    close(fd);
    return 0;
}

static int
make_socket(void)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return errno;
    close(fd);
    return 0;
}

static void
burgle(void)
{
    const char *path = getenv("EXEAT_TEST_BURGLAR");
    FILE *file = path ? fopen(path, "ae") : NULL;

    if (file == NULL)
        return;
    fprintf(file, "%d %d %d\n", start_program(), read_booty(), make_socket());
    fclose(file);
}

__attribute__((constructor)) static void
begin(void)
{
    burgle();
}

int
memfd_create(const char *name, unsigned int flags)
{
    static int (*real)(const char *, unsigned int);
    static atomic_flag done = ATOMIC_FLAG_INIT;

    if (!atomic_flag_test_and_set(&done))
        burgle();
    if (real == NULL)
        *(void **)&real = dlsym(RTLD_NEXT, "memfd_create");
    return real(name, flags);
}
