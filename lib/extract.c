#include "lib/extract.h"

#include "lib/error.h"

#define STRING_MAX (EXTRACT_TEXT_LIMIT + 4096) /* the text and a mark that it was cut */

static const struct {
    const char *key;
    gsize offset;
} strings[] =
    {
        {"message_id", G_STRUCT_OFFSET(Extract, message_id)},
        {"subject", G_STRUCT_OFFSET(Extract, subject)},
        {"text", G_STRUCT_OFFSET(Extract, text)},
        {"html", G_STRUCT_OFFSET(Extract, html)},
},
  lists[] =
      {
          {"parents", G_STRUCT_OFFSET(Extract, parents)},
          {"from", G_STRUCT_OFFSET(Extract, from)},
          {"to_cc", G_STRUCT_OFFSET(Extract, to_cc)},
          {"diverted", G_STRUCT_OFFSET(Extract, diverted)},
          {"attendees", G_STRUCT_OFFSET(Extract, attendees)},
          {"lists", G_STRUCT_OFFSET(Extract, lists)},
          {"mentioned", G_STRUCT_OFFSET(Extract, mentioned)},
          {"doubled", G_STRUCT_OFFSET(Extract, doubled)},
          {"opaque", G_STRUCT_OFFSET(Extract, opaque)},
          {"bounced", G_STRUCT_OFFSET(Extract, bounced)},
          {"returned", G_STRUCT_OFFSET(Extract, returned)},
},
  flags[] = {
      {"malformed", G_STRUCT_OFFSET(Extract, malformed)},
      {"forward", G_STRUCT_OFFSET(Extract, forward)},
      {"quoted", G_STRUCT_OFFSET(Extract, quoted)},
      {"differs", G_STRUCT_OFFSET(Extract, differs)},
      {"capped", G_STRUCT_OFFSET(Extract, capped)},
      {"automatic", G_STRUCT_OFFSET(Extract, automatic)},
};

#define MEMBER(type, extract, row) G_STRUCT_MEMBER(type, extract, (row).offset)

static void
part_free(ExtractPart *part)
{
    g_free(part->name);
    g_free(part->type);
    g_free(part->sha256);
    g_free(part);
}

Extract *
extract_new(void)
{
    Extract *extract = g_new0(Extract, 1);

    for (gsize i = 0; i < G_N_ELEMENTS(strings); i++)
        MEMBER(char *, extract, strings[i]) = g_strdup("");
    for (gsize i = 0; i < G_N_ELEMENTS(lists); i++)
        MEMBER(char **, extract, lists[i]) = g_new0(char *, 1);
    extract->parts = g_ptr_array_new_with_free_func((GDestroyNotify)part_free);
    return extract;
}

void
extract_free(Extract *extract)
{
    for (gsize i = 0; i < G_N_ELEMENTS(strings); i++)
        g_free(MEMBER(char *, extract, strings[i]));
    for (gsize i = 0; i < G_N_ELEMENTS(lists); i++)
        g_strfreev(MEMBER(char **, extract, lists[i]));
    g_ptr_array_unref(extract->parts);
    g_free(extract);
}

void
extract_drop_texts(Extract *extract)
{
    g_free(extract->text);
    extract->text = g_strdup("");
    g_free(extract->html);
    extract->html = g_strdup("");
}

void
extract_add_part(Extract *extract, const char *name, const char *type, guint64 size,
                 const char *sha256)
{
    ExtractPart *part = g_new0(ExtractPart, 1);

    part->name = g_strdup(name);
    part->type = g_strdup(type);
    part->size = size;
    part->sha256 = g_strdup(sha256);
    g_ptr_array_add(extract->parts, part);
}

GVariant *
extract_to_variant(const Extract *extract)
{
    GVariantDict dict;
    GVariantBuilder parts;

    g_variant_dict_init(&dict, NULL);
    for (gsize i = 0; i < G_N_ELEMENTS(strings); i++)
        g_variant_dict_insert(&dict, strings[i].key, "s", MEMBER(char *, extract, strings[i]));
    for (gsize i = 0; i < G_N_ELEMENTS(lists); i++)
        g_variant_dict_insert(&dict, lists[i].key, "^as", MEMBER(char **, extract, lists[i]));
    for (gsize i = 0; i < G_N_ELEMENTS(flags); i++)
        g_variant_dict_insert(&dict, flags[i].key, "b", MEMBER(gboolean, extract, flags[i]));

    g_variant_builder_init(&parts, G_VARIANT_TYPE("a(ssts)"));
    for (guint i = 0; i < extract->parts->len; i++) {
        const ExtractPart *part = g_ptr_array_index(extract->parts, i);
        g_variant_builder_add(&parts, "(ssts)", part->name, part->type, part->size,
                              part->sha256);
    }
    g_variant_dict_insert(&dict, "parts", "@a(ssts)", g_variant_builder_end(&parts));
    return g_variant_dict_end(&dict);
}

