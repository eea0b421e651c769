#include "milter/current.h"

#include <string.h>
#include <sys/stat.h>

#include "lib/log.h"

static struct {
    const char *path;
    GMutex lock; /* for what follows */
    Config *config;
    struct stat seen;
} current;

/* The look comes before the reading, here and below: what changes in between is read again. */
Config *
current_begin(const char *path, GError **error)
{
    current.path = path;
    if (stat(path, &current.seen) != 0)
        memset(&current.seen, 0, sizeof current.seen);
    current.config = config_read(path, FALSE, error);
    return current.config != NULL ? config_ref(current.config) : NULL;
}

static gboolean
is_seen(const struct stat *now)
{
    return now->st_ino == current.seen.st_ino && now->st_size == current.seen.st_size &&
           now->st_mtim.tv_sec == current.seen.st_mtim.tv_sec &&
           now->st_mtim.tv_nsec == current.seen.st_mtim.tv_nsec;
}

Config *
current_config(void)
{
    g_autoptr(GError) error = NULL;
    struct stat now;

    g_mutex_lock(&current.lock);
    if (stat(current.path, &now) == 0 && !is_seen(&now)) {
        Config *fresh = config_read(current.path, FALSE, &error);

        current.seen = now;
        if (fresh != NULL) {
            config_unref(current.config);
            current.config = fresh;
            log_info("read %s again", current.path);
        } else {
            log_error("%s; the configuration read before stays in force", error->message);
        }
    }
    Config *config = config_ref(current.config);
    g_mutex_unlock(&current.lock);
    return config;
}
