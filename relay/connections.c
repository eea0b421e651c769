#include "relay/connections.h"

#include "relay/credentials.h"

struct _Connection {
    Config *config;
    const NextHop *hop; /* of config */
    SmtpClient *client;
};

struct _Connections {
    GMutex lock;
    GPtrArray *idle; /* of Connection * */
};

static char *
fetch(gpointer data, gboolean fresh, GError **error)
{
    const NextHop *hop = data;

    return credentials_fetch(&hop->secret, hop->user, fresh, error);
}

static const char *
or_null(const char *text)
{
    return *text != '\0' ? text : NULL;
}

Connection *
connection_new(Config *config, const NextHop *hop)
{
    Connection *connection = g_new0(Connection, 1);
    const SmtpServer server = {
        .target = hop->target,
        .helo = g_get_host_name(),
        .tls = hop->tls,
        .ca_file = or_null(hop->ca_file),
        .certificate_file = or_null(hop->certificate_file),
        .key_file = or_null(hop->key_file),
        .user = or_null(hop->user),
        .auth = hop->auth,
        .token = secret_is_token(&hop->secret),
        .secret = fetch,
        .secret_data = (gpointer)hop,
    };

    connection->config = config_ref(config);
    connection->hop = hop;
    connection->client = smtp_new(&server);
    return connection;
}

void
connection_free(Connection *connection)
{
    smtp_free(connection->client);
    config_unref(connection->config);
    g_free(connection);
}

SmtpClient *
connection_client(Connection *connection)
{
    return connection->client;
}

Connections *
connections_new(void)
{
    Connections *connections = g_new0(Connections, 1);

    g_mutex_init(&connections->lock);
    connections->idle = g_ptr_array_new_with_free_func((GDestroyNotify)connection_free);
    return connections;
}

void
connections_free(Connections *connections)
{
    g_ptr_array_unref(connections->idle);
    g_mutex_clear(&connections->lock);
    g_free(connections);
}

static Connection *
find(Connections *connections, const NextHop *hop)
{
    for (guint i = connections->idle->len; i-- > 0;) {
        const Connection *connection = connections->idle->pdata[i];
        if (connection->hop == hop)
            return g_ptr_array_steal_index(connections->idle, i);
    }
    return NULL;
}

Connection *
connections_take(Connections *connections, Config *config, const NextHop *hop)
{
    g_mutex_lock(&connections->lock);
    Connection *connection = find(connections, hop);
    g_mutex_unlock(&connections->lock);
    return connection != NULL ? connection : connection_new(config, hop);
}

void
connections_give(Connections *connections, Connection *connection)
{
    g_mutex_lock(&connections->lock);
    if (smtp_last_used(connection->client) != 0 && connections->idle->len < CONNECTIONS_MOST)
        g_ptr_array_add(connections->idle, g_steal_pointer(&connection));
    g_mutex_unlock(&connections->lock);
    if (connection != NULL)
        connection_free(connection);
}

static gboolean
is_over(const Connection *connection, const Config *config, gint64 now)
{
    return connection->config != config ||
           now - smtp_last_used(connection->client) > CONNECTIONS_IDLE * G_TIME_SPAN_SECOND;
}

/* Saying goodbye takes time, so not under the lock. */
void
connections_tidy(Connections *connections, const Config *config, gint64 now)
{
    g_autoptr(GPtrArray) over =
        g_ptr_array_new_with_free_func((GDestroyNotify)connection_free);

    g_mutex_lock(&connections->lock);
    for (guint i = connections->idle->len; i-- > 0;)
        if (is_over(connections->idle->pdata[i], config, now))
            g_ptr_array_add(over, g_ptr_array_steal_index(connections->idle, i));
    g_mutex_unlock(&connections->lock);
}
