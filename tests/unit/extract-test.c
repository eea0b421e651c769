/* extract-test - an extract survives the wire, and a peer's lies do not */
#include "lib/extract.h"

#include "lib/error.h"

static Extract *
filled(void)
{
    Extract *extract = extract_new();

    g_free(extract->subject);
    extract->subject = g_strdup("Grüße");
    g_free(extract->from_field);
    extract->from_field = g_strdup("Ann <a@example.com>");
    g_strfreev(extract->to_cc);
    extract->to_cc = g_strsplit("nora@example.org sam@example.org", " ", -1);
    g_strfreev(extract->opaque);
    extract->opaque = g_strsplit("encrypted", " ", -1);
    g_strfreev(extract->attendees);
    extract->attendees = g_strsplit("lee@example.net", " ", -1);
    g_strfreev(extract->bounced);
    extract->bounced = g_strsplit("tom@example.net", " ", -1);
    g_strfreev(extract->returned);
    extract->returned = g_strsplit("<c@x>", " ", -1);
    extract->forward = TRUE;
    extract->differs = TRUE;
    extract->malformed = TRUE;
    extract_add_part(extract, "quote.pdf", "application/pdf", G_GUINT64_CONSTANT(1) << 40,
                     "ab");
    extract_add_part(extract, "", "image/png", 0, "");
    return extract;
}

static void
test_round_trip(void)
{
    g_autoptr(Extract) extract = filled();
    g_autoptr(GVariant) variant = g_variant_ref_sink(extract_to_variant(extract));
    g_autoptr(GError) error = NULL;
    g_autoptr(Extract) copy = extract_from_variant(variant, &error);

    g_assert_no_error(error);
    g_assert_true(g_variant_is_of_type(variant, G_VARIANT_TYPE_VARDICT));
    g_assert_cmpuint(g_variant_n_children(variant), ==, 11); /* what is empty stays away */
    g_assert_cmpstr(copy->subject, ==, "Grüße");
    g_assert_cmpstr(copy->from_field, ==, "Ann <a@example.com>");
    g_assert_cmpstr(copy->text, ==, "");
    g_assert_cmpstrv(copy->to_cc, extract->to_cc);
    g_assert_cmpstrv(copy->opaque, extract->opaque);
    g_assert_cmpuint(g_strv_length(copy->parents), ==, 0);
    g_assert_cmpstrv(copy->attendees, extract->attendees);
    g_assert_cmpstrv(copy->bounced, extract->bounced);
    g_assert_cmpstrv(copy->returned, extract->returned);
    g_assert_true(copy->forward && copy->malformed && copy->differs);
    g_assert_false(copy->quoted || copy->automatic);
    g_assert_cmpuint(copy->parts->len, ==, 2);
    const ExtractPart *part = g_ptr_array_index(copy->parts, 0);
    g_assert_cmpstr(part->name, ==, "quote.pdf");
    g_assert_cmpstr(part->type, ==, "application/pdf");
    g_assert_cmpuint(part->size, ==, G_GUINT64_CONSTANT(1) << 40);
    g_assert_cmpstr(part->sha256, ==, "ab");

    g_autoptr(GVariant) again = g_variant_ref_sink(extract_to_variant(copy));
    g_assert_true(g_variant_equal(variant, again));
}

static void
test_missing_keys(void)
{
    g_autoptr(GVariant) variant = g_variant_ref_sink(g_variant_new_parsed("@a{sv} {}"));
    g_autoptr(GError) error = NULL;
    g_autoptr(Extract) extract = extract_from_variant(variant, &error);

    g_assert_no_error(error);
    g_assert_cmpstr(extract->message_id, ==, "");
    g_assert_cmpuint(g_strv_length(extract->from), ==, 0);
    g_assert_cmpuint(extract->parts->len, ==, 0);
}

/* The last of two counts, and brings no more than one may. */
static void
test_twice(void)
{
    g_autoptr(GVariant) variant = g_variant_ref_sink(
        g_variant_new_parsed("[{'subject', <'a'>}, {'from', <['b', 'c']>},"
                             " {'parts', <[('d', 'e', uint64 1, 'f')]>}, {'subject', <'g'>},"
                             " {'from', <['h']>}, {'parts', <[('i', 'j', uint64 2, 'k')]>}]"));
    g_autoptr(GError) error = NULL;
    g_autoptr(Extract) extract = extract_from_variant(variant, &error);

    g_assert_no_error(error);
    g_assert_cmpstr(extract->subject, ==, "g");
    g_assert_cmpuint(g_strv_length(extract->from), ==, 1);
    g_assert_cmpuint(extract->parts->len, ==, 1);
    g_assert_cmpstr(((ExtractPart *)extract->parts->pdata[0])->name, ==, "i");
}

static const char *const refused[] = {
    "'text'",
    "{'subject': <1>}",
    "{'subject': <['a']>}",
    "{'from': <'owner@example.com'>}",
    "{'from': <[1, 2]>}",
    "{'malformed': <'no'>}",
    "{'forward': <0>}",
    "{'parts': <[('a', 'b', 1, 'c')]>}",
    "{'parts': <['a']>}",
};

static void
assert_refused(GVariant *variant)
{
    g_autoptr(GVariant) owned = g_variant_ref_sink(variant);
    g_autoptr(GError) error = NULL;

    g_assert_null(extract_from_variant(owned, &error));
    g_assert_error(error, EXEAT_ERROR, ERROR_PROTOCOL);
}

static void
test_wrong_types(void)
{
    for (gsize i = 0; i < G_N_ELEMENTS(refused); i++)
        assert_refused(g_variant_new_parsed(refused[i]));
}

/* A peer that sends more than mail_extract ever does is not to be believed. */
static void
test_limits(void)
{
    GVariantDict dict;
    g_autofree char *text = g_strnfill(EXTRACT_TEXT_LIMIT + 65536, 'a');
    g_autoptr(Extract) extract = extract_new();
    g_autoptr(GPtrArray) list = g_ptr_array_new();

    g_variant_dict_init(&dict, NULL);
    g_variant_dict_insert(&dict, "text", "s", text);
    assert_refused(g_variant_dict_end(&dict));

    for (guint i = 0; i <= EXTRACT_LIST_LIMIT; i++)
        g_ptr_array_add(list, (gpointer) "a");
    g_variant_dict_init(&dict, NULL);
    g_variant_dict_insert_value(
        &dict, "parents", g_variant_new_strv((const char *const *)list->pdata, list->len));
    assert_refused(g_variant_dict_end(&dict));

    for (guint i = 0; i <= EXTRACT_PART_LIMIT; i++)
        extract_add_part(extract, "", "a/b", 0, "");
    assert_refused(extract_to_variant(extract));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/extract/round trip", test_round_trip);
    g_test_add_func("/extract/missing keys", test_missing_keys);
    g_test_add_func("/extract/twice", test_twice);
    g_test_add_func("/extract/wrong types", test_wrong_types);
    g_test_add_func("/extract/limits", test_limits);
    return g_test_run();
}
