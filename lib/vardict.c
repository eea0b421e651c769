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

static gboolean
needs_no_escape(const char *text)
{
    while (*text >= ' ' && *text <= '~' && *text != '\'' && *text != '\\')
        text++;
    return *text == '\0';
}

static void
print_string(GString *print, const char *text)
{
    if (needs_no_escape(text)) {
        g_string_append_c(print, '\'');
        g_string_append(print, text);
        g_string_append_c(print, '\'');
        return;
    }
    g_autoptr(GVariant) value =
        g_variant_ref_sink(g_variant_new_take_string(g_utf8_make_valid(text, -1)));
    g_variant_print_string(value, print, TRUE);
}

static void
print_key(GString *print, const char *key)
{
    g_string_append(print, print->len == 0 ? "{" : ", ");
    print_string(print, key);
    g_string_append(print, ": <");
}

void
vardict_print_text(GString *print, const char *key, const char *text)
{
    print_key(print, key);
    print_string(print, text != NULL ? text : "");
    g_string_append_c(print, '>');
}

void
vardict_print_value(GString *print, const char *key, GVariant *value)
{
    g_autoptr(GVariant) owned = g_variant_ref_sink(value);

    print_key(print, key);
    g_variant_print_string(owned, print, TRUE);
    g_string_append_c(print, '>');
}

char *
vardict_print_end(GString *print)
{
    g_string_append(print, print->len == 0 ? "@a{sv} {}" : "}");
    return g_string_free(print, FALSE);
}

char *
vardict_print(GVariant *dict)
{
    GString *print = g_string_new(NULL);

    for (gsize i = 0; i < g_variant_n_children(dict); i++) {
        const char *key, *text = NULL;
        g_autoptr(GVariant) value = vardict_member(dict, i, &key);

        vardict_get_text(value, &text);
        if (text != NULL)
            vardict_print_text(print, key, text);
        else
            vardict_print_value(print, key, value);
    }
    return vardict_print_end(print);
}
