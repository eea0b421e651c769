#include "store/writer.h"

/* Enough to share one fsync among all who wait; few enough that the first is not kept long. */
#define BATCH_MAX 256

/* Lives on the stack of the caller, who waits for it. */
typedef struct {
    WriterJob run;
    gpointer data;
    GError *error; /* why it failed, NULL when it did not */
    /* Of its own: who waits for the next commit sleeps on, and nobody who is woken has to wait
     * for what another one holds. */
    GMutex mutex;
    GCond done;
    gboolean finished;
} Job;

struct _Writer {
    Db *db; /* the thread's */
    GThread *thread;
    GMutex mutex; /* guards what follows; never held while a job is signalled */
    GCond work;
    GQueue waiting; /* of Job * */
    gboolean stopping;
    void (*committed)(gpointer data); /* NULL: nobody watches */
    gpointer watcher;
    guint64 jobs;
    guint64 commits;
};

static void
run_job(Job *job)
{
    gboolean done = job->run(job->data, &job->error);

    g_assert(done == (job->error == NULL));
}

static void
run_job_apart(Db *db, Job *job)
{
    if (!db_savepoint(db, &job->error))
        return;
    run_job(job);
    if (job->error != NULL || !db_savepoint_release(db, &job->error))
        db_savepoint_undo(db);
}

/* Runs all jobs; TRUE when one of them did something to commit. */
static gboolean
run_jobs(Db *db, GPtrArray *batch)
{
    gboolean any = FALSE;

    for (guint i = 0; i < batch->len; i++) {
        Job *job = batch->pdata[i];

        /* Alone, a failed job takes the whole transaction with it. */
        if (batch->len == 1)
            run_job(job);
        else
            run_job_apart(db, job);
        any = any || job->error == NULL;
    }
    return any;
}

static void
fail_jobs(GPtrArray *batch, const GError *error)
{
    for (guint i = 0; i < batch->len; i++) {
        Job *job = batch->pdata[i];

        if (job->error == NULL)
            job->error = g_error_copy(error);
    }
}

/* TRUE when the batch was committed. */
static gboolean
run_batch(Db *db, GPtrArray *batch)
{
    g_autoptr(GError) error = NULL;

    if (!db_begin(db, &error)) {
        fail_jobs(batch, error);
        return FALSE;
    }
    if (!run_jobs(db, batch)) {
        db_rollback(db);
        return FALSE;
    }
    if (!db_commit(db, &error)) {
        fail_jobs(batch, error);
        return FALSE;
    }
    return TRUE;
}

/* Waits for jobs and takes them; an empty batch means the end. */
static void
take_batch(Writer *writer, GPtrArray *batch)
{
    g_ptr_array_set_size(batch, 0);
    g_mutex_lock(&writer->mutex);
    while (writer->waiting.length == 0 && !writer->stopping)
        g_cond_wait(&writer->work, &writer->mutex);
    while (writer->waiting.length > 0 && batch->len < BATCH_MAX)
        g_ptr_array_add(batch, g_queue_pop_head(&writer->waiting));
    g_mutex_unlock(&writer->mutex);
}

static void
count_batch(Writer *writer, guint jobs, gboolean committed)
{
    g_mutex_lock(&writer->mutex);
    writer->jobs += jobs;
    writer->commits += committed;
    g_mutex_unlock(&writer->mutex);
}

/* The job can go only when its mutex is let go, and then is not to be touched. */
static void
finish_job(Job *job)
{
    g_mutex_lock(&job->mutex);
    job->finished = TRUE;
    g_cond_signal(&job->done);
    g_mutex_unlock(&job->mutex);
}

static gpointer
write_all(gpointer data)
{
    Writer *writer = data;
    g_autoptr(GPtrArray) batch = g_ptr_array_new();

    for (take_batch(writer, batch); batch->len > 0; take_batch(writer, batch)) {
        gboolean committed = run_batch(writer->db, batch);

        if (committed && writer->committed != NULL)
            writer->committed(writer->watcher);
        count_batch(writer, batch->len, committed);
        for (guint i = 0; i < batch->len; i++)
            finish_job(batch->pdata[i]);
    }
    return NULL;
}

Writer *
writer_start(Db *db)
{
    Writer *writer = g_new0(Writer, 1);

    writer->db = db;
    g_mutex_init(&writer->mutex);
    g_cond_init(&writer->work);
    g_queue_init(&writer->waiting);
    writer->thread = g_thread_new("writer", write_all, writer);
    return writer;
}

void
writer_watch(Writer *writer, void (*committed)(gpointer data), gpointer data)
{
    g_mutex_lock(&writer->mutex);
    writer->committed = committed;
    writer->watcher = data;
    g_mutex_unlock(&writer->mutex);
}

void
writer_stop(Writer *writer)
{
    g_mutex_lock(&writer->mutex);
    writer->stopping = TRUE;
    g_cond_signal(&writer->work);
    g_mutex_unlock(&writer->mutex);

    g_thread_join(writer->thread);
    db_close(writer->db);
    g_mutex_clear(&writer->mutex);
    g_cond_clear(&writer->work);
    g_free(writer);
}

gboolean
writer_run(Writer *writer, WriterJob run, gpointer data, GError **error)
{
    Job job = {.run = run, .data = data};

    g_mutex_init(&job.mutex);
    g_cond_init(&job.done);
    g_mutex_lock(&writer->mutex);
    g_assert(!writer->stopping);
    g_queue_push_tail(&writer->waiting, &job);
    g_mutex_unlock(&writer->mutex);
    g_cond_signal(&writer->work); /* woken with the mutex held, it would wait for that next */

    g_mutex_lock(&job.mutex);
    while (!job.finished)
        g_cond_wait(&job.done, &job.mutex);
    g_mutex_unlock(&job.mutex);
    g_cond_clear(&job.done);
    g_mutex_clear(&job.mutex);

    if (job.error == NULL)
        return TRUE;
    g_propagate_error(error, job.error);
    return FALSE;
}

void
writer_counts(Writer *writer, guint64 *jobs_out, guint64 *commits_out)
{
    g_mutex_lock(&writer->mutex);
    *jobs_out = writer->jobs;
    *commits_out = writer->commits;
    g_mutex_unlock(&writer->mutex);
}
