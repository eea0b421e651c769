#include "relay/untold.h"

#include "relay/people.h"

enum { RETRY = 5 * 60 };

struct _Untold {
    GMutex lock;
    GHashTable *failures; /* "ACCOUNT KEY" to Failure * */
};

typedef struct {
    char *account;
    const char *key;
    char *error;
    gint64 since, tried;
} Failure;

static void
failure_free(gpointer data)
{
    Failure *failure = data;

    g_free(failure->account);
    g_free(failure->error);
    g_free(failure);
}

static char *
failure_name(const char *account, const char *key)
{
    return g_strdup_printf("%s %s", account, key);
}

Untold *
untold_new(void)
{
    Untold *untold = g_new0(Untold, 1);

    g_mutex_init(&untold->lock);
    untold->failures = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, failure_free);
    return untold;
}

void
untold_free(Untold *untold)
{
    g_hash_table_destroy(untold->failures);
    g_mutex_clear(&untold->lock);
    g_free(untold);
}

/* A clock that went back puts nothing off. */
gboolean
untold_may_try(Untold *untold, const char *account, const char *key, gint64 now)
{
    g_autofree char *name = failure_name(account, key);

    g_mutex_lock(&untold->lock);
    const Failure *failure = g_hash_table_lookup(untold->failures, name);
    gboolean may = failure == NULL || now < failure->tried || now - failure->tried >= RETRY;
    g_mutex_unlock(&untold->lock);
    return may;
}

void
untold_note(Untold *untold, const char *account, const char *key, const char *text, gint64 now)
{
    char *name = failure_name(account, key);
    Failure *failure = g_new0(Failure, 1);

    g_mutex_lock(&untold->lock);
    const Failure *before = g_hash_table_lookup(untold->failures, name);
    failure->account = g_strdup(account);
    failure->key = key;
    failure->error = g_utf8_make_valid(text, -1);
    failure->since = before != NULL ? before->since : now;
    failure->tried = now;
    g_hash_table_replace(untold->failures, name, failure);
    g_mutex_unlock(&untold->lock);
}

void
untold_end(Untold *untold, const char *account, const char *key)
{
    g_autofree char *name = failure_name(account, key);

    g_mutex_lock(&untold->lock);
    g_hash_table_remove(untold->failures, name);
    g_mutex_unlock(&untold->lock);
}

void
untold_forget(Untold *untold)
{
    g_mutex_lock(&untold->lock);
    g_hash_table_remove_all(untold->failures);
    g_mutex_unlock(&untold->lock);
}

GVariant *
untold_view(Untold *untold, const Request *request)
{
    GVariantBuilder view;
    GHashTableIter iter;
    gpointer value;

    g_variant_builder_init(&view, G_VARIANT_TYPE("aa{sv}"));
    g_mutex_lock(&untold->lock);
    g_hash_table_iter_init(&iter, untold->failures);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        const Failure *failure = value;
        GVariantDict dict;

        if (!people_may_know(request, failure->account))
            continue;
        g_variant_dict_init(&dict, NULL);
        g_variant_dict_insert(&dict, "account", "s", failure->account);
        g_variant_dict_insert(&dict, "key", "s", failure->key);
        g_variant_dict_insert(&dict, "error", "s", failure->error);
        g_variant_dict_insert(&dict, "since", "x", failure->since);
        g_variant_builder_add_value(&view, g_variant_dict_end(&dict));
    }
    g_mutex_unlock(&untold->lock);
    return g_variant_builder_end(&view);
}
