#include "cli/json.h"

#include <jansson.h>
#include <stdlib.h>

static json_t *of_variant(GVariant *value);

/* Takes value. FALSE when there is none, or no memory: both are the end of the whole. */
static gboolean
set_member(json_t *object, const char *key, json_t *value)
{
    return value != NULL && json_object_set_new(object, key, value) == 0;
}

static json_t *
of_dictionary(GVariant *dictionary)
{
    json_t *object = json_object();

    for (gsize i = 0; i < g_variant_n_children(dictionary); i++) {
        g_autoptr(GVariant) entry = g_variant_get_child_value(dictionary, i);
        g_autoptr(GVariant) key = g_variant_get_child_value(entry, 0);
        g_autoptr(GVariant) value = g_variant_get_child_value(entry, 1);
        if (!set_member(object, g_variant_get_string(key, NULL), of_variant(value))) {
            json_decref(object);
            return NULL;
        }
    }
    return object;
}

static json_t *
of_array(GVariant *array)
{
    json_t *list = json_array();

    for (gsize i = 0; i < g_variant_n_children(array); i++) {
        g_autoptr(GVariant) child = g_variant_get_child_value(array, i);
        json_t *value = of_variant(child);
        if (value == NULL || json_array_append_new(list, value) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

/* The types that the protocol knows; NULL for any other. */
static json_t *
of_variant(GVariant *value)
{
    switch (g_variant_classify(value)) {
    case G_VARIANT_CLASS_STRING:
        return json_string(g_variant_get_string(value, NULL));
    case G_VARIANT_CLASS_BOOLEAN:
        return json_boolean(g_variant_get_boolean(value));
    case G_VARIANT_CLASS_INT64:
        return json_integer(g_variant_get_int64(value));
    case G_VARIANT_CLASS_UINT64:
        return json_integer((json_int_t)g_variant_get_uint64(value));
    case G_VARIANT_CLASS_UINT32:
        return json_integer(g_variant_get_uint32(value));
    case G_VARIANT_CLASS_VARIANT: {
        g_autoptr(GVariant) inner = g_variant_get_variant(value);
        return of_variant(inner);
    }
    case G_VARIANT_CLASS_ARRAY:
        return g_variant_is_of_type(value, G_VARIANT_TYPE_DICTIONARY) ? of_dictionary(value)
                                                                      : of_array(value);
    default:
        return NULL;
    }
}

/* The names in "unknown" become members of "facts" that are null. */
static gboolean
join_facts(json_t *object)
{
    json_t *facts = json_object_get(object, "facts");
    json_t *unknown = json_object_get(object, "unknown");
    gboolean good = TRUE;
    size_t i;
    json_t *name;

    if (facts == NULL || unknown == NULL)
        return TRUE;
    json_array_foreach(unknown, i, name) good =
        good && set_member(facts, json_string_value(name), json_null());
    json_object_del(object, "unknown");
    return good;
}

char *
json_of_answer(GVariant *answer)
{
    json_t *object = of_variant(answer);
    char *text = NULL;

    if (object != NULL && join_facts(object))
        text = json_dumps(object, JSON_ENSURE_ASCII | JSON_INDENT(2) | JSON_SORT_KEYS);
    json_decref(object);
    if (text == NULL)
        return NULL;
    /* Jansson leaves DEL, which is ASCII too. It occurs in strings only. */
    g_autoptr(GString) safe = g_string_new(text);
    free(text);
    g_string_replace(safe, "\x7f", "\\u007f", 0);
    g_string_append_c(safe, '\n');
    return g_string_free(g_steal_pointer(&safe), FALSE);
}
