#include <config.h>

#include "lib/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sysexits.h>
#include <unistd.h>

#include "lib/error.h"
#include "lib/log.h"
#include "lib/sandbox.h"

enum { OWN_DESCRIPTORS = 32, MMAP_BYTES = 128 * 1024, ARENAS = 4 };

/* A descriptor below 3 that is free would be given to a socket or the database, and the next
 * line to standard error would be written into it. */
static void
open_standard_descriptors(void)
{
    int fd = open("/dev/null", O_RDWR);

    while (fd >= 0 && fd <= STDERR_FILENO)
        fd = dup(fd);
    if (fd > STDERR_FILENO)
        close(fd);
}

/* A limit of 1, not 0: the kernel hands even a core of limit 0 to a pipe in core_pattern
 * (core(5)), and refuses both file and pipe at 1. */
static void
forbid_core_dumps(void)
{
    const struct rlimit limit = {.rlim_cur = 1, .rlim_max = 1};

    if (setrlimit(RLIMIT_CORE, &limit) != 0)
        setrlimit(RLIMIT_CORE, &(struct rlimit){0});
}

/* What a large message took goes back to the system when it was answered; with many threads,
 * or with thresholds that grow, the C library would keep it for the next one. */
static void
hold_little_memory(void)
{
#ifdef M_ARENA_MAX /* glibc */
    mallopt(M_MMAP_THRESHOLD, MMAP_BYTES);
    mallopt(M_TRIM_THRESHOLD, 4 * MMAP_BYTES);
    mallopt(M_ARENA_MAX, ARENAS);
#endif
}

gboolean
daemon_start(const char *name, const char *summary, const GOptionEntry *more, int argc,
             char **argv, const char **config_out, int *status_out)
{
    static char *config = (char *)SYSCONFDIR "/exeat/exeat.conf";
    gboolean to_syslog = FALSE, version = FALSE;
    const GOptionEntry options[] = {
        {"config", 'c', 0, G_OPTION_ARG_FILENAME, &config, "Read this configuration", "FILE"},
        {"syslog", 's', 0, G_OPTION_ARG_NONE, &to_syslog, "Log to syslog, facility mail",
         NULL},
        {"version", 'V', 0, G_OPTION_ARG_NONE, &version, "Print the version and end", NULL},
        G_OPTION_ENTRY_NULL};
    g_autoptr(GOptionContext) context = g_option_context_new(NULL);
    g_autoptr(GError) error = NULL;

    g_option_context_add_main_entries(context, options, NULL);
    if (more != NULL)
        g_option_context_add_main_entries(context, more, NULL);
    g_option_context_set_summary(context, summary);
    if (!g_option_context_parse(context, &argc, &argv, &error) || argc > 1) {
        g_printerr("%s: %s\n", name, error ? error->message : "no arguments are expected");
        *status_out = EX_USAGE;
        return FALSE;
    }
    if (version) {
        g_print("%s %s\n", name, PACKAGE_VERSION);
        *status_out = EX_OK;
        return FALSE;
    }
    open_standard_descriptors();
    umask(077);
    signal(SIGPIPE, SIG_IGN);
    forbid_core_dumps();
    hold_little_memory();
    sandbox_no_new_privileges();
    log_open(name, to_syslog);
    *config_out = config;
    return TRUE;
}

int
daemon_signals(const int *signals, GError **error)
{
    sigset_t set;

    sigemptyset(&set);
    for (; *signals != 0; signals++)
        sigaddset(&set, *signals);

    int problem = pthread_sigmask(SIG_BLOCK, &set, NULL);
    int fd = problem == 0 ? signalfd(-1, &set, SFD_CLOEXEC) : -1;
    if (fd < 0)
        g_set_error(error, EXEAT_ERROR, ERROR_TEMP, "cannot wait for signals: %s",
                    g_strerror(problem != 0 ? problem : errno));
    return fd;
}

guint
daemon_capacity(guint descriptors_each, guint most)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return most;
    rlim_t others = MAX(limit.rlim_cur, OWN_DESCRIPTORS) - OWN_DESCRIPTORS;
    return CLAMP(others / descriptors_each, 1, most);
}

/* The address in NOTIFY_SOCKET: a path, or a name in the abstract space written with @. */
static gboolean
notify_address(struct sockaddr_un *address_out, socklen_t *length_out)
{
    const char *path = g_getenv("NOTIFY_SOCKET");
    gsize length = path != NULL ? strlen(path) : 0;

    if (length < 2 || length >= sizeof address_out->sun_path || strchr("/@", path[0]) == NULL)
        return FALSE;
    *address_out = (struct sockaddr_un){.sun_family = AF_UNIX};
    memcpy(address_out->sun_path, path, length);
    if (path[0] == '@')
        address_out->sun_path[0] = '\0';
    *length_out = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
    return TRUE;
}

void
daemon_notify(const char *state)
{
    struct sockaddr_un address;
    socklen_t length;

    if (!notify_address(&address, &length))
        return;
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    /* Nobody to tell that telling failed: the service manager's own time-out will say so. */
    (void)!sendto(fd, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&address, length);
    close(fd);
}
