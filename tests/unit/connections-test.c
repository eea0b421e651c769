/* Connections wait for the next message, and not for ever. */
#include "relay/connections.h"

#include <glib/gstdio.h>

#include "tests/unit/smtp-server.h"

#define POLICY_TEXT "hold \"all\"\n"

/* Two readings of the same file are two configurations, as after a reload. */
typedef struct {
    char *folder, *conf, *policy, *socket;
    Server *server;
    Config *config, *again;
    Connections *connections;
} Place;

static void
write_file(const char *path, const char *text)
{
    g_autoptr(GError) error = NULL;

    g_file_set_contents_full(path, text, -1, G_FILE_SET_CONTENTS_NONE, 0600, &error);
    g_assert_no_error(error);
}

static void
begin(Place *place)
{
    static const Script ordinary;
    g_autoptr(GError) error = NULL;

    place->folder = g_dir_make_tmp("exeat-connections-XXXXXX", NULL);
    place->conf = g_build_filename(place->folder, "conf", NULL);
    place->policy = g_build_filename(place->folder, "policy", NULL);
    place->socket = g_build_filename(place->folder, "socket", NULL);
    g_autofree char *text = g_strdup_printf(
        "[exeat]\nmilter-user = 4001\nnext-hop = unix:%s\n[account a]\naddresses = "
        "a@example.com\nagent-logins = a\ninternal-domains = example.com\npolicy = policy\n",
        place->socket);
    write_file(place->conf, text);
    write_file(place->policy, POLICY_TEXT);
    place->config = config_read(place->conf, TRUE, &error);
    g_assert_no_error(error);
    place->again = config_read(place->conf, TRUE, &error);
    g_assert_no_error(error);
    place->server = server_start(&ordinary, place->socket, NULL, FALSE);
    place->connections = connections_new();
}

static void
end(Place *place)
{
    connections_free(place->connections);
    server_free(place->server);
    config_unref(place->config);
    config_unref(place->again);
    g_unlink(place->conf);
    g_unlink(place->policy);
    g_assert_cmpint(g_rmdir(place->folder), ==, 0);
    g_free(place->folder);
    g_free(place->conf);
    g_free(place->policy);
    g_free(place->socket);
}

/* Sends a message; returns the connection that it went by, which is given back. */
static const Connection *
send_one(Place *place, Config *config)
{
    Connection *connection = connections_take(place->connections, config, &config->hop);
    g_autoptr(SmtpResult) result =
        send_text(connection_client(connection), SENDER, RECIPIENTS, TEXT);

    g_assert_cmpint(result->outcome, ==, SMTP_ACCEPTED);
    connections_give(place->connections, connection);
    return connection;
}

static void
assert_connections(Place *place, guint expected)
{
    g_clear_pointer(&place->connections, connections_free);
    server_stop(place->server);
    g_assert_cmpuint(server_connections(place->server), ==, expected);
    place->connections = connections_new();
}

static void
test_kept(void)
{
    Place place;

    begin(&place);
    const Connection *first = send_one(&place, place.config);
    connections_tidy(place.connections, place.config, g_get_monotonic_time());
    g_assert_true(send_one(&place, place.config) == first);
    assert_connections(&place, 1);
    end(&place);
}

static void
test_idle(void)
{
    Place place;

    begin(&place);
    send_one(&place, place.config);
    connections_tidy(place.connections, place.config,
                     g_get_monotonic_time() + (CONNECTIONS_IDLE + 1) * G_TIME_SPAN_SECOND);
    send_one(&place, place.config);
    assert_connections(&place, 2);
    end(&place);
}

/* What was opened with the old password, or to the old place, carries nothing new. */
static void
test_reload(void)
{
    Place place;

    begin(&place);
    send_one(&place, place.config);
    connections_tidy(place.connections, place.again, g_get_monotonic_time());
    send_one(&place, place.again);
    assert_connections(&place, 2);
    end(&place);
}

/* Without a word to anybody. */
static void
test_unused(void)
{
    Place place;

    begin(&place);
    connections_give(place.connections,
                     connections_take(place.connections, place.config, &place.config->hop));
    assert_connections(&place, 0);
    end(&place);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/connections/kept", test_kept);
    g_test_add_func("/connections/idle", test_idle);
    g_test_add_func("/connections/reload", test_reload);
    g_test_add_func("/connections/unused", test_unused);
    return g_test_run();
}
