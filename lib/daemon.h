/* daemon.h - the start-up ritual of both daemons
 *
 * umask 077, standard descriptors open, SIGPIPE ignored, core dumps off, then signals as
 * descriptors; readiness told over NOTIFY_SOCKET (sd_notify(3)). */
#pragma once

#include <glib.h>

/* First thing in main. */
void daemon_begin(void);

/* Blocks the given signals (0-terminated list) in this and all later threads and returns a
 * descriptor that reads struct signalfd_siginfo. -1: ERROR_TEMP. */
int daemon_signals(const int *signals, GError **error);

/* Tells the service manager "READY=1" and so on; silent where there is none. */
void daemon_notify(const char *state);
