/* Whether an address is inside: decides if mail without a login is refused (XA4). */
#include "lib/network.h"

static void
test_includes(void)
{
    static const struct {
        const char *network;
        const char *ip;
        gboolean inside;
    } ROWS[] = {
        {"127.0.0.0/8", "127.0.0.1", TRUE},
        {"127.0.0.0/8", "128.0.0.1", FALSE},
        {"127.0.0.0/8", "::ffff:127.0.0.1", TRUE},
        {"127.0.0.0/8", "unknown", FALSE},
        {"127.0.0.0/8", "", FALSE},
        {"127.0.0.0/8", "127.1", FALSE},
        {"::1/128", "::1", TRUE},
        {"::1/128", "IPv6:::1", TRUE},
        {"::1/128", "::2", FALSE},
        {"::1", "::1", TRUE},
        {"192.0.2.7", "192.0.2.7", TRUE},
        {"192.0.2.7", "192.0.2.8", FALSE},
        {"192.0.2.8/29", "192.0.2.15", TRUE},
        {"192.0.2.8/29", "192.0.2.16", FALSE},
        {"0.0.0.0/0", "203.0.113.1", TRUE},
        {"0.0.0.0/0", "2001:db8::1", FALSE},
        {"2001:db8::/33", "2001:db8:7fff::1", TRUE},
        {"2001:db8::/33", "2001:db8:8000::1", FALSE},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(ROWS); i++) {
        g_assert_true(network_is_valid(ROWS[i].network));
        g_assert_cmpint(network_includes(ROWS[i].network, ROWS[i].ip), ==, ROWS[i].inside);
    }
}

static void
test_is_valid(void)
{
    static const char *const BAD[] = {
        "",           "localhost", "192.0.2.1/29", "192.0.2.0/", "1.2.3.0/8/8", "1.2.3",
        "1.2.3.4/33", "::/129",    "::1/-1",       "::1/0x80",   "/8"};

    for (gsize i = 0; i < G_N_ELEMENTS(BAD); i++)
        g_assert_false(network_is_valid(BAD[i]));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/network/includes XA4", test_includes);
    g_test_add_func("/network/is-valid", test_is_valid);
    return g_test_run();
}
