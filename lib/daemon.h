/* daemon.h - the start-up ritual of both daemons
 *
 * umask 077, standard descriptors open, SIGPIPE ignored, core dumps off, no new
 * privileges, then signals as descriptors; readiness told over NOTIFY_SOCKET (sd_notify(3)).
 */
#pragma once

#include <glib.h>

/* First thing in main: reads the options both daemons share, and those in more (NULL: none),
 * then begins as above with the log open. FALSE: the process ends with *status_out. summary: a
 * sentence for --help. *config_out: the path of exeat.conf, for as long as the process lives.
 */
gboolean daemon_start(const char *name, const char *summary, const GOptionEntry *more,
                      int argc, char **argv, const char **config_out, int *status_out);

/* Blocks the given signals (0-terminated list) in this and all later threads and returns a
 * descriptor that reads struct signalfd_siginfo. -1: ERROR_TEMP. */
int daemon_signals(const int *signals, GError **error);

/* How many peers can be served at once when each needs so many descriptors (getrlimit(2)),
 * with some left for the files of the daemon itself: at least 1, at most "most". */
guint daemon_capacity(guint descriptors_each, guint most);

/* Tells the service manager "READY=1" and so on; silent where there is none. */
void daemon_notify(const char *state);
