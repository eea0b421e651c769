#include "lib/extract.h"

#include <string.h>

#include "lib/error.h"
#include "lib/vardict.h"

#define STRING_MAX (EXTRACT_TEXT_LIMIT + 4096) /* the text and a mark that it was cut */

typedef enum { TEXT, LIST, FLAG } Kind;

static const struct {
    const char *key;
    Kind kind;
    gsize offset;
} members[] = {
    {"message_id", TEXT, G_STRUCT_OFFSET(Extract, message_id)},
    {"subject", TEXT, G_STRUCT_OFFSET(Extract, subject)},
    {"from_field", TEXT, G_STRUCT_OFFSET(Extract, from_field)},
    {"text", TEXT, G_STRUCT_OFFSET(Extract, text)},
    {"html", TEXT, G_STRUCT_OFFSET(Extract, html)},
    {"parents", LIST, G_STRUCT_OFFSET(Extract, parents)},
    {"from", LIST, G_STRUCT_OFFSET(Extract, from)},
    {"to_cc", LIST, G_STRUCT_OFFSET(Extract, to_cc)},
    {"diverted", LIST, G_STRUCT_OFFSET(Extract, diverted)},
    {"attendees", LIST, G_STRUCT_OFFSET(Extract, attendees)},
    {"lists", LIST, G_STRUCT_OFFSET(Extract, lists)},
    {"mentioned", LIST, G_STRUCT_OFFSET(Extract, mentioned)},
    {"doubled", LIST, G_STRUCT_OFFSET(Extract, doubled)},
    {"opaque", LIST, G_STRUCT_OFFSET(Extract, opaque)},
    {"bounced", LIST, G_STRUCT_OFFSET(Extract, bounced)},
    {"returned", LIST, G_STRUCT_OFFSET(Extract, returned)},
    {"malformed", FLAG, G_STRUCT_OFFSET(Extract, malformed)},
    {"forward", FLAG, G_STRUCT_OFFSET(Extract, forward)},
    {"quoted", FLAG, G_STRUCT_OFFSET(Extract, quoted)},
    {"differs", FLAG, G_STRUCT_OFFSET(Extract, differs)},
    {"capped", FLAG, G_STRUCT_OFFSET(Extract, capped)},
    {"automatic", FLAG, G_STRUCT_OFFSET(Extract, automatic)},
};

#define TEXT_OF(extract, i) G_STRUCT_MEMBER(char *, extract, members[i].offset)
#define LIST_OF(extract, i) G_STRUCT_MEMBER(char **, extract, members[i].offset)
#define FLAG_OF(extract, i) G_STRUCT_MEMBER(gboolean, extract, members[i].offset)

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

    for (gsize i = 0; i < G_N_ELEMENTS(members); i++)
        if (members[i].kind == TEXT)
            TEXT_OF(extract, i) = g_strdup("");
        else if (members[i].kind == LIST)
            LIST_OF(extract, i) = g_new0(char *, 1);
    extract->parts = g_ptr_array_new_with_free_func((GDestroyNotify)part_free);
    return extract;
}

void
extract_free(Extract *extract)
{
    for (gsize i = 0; i < G_N_ELEMENTS(members); i++)
        if (members[i].kind == TEXT)
            g_free(TEXT_OF(extract, i));
        else if (members[i].kind == LIST)
            g_strfreev(LIST_OF(extract, i));
    g_ptr_array_unref(extract->parts);
    g_free(extract);
}

