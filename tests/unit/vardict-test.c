/* vardict-test - what is built member by member is an a{sv} like any other */
#include "lib/vardict.h"

static void
test_built(void)
{
    GVariantBuilder builder;

    g_variant_builder_init(&builder, G_VARIANT_TYPE_VARDICT);
    vardict_add_text(&builder, "left out", "");
    vardict_add_text(&builder, "text", "ä");
    vardict_add(&builder, "flag", g_variant_new_boolean(TRUE));
    g_autoptr(GVariant) dict = g_variant_ref_sink(g_variant_builder_end(&builder));
    g_autoptr(GVariant) same =
        g_variant_ref_sink(g_variant_new_parsed("{'text': <'ä'>, 'flag': <true>}"));

    g_assert_cmpvariant(dict, same);
}

/* The key stays when the value is gone, the text when both are: a peer's bytes have them. */
static void
test_read(void)
{
    g_autoptr(GVariant) made =
        g_variant_ref_sink(g_variant_new_parsed("{'text': <'a'>, 'number': <1>}"));
    g_autoptr(GBytes) bytes = g_variant_get_data_as_bytes(made);
    g_autoptr(GVariant) dict =
        g_variant_ref_sink(g_variant_new_from_bytes(G_VARIANT_TYPE_VARDICT, bytes, FALSE));
    const char *key, *text = "unchanged";
    GVariant *value = vardict_member(dict, 1, &key);

    g_assert_cmpstr(key, ==, "number");
    vardict_get_text(value, &text);
    g_assert_cmpstr(text, ==, "unchanged");
    g_variant_unref(value);
    value = vardict_member(dict, 0, &key);
    vardict_get_text(value, &text);
    g_variant_unref(value);
    g_assert_cmpstr(key, ==, "text");
    g_assert_cmpstr(text, ==, "a");
}

static const char *const printed[] = {
    "@a{sv} {}",
    "{'text': <'plain'>}",
    "{'': <''>, 'two': <'words ~'>, 'three': <uint32 3>}",
    "{'quote': <\"it's\">, 'both': <\"it's \\\"it\\\"\">, 'slash': <'\\\\n'>}",
    "{'it\\'s': <'\\n\\r\\t\\u0001\\u007f'>, 'grün\\u202e': <'ü\\u00ad\\u200b'>}",
    "{'list': <['a', 'b']>, 'none': <@as []>, 'pair': <{'a': 'b'}>, 'box': <<'a'>>}",
    "{'x': <int64 -1>, 't': <uint64 1>, 'b': <true>, 'o': <objectpath '/a'>}",
};

/* What is sealed and read back is what GLib would have written. */
static void
test_printed(void)
{
    for (gsize i = 0; i < G_N_ELEMENTS(printed); i++) {
        g_autoptr(GVariant) dict =
            g_variant_parse(G_VARIANT_TYPE_VARDICT, printed[i], NULL, NULL, NULL);
        g_autofree char *expected = g_variant_print(dict, TRUE);
        g_autofree char *print = vardict_print(dict);

        g_assert_cmpstr(print, ==, expected);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/vardict/built", test_built);
    g_test_add_func("/vardict/printed", test_printed);
    g_test_add_func("/vardict/read", test_read);
    return g_test_run();
}
