#include "relay/relay.h"

Config *
relay_config(Relay *relay)
{
    g_mutex_lock(&relay->lock);
    Config *config = config_ref(relay->config);
    g_mutex_unlock(&relay->lock);
    return config;
}

gint64
relay_now(void)
{
    return g_get_real_time() / G_USEC_PER_SEC;
}