guint64
extract_texts_size(const Extract *extract)
{
    return (guint64)strlen(extract->text) + strlen(extract->html);
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

static GVariant *
parts_to_variant(const Extract *extract)
{
    GVariantBuilder parts;

    g_variant_builder_init(&parts, G_VARIANT_TYPE("a(ssts)"));
    for (guint i = 0; i < extract->parts->len; i++) {
        const ExtractPart *part = g_ptr_array_index(extract->parts, i);
        g_variant_builder_add(&parts, "(ssts)", part->name, part->type, part->size,
                              part->sha256);
    }
    return g_variant_builder_end(&parts);
}

/* Not g_variant_new_string(), which looks at every byte to see whether it is UTF-8: mail.c
 * made it so, or a frame brought it, which was checked. */
static GVariant *
text_to_variant(const char *text)
{
    g_autoptr(GBytes) bytes = g_bytes_new(text, strlen(text) + 1);

    return g_variant_new_from_bytes(G_VARIANT_TYPE_STRING, bytes, TRUE);
}

/* NULL when the member is empty. */
static GVariant *
member_to_variant(const Extract *extract, gsize i)
{
    switch (members[i].kind) {
    case TEXT:
        return *TEXT_OF(extract, i) != '\0' ? text_to_variant(TEXT_OF(extract, i)) : NULL;
    case LIST:
        return *LIST_OF(extract, i) != NULL
                   ? g_variant_new_strv((const char *const *)LIST_OF(extract, i), -1)
                   : NULL;
    case FLAG:
        return FLAG_OF(extract, i) ? g_variant_new_boolean(TRUE) : NULL;
    }
    return NULL;
}

GVariant *
extract_to_variant(const Extract *extract)
{
    GVariantBuilder builder;

    g_variant_builder_init(&builder, G_VARIANT_TYPE_VARDICT);
    for (gsize i = 0; i < G_N_ELEMENTS(members); i++) {
        GVariant *value = member_to_variant(extract, i);
        if (value != NULL)
            vardict_add(&builder, members[i].key, value);
    }
    if (extract->parts->len > 0)
        vardict_add(&builder, "parts", parts_to_variant(extract));
    return g_variant_builder_end(&builder);
}

static gboolean
check_type(const char *key, GVariant *value, const GVariantType *type, GError **error)
{
    if (g_variant_is_of_type(value, type))
        return TRUE;
    g_autofree char *expected = g_variant_type_dup_string(type);
    g_set_error(error, EXEAT_ERROR, ERROR_PROTOCOL, "extract: %s is %s, expected %s", key,
                g_variant_get_type_string(value), expected);
    return FALSE;
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
read_text(GVariant *value, const char *key, char **text_out, GError **error)
{
    gsize length;

    if (!check_type(key, value, G_VARIANT_TYPE_STRING, error))
        return FALSE;
    const char *text = g_variant_get_string(value, &length);
    if (!check_limit(key, length, STRING_MAX, error))
        return FALSE;
    g_free(*text_out);
    *text_out = g_strndup(text, length);
    return TRUE;
}

static gboolean
read_list(GVariant *value, const char *key, char ***list_out, GError **error)
{
    gsize limit = g_str_equal(key, "mentioned") ? EXTRACT_MENTIONED_LIMIT : EXTRACT_LIST_LIMIT;

    if (!check_type(key, value, G_VARIANT_TYPE_STRING_ARRAY, error) ||
        !check_limit(key, g_variant_n_children(value), limit, error) ||
        !check_limit(key, g_variant_get_size(value), STRING_MAX, error))
        return FALSE;
    g_strfreev(*list_out);
    *list_out = g_variant_dup_strv(value, NULL);
    return TRUE;
}

static gboolean
read_flag(GVariant *value, const char *key, gboolean *flag_out, GError **error)
{
    if (!check_type(key, value, G_VARIANT_TYPE_BOOLEAN, error))
        return FALSE;
    *flag_out = g_variant_get_boolean(value);
    return TRUE;
}

static gboolean
read_parts(GVariant *value, Extract *extract, GError **error)
{
    if (!check_type("parts", value, G_VARIANT_TYPE("a(ssts)"), error) ||
        !check_limit("parts", g_variant_n_children(value), EXTRACT_PART_LIMIT, error) ||
        !check_limit("parts", g_variant_get_size(value), STRING_MAX, error))
        return FALSE;
    g_ptr_array_set_size(extract->parts, 0);
    for (gsize i = 0; i < g_variant_n_children(value); i++) {
        const char *name = NULL, *type = NULL, *sha256 = NULL;
        guint64 size = 0;
        g_variant_get_child(value, i, "(&s&st&s)", &name, &type, &size, &sha256);
        extract_add_part(extract, name, type, size, sha256);
    }
    return TRUE;
}

/* A key that stands twice counts as it stands last, one that is unknown not at all. */
static gboolean
read_member(Extract *extract, const char *key, GVariant *value, GError **error)
{
    if (g_str_equal(key, "parts"))
        return read_parts(value, extract, error);
    for (gsize i = 0; i < G_N_ELEMENTS(members); i++) {
        if (!g_str_equal(key, members[i].key))
            continue;
        switch (members[i].kind) {
        case TEXT:
            return read_text(value, key, &TEXT_OF(extract, i), error);
        case LIST:
            return read_list(value, key, &LIST_OF(extract, i), error);
        case FLAG:
            return read_flag(value, key, &FLAG_OF(extract, i), error);
        }
    }
    return TRUE;
}

Extract *
extract_from_variant(GVariant *variant, GError **error)
{
    g_autoptr(Extract) extract = extract_new();

    if (!g_variant_is_of_type(variant, G_VARIANT_TYPE_VARDICT)) {
        g_set_error(error, EXEAT_ERROR, ERROR_PROTOCOL, "extract: type %s, expected a{sv}",
                    g_variant_get_type_string(variant));
        return NULL;
    }
    for (gsize i = 0; i < g_variant_n_children(variant); i++) {
        const char *key;
        g_autoptr(GVariant) value = vardict_member(variant, i, &key);

        if (!read_member(extract, key, value, error))
            return NULL;
    }
    return g_steal_pointer(&extract);
}
