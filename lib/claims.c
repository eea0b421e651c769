#include "lib/claims.h"

GHashTable *
claims_new(void)
{
    return g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
}

GVariant *
claims_to_variant(GHashTable *claims)
{
    GVariantBuilder builder;
    GHashTableIter iter;
    gpointer name, value;

    g_variant_builder_init(&builder, G_VARIANT_TYPE("a{ss}"));
    if (claims == NULL)
        return g_variant_builder_end(&builder);
    g_hash_table_iter_init(&iter, claims);
    while (g_hash_table_iter_next(&iter, &name, &value)) {
        g_autofree char *valid_name = g_utf8_make_valid(name, -1);
        g_autofree char *valid_value = g_utf8_make_valid(value, -1);

        g_variant_builder_add(&builder, "{ss}", valid_name, valid_value);
    }
    return g_variant_builder_end(&builder);
}

gboolean
claims_from_variant(GVariant *variant, GHashTable *claims)
{
    GVariantIter iter;
    char *name, *value;

    if (!g_variant_is_of_type(variant, G_VARIANT_TYPE("a{ss}")) ||
        !g_variant_is_normal_form(variant))
        return FALSE;
    g_variant_iter_init(&iter, variant);
    while (g_variant_iter_next(&iter, "{ss}", &name, &value))
        g_hash_table_insert(claims, name, value);
    return TRUE;
}
