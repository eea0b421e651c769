/* threads.c - tells ThreadSanitizer what GLib's locks order
 *
 * Loaded with LD_PRELOAD into a daemon built with --enable-sanitizers=thread. GLib is not
 * built so, and its locks are system calls that ThreadSanitizer does not see: without this
 * every use of what they protect would count as a race. */
#include <dlfcn.h>
#include <stdlib.h>

#include <glib.h>

/* ThreadSanitizer's own, missing where it is not built in. */
void __tsan_acquire(void *address) __attribute__((weak));
void __tsan_release(void *address) __attribute__((weak));

static void
acquire(void *address)
{
    if (__tsan_acquire != NULL)
        __tsan_acquire(address);
}

static void
release(void *address)
{
    if (__tsan_release != NULL)
        __tsan_release(address);
}

#define REAL(name)                                                                            \
    static __typeof__(name) *real;                                                            \
    if (real == NULL)                                                                         \
    *(void **)&real = dlsym(RTLD_NEXT, #name)

void
g_mutex_lock(GMutex *mutex)
{
    REAL(g_mutex_lock);
    real(mutex);
    acquire(mutex);
}

void
g_mutex_unlock(GMutex *mutex)
{
    REAL(g_mutex_unlock);
    release(mutex);
    real(mutex);
}

void
g_cond_wait(GCond *cond, GMutex *mutex)
{
    REAL(g_cond_wait);
    release(mutex);
    real(cond, mutex);
    acquire(mutex);
}

gboolean
g_cond_wait_until(GCond *cond, GMutex *mutex, gint64 end)
{
    REAL(g_cond_wait_until);
    release(mutex);
    gboolean woken = real(cond, mutex, end);
    acquire(mutex);
    return woken;
}

void
g_atomic_rc_box_release_full(void *box, GDestroyNotify clear)
{
    REAL(g_atomic_rc_box_release_full);
    release(box);
    acquire(box); /* of all who let go before, should this be the last */
    real(box, clear);
}

/* Whoever runs what was given to a pool comes after whoever gave it. */
typedef struct {
    GFunc work;
    void *data;
} Pool;

static char given;

static void
run(void *item, void *data)
{
    const Pool *pool = data;

    acquire(&given);
    pool->work(item, pool->data);
}

GThreadPool *
g_thread_pool_new(GFunc work, void *data, int most, gboolean exclusive, GError **error)
{
    REAL(g_thread_pool_new);
    Pool *pool = malloc(sizeof *pool); /* for the life of the process */

    if (pool == NULL)
        abort();
    *pool = (Pool){work, data};
    return real(run, pool, most, exclusive, error);
}

gboolean
g_thread_pool_push(GThreadPool *pool, void *item, GError **error)
{
    REAL(g_thread_pool_push);
    release(&given);
    return real(pool, item, error);
}
