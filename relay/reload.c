#include "relay/reload.h"

#include "lib/log.h"
#include "relay/schedule.h"
#include "store/audit.h"

gboolean
reload_record(gpointer data, GError **error)
{
    Relay *relay = data;
    g_autoptr(Config) config = relay_config(relay);

    for (guint i = 0; i < config->accounts->len; i++) {
        const Account *account = g_ptr_array_index(config->accounts, i);
        GVariantDict details;

        g_variant_dict_init(&details, NULL);
        g_variant_dict_insert(&details, "mode", "s", mode_name(account->mode));
        g_variant_dict_insert(&details, "policy", "s", policy_version(account->policy));
        const AuditEntry entry = {.kind = "configured",
                                  .account = account->name,
                                  .who = "relay",
                                  .details = g_variant_dict_end(&details)};
        if (!audit_append(relay->db, &entry, relay_now(), error))
            return FALSE;
    }
    return TRUE;
}

/* Takes fresh; NULL: why is what stood in the way. */
static void
replace(Relay *relay, Config *fresh, const GError *why)
{
    g_mutex_lock(&relay->lock);
    Config *old = fresh != NULL ? relay->config : NULL;
    if (fresh != NULL)
        relay->config = fresh;
    g_free(relay->reload_error);
    relay->reload_error = why != NULL ? g_strdup(why->message) : NULL;
    relay->reload_failed = why != NULL ? relay_now() : 0;
    g_mutex_unlock(&relay->lock);
    if (old != NULL)
        config_unref(old);
}

static gboolean
read_again(Relay *relay, GError **error)
{
    g_autoptr(Config) config = relay_config(relay);
    g_autoptr(GError) why = NULL;
    Config *fresh = config_read(config->path, TRUE, &why);

    replace(relay, fresh, why);
    if (fresh != NULL)
        return TRUE;
    g_propagate_error(error, g_steal_pointer(&why));
    return FALSE;
}

gboolean
reload_now(Relay *relay, GError **error)
{
    static GMutex turn;
    g_autoptr(GError) trouble = NULL;

    /* One at a time, or an older file could replace a newer one. */
    g_mutex_lock(&turn);
    gboolean good = read_again(relay, error);
    g_mutex_unlock(&turn);
    if (!good)
        return FALSE;
    if (!writer_run(relay->writer, reload_record, relay, &trouble))
        log_error("the reload is not in the audit record: %s", trouble->message);
    g_autoptr(Config) config = relay_config(relay);
    log_info("read %s again", config->path);
    schedule_review(relay->schedule);
    return TRUE;
}

gboolean
reload_ask(Request *request, GError **error)
{
    GVariantDict dict;

    if (!reload_now(request->relay, error))
        return FALSE;
    g_variant_dict_init(&dict, NULL);
    g_variant_dict_insert(&dict, "reloaded", "x", request->now);
    request->reply = g_variant_ref_sink(g_variant_dict_end(&dict));
    return TRUE;
}

void
reload_describe(Relay *relay, GVariantDict *status)
{
    g_mutex_lock(&relay->lock);
    g_variant_dict_insert(status, "reload_failed", "x", relay->reload_failed);
    g_variant_dict_insert(status, "reload_error", "s",
                          relay->reload_error != NULL ? relay->reload_error : "");
    g_mutex_unlock(&relay->lock);
}
