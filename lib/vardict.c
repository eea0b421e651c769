#include "lib/vardict.h"

void
vardict_add(GVariantBuilder *builder, const char *key, GVariant *value)
{
    g_variant_builder_add_value(
        builder,
        g_variant_new_dict_entry(g_variant_new_string(key), g_variant_new_variant(value)));
}

void
vardict_add_text(GVariantBuilder *builder, const char *key, const char *text)
{
    if (*text != '\0')
        vardict_add(builder, key, g_variant_new_string(text));
}

void
vardict_get_text(GVariant *value, const char **text_out)
{
    if (g_variant_is_of_type(value, G_VARIANT_TYPE_STRING))
        *text_out = g_variant_get_string(value, NULL);
}

GVariant *
vardict_member(GVariant *dict, gsize index, const char **key_out)
{
    g_autoptr(GVariant) entry = g_variant_get_child_value(dict, index);
    g_autoptr(GVariant) key = g_variant_get_child_value(entry, 0);
    g_autoptr(GVariant) boxed = g_variant_get_child_value(entry, 1);

    *key_out = g_variant_get_string(key, NULL);
    return g_variant_get_variant(boxed);
}
