#include "store/writer.h"

/* Enough to share one fsync among all who wait; few enough that the first is not kept long. */
#define BATCH_MAX 256

typedef enum {
    JOB_WAITS,
    JOB_LEADS, /* its caller is to run what waits */
    JOB_FINISHED
} JobState;

/* Lives on the stack of the caller, who waits for it. */
typedef struct {
    WriterJob run;
    gpointer data;
    GError *error; /* why it failed, NULL when it did not */
    /* Of its own: who waits for the next commit sleeps on, and nobody who is woken has to wait
     * for what another one holds. */
    GMutex mutex;
    GCond changed;
    JobState state;
} Job;

/* On the leader's stack. */
typedef struct {
    Job *jobs[BATCH_MAX];
    guint count;
} Batch;

struct _Writer {
    Db *db;         /* the leader's */
    GMutex mutex;   /* guards what follows; never held while a job is signalled */
    GQueue waiting; /* of Job * */
    gboolean led;   /* by somebody */
    guint64 jobs;
    guint64 commits;
    WriterWatch watch; /* set before the first job */
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
run_jobs(Db *db, const Batch *batch)
{
    gboolean any = FALSE;

    for (guint i = 0; i < batch->count; i++) {
        Job *job = batch->jobs[i];

        /* Alone, a failed job takes the whole transaction with it. */
        if (batch->count == 1)
            run_job(job);
        else
            run_job_apart(db, job);
        any = any || job->error == NULL;
    }
    return any;
}

static void
fail_jobs(const Batch *batch, const GError *error)
{
    for (guint i = 0; i < batch->count; i++) {
        Job *job = batch->jobs[i];

        if (job->error == NULL)
            job->error = g_error_copy(error);
    }
}

/* TRUE when the batch was committed. */
static gboolean
run_batch(Writer *writer, const Batch *batch)
{
    Db *db = writer->db;
    g_autoptr(GError) error = NULL;

    if (!db_begin(db, &error)) {
        fail_jobs(batch, error);
        return FALSE;
    }
    if (!run_jobs(db, batch)) {
        db_rollback(db);
        return FALSE;
    }
    if (writer->watch.ending != NULL)
        writer->watch.ending(writer->watch.data);
    if (!db_commit(db, &error)) {
        fail_jobs(batch, error);
        return FALSE;
    }
    if (writer->watch.committed != NULL)
        writer->watch.committed(writer->watch.data);
    return TRUE;
}

static void
take_batch(Writer *writer, Batch *batch)
{
    g_mutex_lock(&writer->mutex);
    while (writer->waiting.length > 0 && batch->count < BATCH_MAX)
        batch->jobs[batch->count++] = g_queue_pop_head(&writer->waiting);
    g_mutex_unlock(&writer->mutex);
}

/* Whoever waits first leads next; it stays in the queue, and runs itself among the others. */
static Job *
count_batch(Writer *writer, guint jobs, gboolean committed)
{
    g_mutex_lock(&writer->mutex);
    writer->jobs += jobs;
    writer->commits += committed;
    Job *next = g_queue_peek_head(&writer->waiting);
    writer->led = next != NULL;
    g_mutex_unlock(&writer->mutex);
    return next;
}

/* A job that is finished can go when its mutex is let go, and then is not to be touched. */
static void
tell(Job *job, JobState state)
{
    g_mutex_lock(&job->mutex);
    job->state = state;
    g_cond_signal(&job->changed);
    g_mutex_unlock(&job->mutex);
}

/* Runs what waits, own among it. */
static void
lead(Writer *writer, const Job *own)
{
    Batch batch = {.count = 0};

    take_batch(writer, &batch);
    gboolean committed = run_batch(writer, &batch);
    Job *next = count_batch(writer, batch.count, committed);
    for (guint i = 0; i < batch.count; i++)
        if (batch.jobs[i] != own)
            tell(batch.jobs[i], JOB_FINISHED);
    if (next != NULL)
        tell(next, JOB_LEADS);
}

Writer *
writer_start(Db *db)
{
    Writer *writer = g_new0(Writer, 1);

    writer->db = db;
    g_mutex_init(&writer->mutex);
    g_queue_init(&writer->waiting);
    return writer;
}

void
writer_watch(Writer *writer, const WriterWatch *watch)
{
    g_mutex_lock(&writer->mutex);
    writer->watch = *watch;
    g_mutex_unlock(&writer->mutex);
}

void
writer_stop(Writer *writer)
{
    g_assert(!writer->led && writer->waiting.length == 0);
    db_close(writer->db);
    g_mutex_clear(&writer->mutex);
    g_free(writer);
}

/* TRUE: nobody leads, so the caller does. */
static gboolean
join(Writer *writer, Job *job)
{
    g_mutex_lock(&writer->mutex);
    gboolean leads = !writer->led;
    writer->led = TRUE;
    g_queue_push_tail(&writer->waiting, job);
    g_mutex_unlock(&writer->mutex);
    return leads;
}

/* TRUE: the caller is to lead now; FALSE: its job is done. */
static gboolean
wait_for_turn(Job *job)
{
    g_mutex_lock(&job->mutex);
    while (job->state == JOB_WAITS)
        g_cond_wait(&job->changed, &job->mutex);
    gboolean leads = job->state == JOB_LEADS;
    g_mutex_unlock(&job->mutex);
    return leads;
}

gboolean
writer_run(Writer *writer, WriterJob run, gpointer data, GError **error)
{
    Job job = {.run = run, .data = data};

    g_mutex_init(&job.mutex);
    g_cond_init(&job.changed);
    if (join(writer, &job) || wait_for_turn(&job))
        lead(writer, &job);
    g_cond_clear(&job.changed);
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
