/* writer.h - one thread writes; many requests share one fsync
 *
 * The thread takes all jobs that wait, runs each in a savepoint of one transaction, commits,
 * and only then lets their callers go on: nothing is answered before its commit. A job that
 * fails undoes its savepoint and nobody else's; a commit that fails fails every job in it with
 * ERROR_TEMP. */
#pragma once

#include "store/db.h"

typedef struct _Writer Writer;

/* Runs in the writer's thread. FALSE with error undoes what it did. */
typedef gboolean (*WriterJob)(gpointer data, GError **error);

/* Starts the thread, which owns db from now on. */
Writer *writer_start(Db *db);

/* Has this called in the writer's thread after each commit, before those who wait for it go
 * on. Called once, before the first job. */
void writer_watch(Writer *writer, void (*committed)(gpointer data), gpointer data);

/* Ends the thread and closes the database, once every writer_run() has returned. */
void writer_stop(Writer *writer);

/* Runs job in the writer's thread; returns once it is committed or has failed. Any thread. */
gboolean writer_run(Writer *writer, WriterJob job, gpointer data, GError **error);

/* Jobs run and commits made so far: their ratio tells how well commits are shared. */
void writer_counts(Writer *writer, guint64 *jobs_out, guint64 *commits_out);
