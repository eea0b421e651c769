/* An answer as JSON: names and types of the protocol, and nothing that a terminal obeys. */
#include "cli/json.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* The answer as one line, so that a row shows it whole. */
static char *
compact(const char *text)
{
    json_t *value = json_loads(text, 0, NULL);

    g_assert_nonnull(value);
    char *line = json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENSURE_ASCII);
    char *copy = g_strdup(line);
    free(line);
    json_decref(value);
    return copy;
}

static void
test_types(void)
{
    static const struct {
        const char *answer;
        const char *json;
    } ROWS[] = {
        {"@a{sv} {}", "{}"},
        {"{'b': <'x'>, 'a': <int64 -3>}", "{\"a\":-3,\"b\":\"x\"}"},
        {"{'t': <uint64 5000000000>, 'u': <uint32 7>}", "{\"t\":5000000000,\"u\":7}"},
        {"{'yes': <true>, 'no': <false>}", "{\"no\":false,\"yes\":true}"},
        {"{'to': <['a', 'b']>, 'none': <@as []>}", "{\"none\":[],\"to\":[\"a\",\"b\"]}"},
        {"{'items': <[{'id': <'i'>}]>}", "{\"items\":[{\"id\":\"i\"}]}"},
        {"{'claims': <{'Agent-Action': 'reply'}>}",
         "{\"claims\":{\"Agent-Action\":\"reply\"}}"},
        {"{'counts': <{'held': uint32 2}>}", "{\"counts\":{\"held\":2}}"},
        {"{'facts': <{'novel': <int64 1>, 'forward': <false>}>, 'unknown': <['lookalike']>}",
         "{\"facts\":{\"forward\":false,\"lookalike\":null,\"novel\":1}}"},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(ROWS); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(GVariant) answer =
            g_variant_parse(G_VARIANT_TYPE("a{sv}"), ROWS[i].answer, NULL, NULL, &error);
        g_assert_no_error(error);
        g_autofree char *text = json_of_answer(answer);
        g_autofree char *line = compact(text);
        g_assert_cmpstr(line, ==, ROWS[i].json);
    }
}

/* XD3, XD4: control characters, direction marks and DEL only as \u. */
static void
test_safe(void)
{
    const char *hostile = "\x1b]52;c;x\x07 \xe2\x80\xae \xc2\x9b \x7f \r ü";
    GVariantDict dict;

    g_variant_dict_init(&dict, NULL);
    g_variant_dict_insert(&dict, "subject", "s", hostile);
    g_autoptr(GVariant) answer = g_variant_ref_sink(g_variant_dict_end(&dict));
    g_autofree char *text = json_of_answer(answer);
    for (const char *at = text; *at != '\0'; at++)
        g_assert_true(*at == '\n' || (*at >= ' ' && *at < 0x7f));
    json_t *value = json_loads(text, 0, NULL);
    g_assert_cmpstr(json_string_value(json_object_get(value, "subject")), ==, hostile);
    json_decref(value);
}

static void
test_unknown_type(void)
{
    g_autoptr(GVariant) answer = g_variant_ref_sink(g_variant_new_parsed("{'x': <(1, 2)>}"));

    g_assert_null(json_of_answer(answer));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/json/types", test_types);
    g_test_add_func("/json/safe XD4", test_safe);
    g_test_add_func("/json/unknown-type", test_unknown_type);
    return g_test_run();
}
