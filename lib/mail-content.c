#include "lib/mail-content.h"

#include <string.h>

char *
mail_part_header(GMimeObject *object, const char *name)
{
    GMimeHeader *header =
        g_mime_header_list_get_header(g_mime_object_get_header_list(object), name);
    const char *raw = header != NULL ? g_mime_header_get_raw_value(header) : NULL;

    return raw != NULL ? g_strstrip(g_ascii_strdown(raw, -1)) : NULL;
}

/* Compiled once, for all threads; it lives as long as the process. */
static gboolean
matches(GRegex **compiled, const char *pattern, const char *text)
{
    if (g_once_init_enter(compiled))
        g_once_init_leave(compiled, g_regex_new(pattern, G_REGEX_RAW, 0, NULL));
    return g_regex_match(*compiled, text, 0, NULL);
}

gboolean
mail_part_is_named(GMimeObject *object, const char *field)
{
    static GRegex *name;
    g_autofree char *raw = mail_part_header(object, field);

    return raw != NULL && matches(&name,
                                  "[;\\s](file)?name(\\*[0-9*]*)?\\s*="
                                  "\\s*(\"[^\"]|[^\";\\s])",
                                  raw);
}

static void
add_names(GPtrArray *names, GMimeParamList *list)
{
    int count = list != NULL ? g_mime_param_list_length(list) : 0;

    for (int i = 0; i < count; i++) {
        GMimeParam *param = g_mime_param_list_get_parameter_at(list, i);
        const char *key = g_mime_param_get_name(param), *value = g_mime_param_get_value(param);
        if ((g_ascii_strcasecmp(key, "filename") == 0 ||
             g_ascii_strcasecmp(key, "name") == 0) &&
            value != NULL && *value != 0 &&
            !g_ptr_array_find_with_equal_func(names, value, g_str_equal, NULL))
            g_ptr_array_add(names, g_strdup(value));
    }
}

char **
mail_part_names(GMimeObject *object)
{
    GMimeContentDisposition *disposition = g_mime_object_get_content_disposition(object);
    GMimeContentType *type = g_mime_object_get_content_type(object);
    GPtrArray *names = g_ptr_array_new();

    if (disposition != NULL)
        add_names(names, g_mime_content_disposition_get_parameters(disposition));
    if (type != NULL)
        add_names(names, g_mime_content_type_get_parameters(type));
    g_ptr_array_add(names, NULL);
    return (char **)g_ptr_array_free(names, FALSE);
}

gboolean
mail_part_type_is_clear(GMimeObject *object)
{
    static GRegex *type;
    g_autofree char *raw = mail_part_header(object, "Content-Type");

    return raw == NULL || matches(&type,
                                  "^[!#$%&'*+.^_`{|}~a-z0-9-]+\\s*/\\s*"
                                  "[!#$%&'*+.^_`{|}~a-z0-9-]+\\s*(;|\\(|$)",
                                  raw);
}

char *
mail_part_encoding(GMimeObject *object)
{
    char *encoding = mail_part_header(object, "Content-Transfer-Encoding");

    if (encoding == NULL)
        return g_strdup("");
    return encoding;
}

/* base64: nothing but its letters, and nothing after the = (RFC 4648, 3.2 and 3.3). */
static gboolean
is_base64(const char *raw, gsize length, gboolean *padded)
{
    for (gsize i = 0; i < length; i++) {
        if (g_ascii_isspace(raw[i]))
            continue;
        if (raw[i] == '=')
            *padded = TRUE;
        else if (*padded || !(g_ascii_isalnum(raw[i]) || raw[i] == '+' || raw[i] == '/'))
            return FALSE;
    }
    return TRUE;
}

/* Looks into what came, together with the end of what came before. */
static void
look_within(MailContent *content, const char *bytes, gsize length)
{
    GByteArray *last = content->last;
    const guint carried = MIN(last->len, MAIL_SEALED_MARK);

    g_byte_array_remove_range(last, 0, last->len - carried);
    g_byte_array_append(last, (const guint8 *)bytes, (guint)length);
    content->sealed =
        mail_sealed_within(content->kept->data, content->kept->len, last->data, last->len);
}

static void
add(MailContent *content, const char *bytes, gsize length, gsize keep)
{
    gsize room = keep - MIN(keep, content->kept->len);

    if (content->sum != NULL)
        g_checksum_update(content->sum, (const guchar *)bytes, (gssize)length);
    content->size += length;
    g_byte_array_append(content->kept, (const guint8 *)bytes, (guint)MIN(length, room));
    if (content->sum != NULL && length > 0 && !content->sealed)
        look_within(content, bytes, length);
}

MailContent *
mail_content_read(GMimePart *part, gsize keep, gboolean summed)
{
    MailContent *content = g_new0(MailContent, 1);
    GMimeDataWrapper *wrapper = g_mime_part_get_content(part);
    GMimeEncoding state;
    gboolean padded = FALSE;
    char raw[8192];

    content->sum = summed ? g_checksum_new(G_CHECKSUM_SHA256) : NULL;
    content->kept = g_byte_array_new();
    content->last = g_byte_array_new();
    if (wrapper == NULL)
        return content;
    GMimeContentEncoding encoding = g_mime_data_wrapper_get_encoding(wrapper);
    GMimeStream *stream = g_mime_data_wrapper_get_stream(wrapper);
    g_mime_encoding_init_decode(&state, encoding);
    g_autofree char *decoded = g_malloc(g_mime_encoding_outlen(&state, sizeof raw));
    g_mime_stream_reset(stream);
    while (!g_mime_stream_eos(stream)) {
        gssize got = g_mime_stream_read(stream, raw, sizeof raw);
        content->broken |= got < 0;
        if (got <= 0)
            break;
        if (encoding == GMIME_CONTENT_ENCODING_BASE64 && !is_base64(raw, (gsize)got, &padded))
            content->broken = TRUE;
        add(content, decoded, g_mime_encoding_step(&state, raw, (gsize)got, decoded), keep);
    }
    add(content, decoded, g_mime_encoding_flush(&state, NULL, 0, decoded), keep);
    return content;
}

void
mail_content_free(MailContent *content)
{
    if (content->sum != NULL)
        g_checksum_free(content->sum);
    g_byte_array_unref(content->kept);
    g_byte_array_unref(content->last);
    g_free(content);
}
