/* writer.h - one thread writes at a time; many requests share one fsync
 *
 * Who finds nobody writing leads: it takes all jobs that wait, its own among them, runs each
 * in a savepoint of one transaction, commits, and only then lets their callers go on; the
 * first of those who came meanwhile leads next. Nothing is answered before its commit. A job
 * that fails undoes its savepoint and nobody else's; a commit that fails fails every job in it
 * with ERROR_TEMP. "The writer's thread" is, here and elsewhere, the one that leads: what it
 * alone may touch is handed on with the lead. */
#pragma once

#include "store/db.h"

typedef struct _Writer Writer;

/* Runs in the writer's thread. FALSE with error undoes what it did. */
typedef gboolean (*WriterJob)(gpointer data, GError **error);

/* Called in the writer's thread; each may be NULL. */
typedef struct {
    void (*ending)(gpointer data);    /* when all jobs are done, before their commit */
    void (*committed)(gpointer data); /* after it, before those who wait for it go on */
    gpointer data;
} WriterWatch;

/* Owns db from now on. */
Writer *writer_start(Db *db);

/* Called once, before the first job. */
void writer_watch(Writer *writer, const WriterWatch *watch);

/* Closes the database, once every writer_run() has returned. */
void writer_stop(Writer *writer);

/* Runs job in the writer's thread, which may be the caller's; returns once it is committed or
 * has failed. Any thread, but not in a job. */
gboolean writer_run(Writer *writer, WriterJob job, gpointer data, GError **error);

/* Jobs run and commits made so far: their ratio tells how well commits are shared. */
void writer_counts(Writer *writer, guint64 *jobs_out, guint64 *commits_out);
