/* exeat-relay(8): the only judge and the only writer. */
#include <errno.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sysexits.h>
#include <unistd.h>

#include <glib.h>

#include "lib/daemon.h"
#include "lib/error.h"
#include "lib/log.h"
#include "lib/wire.h"
#include "relay/drafts.h"
#include "relay/guard.h"
#include "relay/notice.h"
#include "relay/reconcile.h"
#include "relay/record.h"
#include "relay/relay.h"
#include "relay/reload.h"
#include "relay/requests.h"
#include "relay/schedule.h"
#include "relay/send.h"
#include "relay/smtp.h"
#include "relay/sums.h"

static void
reload(Relay *relay)
{
    g_autoptr(GError) error = NULL;

    if (!reload_now(relay, &error))
        log_error("%s; the configuration read before stays in force", error->message);
}

/* A policy without a word in it is a policy; it is seldom what was meant. */
static void
report_check(const Config *config)
{
    for (guint i = 0; i < config->accounts->len; i++) {
        const Account *account = g_ptr_array_index(config->accounts, i);

        if (policy_holds_all(account->policy))
            g_print("account %s: %s holds everything\n", account->name,
                    policy_name(account->policy));
    }
}

typedef struct {
    Relay *relay;
    int signal_fd;
    int stop_fd;
} Signals;

static gpointer
wait_for_signals(gpointer data)
{
    const Signals *signals = data;
    struct signalfd_siginfo info;

    for (;;) {
        if (read(signals->signal_fd, &info, sizeof info) != (ssize_t)sizeof info) {
            if (errno == EINTR)
                continue;
            break;
        }
        if (info.ssi_signo != SIGHUP)
            break;
        reload(signals->relay);
    }
    const guint64 one = 1;
    if (write(signals->stop_fd, &one, sizeof one) < 0)
        log_error("cannot stop: %s", g_strerror(errno));
    return NULL;
}

static gboolean
open_store(Relay *relay, GError **error)
{
    return record_start(relay, error) &&
           writer_run(relay->writer, send_recover, relay, error) &&
           writer_run(relay->writer, reload_record, relay, error);
}

static gboolean
serve(Relay *relay, int signal_fd, GError **error)
{
    Signals signals = {.relay = relay, .signal_fd = signal_fd};

    if (!open_store(relay, error))
        return FALSE;
    int listen_fd = wire_listen(relay->config->relay_socket, 0666, error);
    if (listen_fd < 0) {
        g_prefix_error(error, "the key “relay-socket”: ");
        return FALSE;
    }
    signals.stop_fd = eventfd(0, EFD_CLOEXEC);
    relay->sender = sender_start(relay);
    relay->drafts = drafts_start(relay);
    relay->reconciler = reconciler_start(relay);
    relay->schedule = schedule_start(relay);
    relay->notifier = notifier_start(relay);
    relay->guard = guard_start(relay);
    log_info("serving %u account(s) on %s", relay->config->accounts->len,
             relay->config->relay_socket);
    /* From here on the configuration may be another one at any time. */
    GThread *watcher = g_thread_new("signals", wait_for_signals, &signals);

    daemon_notify("READY=1");
    requests_serve(relay, listen_fd, signals.stop_fd);
    daemon_notify("STOPPING=1");
    smtp_hurry();
    close(listen_fd);
    g_thread_join(watcher);
    guard_stop(relay->guard);
    reconciler_stop(relay->reconciler);
    drafts_stop(relay->drafts);
    notifier_stop(relay->notifier); /* while the milter still gets its answers */
    /* What is being answered is finished, and nothing new begins: connections that stand end
     * with the process. */
    g_atomic_int_set(&relay->ending, TRUE);
    g_rw_lock_writer_lock(&relay->serving);
    schedule_stop(relay->schedule);
    sender_stop(relay->sender);
    schedule_free(relay->schedule);
    notifier_free(relay->notifier);
    drafts_free(relay->drafts);
    record_end(relay);
    return TRUE;
}

static int
fail(const GError *error)
{
    log_error("%s", error->message);
    return g_error_matches(error, EXEAT_ERROR, ERROR_TEMP) ? EX_TEMPFAIL : EX_CONFIG;
}

static int
check(const char *config_path)
{
    g_autoptr(GError) error = NULL;

    sums_start();
    g_autoptr(Config) config = config_read(config_path, TRUE, &error);
    if (config == NULL)
        return fail(error);
    report_check(config);
    return EX_OK;
}

static int
run(const char *config_path)
{
    static Relay relay; /* outlives this function: connections end with the process */
    g_autoptr(GError) error = NULL;
    const int wanted[] = {SIGHUP, SIGTERM, SIGINT, 0};
    /* First of all: whoever wants the files read again may say so while they are read. */
    int signal_fd = daemon_signals(wanted, &error);

    if (signal_fd < 0)
        return fail(error);
    sums_start();
    relay.started = relay_now();
    g_mutex_init(&relay.lock);
    g_rw_lock_init(&relay.serving);
    relay.config = config_read(config_path, TRUE, &error);
    gboolean served = relay.config != NULL && serve(&relay, signal_fd, &error);
    if (relay.writer != NULL)
        writer_stop(relay.writer);
    return served ? EX_OK : fail(error);
}

int
main(int argc, char **argv)
{
    gboolean check_only = FALSE;
    const GOptionEntry options[] = {{"check", 'n', 0, G_OPTION_ARG_NONE, &check_only,
                                     "Check the configuration and end", NULL},
                                    G_OPTION_ENTRY_NULL};
    const char *config_path;
    int status;

    if (!daemon_start("exeat-relay", "Judges, keeps and sends what the milter hands over.",
                      options, argc, argv, &config_path, &status))
        return status;
    return check_only ? check(config_path) : run(config_path);
}
