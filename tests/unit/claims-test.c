#include "lib/claims.h"

static void
test_round_trip(void)
{
    g_autoptr(GHashTable) claims = claims_new(), again = claims_new();

    g_hash_table_insert(claims, g_strdup("agent-action"), g_strdup("answer"));
    g_hash_table_insert(claims, g_strdup("agent-\xff"), g_strdup("a\xfe"));
    g_autoptr(GVariant) variant = g_variant_ref_sink(claims_to_variant(claims));
    g_assert_true(claims_from_variant(variant, again));
    g_assert_cmpuint(g_hash_table_size(again), ==, 2);
    g_assert_cmpstr(g_hash_table_lookup(again, "agent-action"), ==, "answer");
    g_assert_cmpstr(g_hash_table_lookup(again, "agent-\xef\xbf\xbd"), ==, "a\xef\xbf\xbd");
}

static void
test_none(void)
{
    g_autoptr(GVariant) none = g_variant_ref_sink(claims_to_variant(NULL));
    g_autoptr(GVariant) other = g_variant_ref_sink(g_variant_new("as", NULL));
    g_autoptr(GHashTable) claims = claims_new();

    g_assert_true(claims_from_variant(none, claims));
    g_assert_false(claims_from_variant(other, claims));
    g_assert_cmpuint(g_hash_table_size(claims), ==, 0);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/claims/round trip", test_round_trip);
    g_test_add_func("/claims/none", test_none);
    return g_test_run();
}
