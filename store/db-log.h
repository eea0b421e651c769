/* db-log.h - SQLite's write-ahead log, written in few pieces
 *
 * SQLite writes every page of a commit to its log by two system calls, for a header of 24
 * bytes and for the page. Through this VFS they are gathered in memory until the log is
 * synced, read or measured, or there are many. SQLite tells other handles of pages in the log
 * once these are synced, so it has to run with synchronous = FULL. What cannot be written
 * makes the sync, and with it the commit, fail. */
#pragma once

#include "store/db-private.h"

/* The name of the VFS, known to SQLite from the first call on. Any thread. */
const char *db_log_vfs(void);
