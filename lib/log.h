/* log.h - one line for one event
 *
 * To standard error with a syslog priority in angle brackets when journald listens there, else
 * with program and time; or to syslog(3), facility mail. Every argument is escaped. Programs
 * log; policy, lib and store never do. */
#pragma once

#include <glib.h>

/* program: static. to_syslog: use syslog(3) instead of standard error. */
void log_open(const char *program, gboolean to_syslog);

void log_info(const char *format, ...) G_GNUC_PRINTF(1, 2);
void log_warning(const char *format, ...) G_GNUC_PRINTF(1, 2);
void log_error(const char *format, ...) G_GNUC_PRINTF(1, 2);

/* TRUE once in ten seconds at most, for what would else be said again and again. last: static
 * and 0 at first; any thread. */
gboolean log_may_repeat(gint64 *last);