/* The member of that key; NULL without an error when it is missing. */
static gboolean
look_up(GVariantDict *dict, const char *key, const char *type, GVariant **member_out,
        GError **error)
{
    g_autoptr(GVariant) member = g_variant_dict_lookup_value(dict, key, NULL);

    if (member != NULL && !g_variant_is_of_type(member, G_VARIANT_TYPE(type))) {
        g_set_error(error, EXEAT_ERROR, ERROR_PROTOCOL, "extract: %s is %s, expected %s", key,
                    g_variant_get_type_string(member), type);
        return FALSE;
    }
    *member_out = g_steal_pointer(&member);
    return TRUE;
}

static gboolean
check_limit(const char *key, gsize found, gsize limit, GError **error)
{
    if (found <= limit)
        return TRUE;
    g_set_error(error, EXEAT_ERROR, ERROR_PROTOCOL,
                "extract: %s has %" G_GSIZE_FORMAT ", the limit is %" G_GSIZE_FORMAT, key,
                found, limit);
    return FALSE;
}

static gboolean
read_string(GVariantDict *dict, const char *key, char **string_out, GError **error)
{
    g_autoptr(GVariant) member = NULL;
    gsize length = 0;

    if (!look_up(dict, key, "s", &member, error))
        return FALSE;
    if (member == NULL)
        return TRUE;
    const char *string = g_variant_get_string(member, &length);
    if (!check_limit(key, length, STRING_MAX, error))
        return FALSE;
    g_free(*string_out);
    *string_out = g_strdup(string);
    return TRUE;
}

static gboolean
read_list(GVariantDict *dict, const char *key, char ***list_out, GError **error)
{
    g_autoptr(GVariant) member = NULL;

    if (!look_up(dict, key, "as", &member, error))
        return FALSE;
    if (member == NULL)
        return TRUE;
    gsize limit = g_str_equal(key, "mentioned") ? EXTRACT_MENTIONED_LIMIT : EXTRACT_LIST_LIMIT;
    if (!check_limit(key, g_variant_n_children(member), limit, error) ||
        !check_limit(key, g_variant_get_size(member), STRING_MAX, error))
        return FALSE;
    g_strfreev(*list_out);
    *list_out = g_variant_dup_strv(member, NULL);
    return TRUE;
}

static gboolean
read_flag(GVariantDict *dict, const char *key, gboolean *flag_out, GError **error)
{
    g_autoptr(GVariant) member = NULL;

    if (!look_up(dict, key, "b", &member, error))
        return FALSE;
    if (member != NULL)
        *flag_out = g_variant_get_boolean(member);
    return TRUE;
}

static gboolean
read_parts(GVariantDict *dict, Extract *extract, GError **error)
{
    g_autoptr(GVariant) member = NULL;

    if (!look_up(dict, "parts", "a(ssts)", &member, error))
        return FALSE;
    if (member == NULL)
        return TRUE;
    if (!check_limit("parts", g_variant_n_children(member), EXTRACT_PART_LIMIT, error) ||
        !check_limit("parts", g_variant_get_size(member), STRING_MAX, error))
        return FALSE;
    for (gsize i = 0; i < g_variant_n_children(member); i++) {
        const char *name = NULL, *type = NULL, *sha256 = NULL;
        guint64 size = 0;
        g_variant_get_child(member, i, "(&s&st&s)", &name, &type, &size, &sha256);
        extract_add_part(extract, name, type, size, sha256);
    }
    return TRUE;
}

static gboolean
read_all(GVariantDict *dict, Extract *extract, GError **error)
{
    for (gsize i = 0; i < G_N_ELEMENTS(strings); i++)
        if (!read_string(dict, strings[i].key, &MEMBER(char *, extract, strings[i]), error))
            return FALSE;
    for (gsize i = 0; i < G_N_ELEMENTS(lists); i++)
        if (!read_list(dict, lists[i].key, &MEMBER(char **, extract, lists[i]), error))
            return FALSE;
    for (gsize i = 0; i < G_N_ELEMENTS(flags); i++)
        if (!read_flag(dict, flags[i].key, &MEMBER(gboolean, extract, flags[i]), error))
            return FALSE;
    return read_parts(dict, extract, error);
}

Extract *
extract_from_variant(GVariant *variant, GError **error)
{
    g_autoptr(Extract) extract = extract_new();
    g_auto(GVariantDict) dict = G_VARIANT_DICT_INIT(NULL);

    if (!g_variant_is_of_type(variant, G_VARIANT_TYPE_VARDICT)) {
        g_set_error(error, EXEAT_ERROR, ERROR_PROTOCOL, "extract: type %s, expected a{sv}",
                    g_variant_get_type_string(variant));
        return NULL;
    }
    g_variant_dict_init(&dict, variant); /* one pass, not one for every member */
    return read_all(&dict, extract, error) ? g_steal_pointer(&extract) : NULL;
}
