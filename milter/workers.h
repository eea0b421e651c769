/* workers.h - a thread to spare while others wait for the relay
 *
 * Debian's libmilter has a pool of threads that grows when a command comes and none is idle.
 * Commands that come together wake the idle ones and then wait behind them: sixteen ends of
 * messages at once would be decided by twos, and hardly ever share a commit. What does make a
 * thread is a new connection. So when every thread that was seen waits, we knock at our own
 * door once and leave: the thread that finds nobody there is seen, and looks for what waits.
 */
#pragma once

/* path: of the socket that libmilter listens on, kept; NULL: not on a unix socket, nothing is
 * done. Once, before libmilter's threads start. */
void workers_start(const char *path);

/* In a callback that every thread comes to: on_close, also after a knock. */
void workers_seen(void);

/* Around what a callback may wait for. Any thread. */
void workers_wait_begin(void);
void workers_wait_end(void);
