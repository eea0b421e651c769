#include "lib/mail-private.h"

#include <gmime/gmime.h>
#include <string.h>

#include "lib/mail-content.h"

#define DEPTH_MAX   50
#define MARGINS_MAX 2
#define RAW_MAX     (2 * EXTRACT_TEXT_LIMIT) /* bytes of one part kept for its text */
#define MESSAGE_MAX (16 * 1024 * 1024)       /* an attached message that had to be decoded */

typedef struct {
    MailReading *reading;
    GPtrArray *boundaries; /* of const char *: the multiparts around */
    guint depth;
    guint margins;  /* margins around, each held in memory */
    guint late;     /* closing boundaries before this place: a part here counts (B11) */
    guint messages; /* attached messages around: what is inside them counts no more */
} Walk;

static void walk_object(Walk *walk, GMimeObject *object);
static void walk_bytes(Walk *walk, const char *bytes, gsize length, gboolean message);

/* What gmime complains about and another reader might repair in another way (XB18). */
static void
on_warning(gint64 offset, GMimeParserWarning warning, const gchar *item, gpointer data)
{
    (void)offset;
    (void)item;
    switch (warning) {
    case GMIME_WARN_INVALID_CONTENT_TYPE:
    case GMIME_WARN_MALFORMED_MULTIPART:
    case GMIME_WARN_MALFORMED_MESSAGE:
    case GMIME_WARN_TRUNCATED_MESSAGE:
    case GMIME_CRIT_INVALID_HEADER_NAME:
    case GMIME_CRIT_CONFLICTING_HEADER:
    case GMIME_CRIT_CONFLICTING_PARAMETER:
    case GMIME_CRIT_MULTIPART_WITHOUT_BOUNDARY:
    case GMIME_CRIT_NESTING_OVERFLOW:
    case GMIME_CRIT_PART_WITHOUT_HEADERS_OR_CONTENT:
        mail_mark(data, "a broken structure");
        return;
    default:
        return;
    }
}

/* What an attached message says above its text, which is shown like others: who wrote it to
 * whom, and about what. */
static void
show_head(Walk *walk, GMimeMessage *message)
{
    static const char *const names[] = {"From", "To", "Cc", "Date", "Subject"};
    g_autoptr(GString) head = g_string_new("Attached message\n");

    for (gsize i = 0; i < G_N_ELEMENTS(names); i++) {
        const char *value = g_mime_object_get_header(GMIME_OBJECT(message), names[i]);
        if (value == NULL)
            continue;
        g_autofree char *text = mail_decode_header(value);
        g_string_append_printf(head, "%s: %s\n", names[i], text);
    }
    mail_append(walk->reading, walk->reading->heads, head->str);
}

/* A file within an attached message, which is no part of its own. */
static void
show_file(Walk *walk, const char *name, const char *type)
{
    g_autofree char *line =
        g_strdup_printf("File in it: %s (%s)", *name != 0 ? name : "no name", type);
    g_autofree char *valid = g_utf8_make_valid(line, -1);

    g_strdelimit(valid, "\r\n", ' ');
    mail_append(walk->reading, walk->reading->heads, valid);
}

static void
add_part(Walk *walk, GMimeObject *object, const char *type, guint64 size, const char *sha256)
{
    g_auto(GStrv) names = mail_part_names(object);
    g_autofree char *name = mail_join_names((const char *const *)names);

    if (walk->messages == 0)
        mail_add_part(walk->reading, name, type, size, sha256);
    else
        show_file(walk, name, type);
}

/* A line that some readers take for the border of a part and others for text. */
static gboolean
has_doubtful_border(Walk *walk, const char *text)
{
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (line[0] != '-' || line[1] != '-')
            continue;
        for (guint i = 0; i < walk->boundaries->len; i++) {
            const char *boundary = g_ptr_array_index(walk->boundaries, i);
            if (boundary[0] != 0 &&
                g_ascii_strncasecmp(line + 2, boundary, strlen(boundary)) == 0)
                return TRUE;
        }
    }
    return FALSE;
}

/* An attached message that had an encoding: the scan of the whole could not look into it. */
static void
walk_decoded(Walk *walk, const MailContent *content)
{
    if (content->size > content->kept->len)
        mail_mark(walk->reading, "an attached message too long to be read");
    if (content->kept->len == 0 ||
        !mail_scan_bytes(walk->reading, (const char *)content->kept->data, content->kept->len))
        return;
    walk->messages++;
    walk_bytes(walk, (const char *)content->kept->data, content->kept->len, TRUE);
    walk->messages--;
}

static void
walk_leaf(Walk *walk, GMimePart *part, const char *type)
{
    GMimeObject *object = GMIME_OBJECT(part);
    MailLeaf leaf = mail_leaf_look(walk->reading, part, type);
    leaf.body = leaf.body && walk->late == 0;
    gboolean searched = leaf.card || leaf.reader != NULL;
    gsize keep = leaf.nested                                              ? MESSAGE_MAX
                 : leaf.shown || leaf.calendar || leaf.report || searched ? RAW_MAX
                                                                          : MAIL_GLANCE;
    g_autoptr(MailContent) content = mail_content_read(part, keep, !leaf.body);
    const char *bytes = (const char *)content->kept->data;

    if (content->broken)
        mail_mark(walk->reading, "a transfer encoding that cannot be undone");
    if (!leaf.body) {
        add_part(walk, object, type, content->size, g_checksum_get_string(content->sum));
        mail_leaf_glance(walk->reading, part, content);
    }
    if (leaf.message)
        walk->reading->extract->forward = TRUE;
    if (leaf.shown || leaf.calendar) {
        g_autofree char *text =
            mail_leaf_read(walk->reading, object, &leaf, content, walk->messages == 0);
        if (has_doubtful_border(walk, text))
            mail_mark(walk->reading, "a broken structure");
    }
    if (searched)
        mail_leaf_search(walk->reading, object, &leaf, content);
    if (leaf.report && walk->messages == 0 && content->kept->len > 0)
        mail_read_report(walk->reading, type, bytes, content->kept->len);
    if (leaf.nested)
        walk_decoded(walk, content);
}

/* Digest and size of an attached message: its bytes as they came, through gmime because only
 * gmime knows where they end. It writes what it did not change as it read it. */
static void
add_message(Walk *walk, GMimeObject *object, GMimeMessage *message, const char *type)
{
    g_autoptr(GMimeStream) null = g_mime_stream_null_new();
    g_autoptr(GMimeStream) stream = g_mime_stream_filter_new(null);
    g_autoptr(GMimeFilter) filter = g_mime_filter_checksum_new(G_CHECKSUM_SHA256);

    g_mime_stream_filter_add(GMIME_STREAM_FILTER(stream), filter);
    if (message != NULL)
        g_mime_object_write_to_stream(GMIME_OBJECT(message), NULL, stream);
    g_mime_stream_flush(stream);
    g_autofree char *sha256 = g_mime_filter_checksum_get_string(GMIME_FILTER_CHECKSUM(filter));
    add_part(walk, object, type, GMIME_STREAM_NULL(null)->written, sha256);
}

static void
walk_message(Walk *walk, GMimeMessagePart *part, const char *type)
{
    GMimeMessage *message = g_mime_message_part_get_message(part);
    GMimeObject *content = message != NULL ? g_mime_message_get_mime_part(message) : NULL;

    add_message(walk, GMIME_OBJECT(part), message, type);
    walk->reading->extract->forward = TRUE;
    if (message != NULL)
        show_head(walk, message);
    if (walk->messages == 0 && message != NULL) {
        g_autofree char *header = g_mime_object_get_headers(GMIME_OBJECT(message), NULL);
        mail_read_returned(walk->reading, header, strlen(header));
    }
    if (content == NULL) {
        mail_mark(walk->reading, "a broken structure");
        return;
    }
    walk->messages++;
    walk_object(walk, content);
    walk->messages--;
}

/* The border line that begins at p: what follows the two hyphens, when a part could follow. */
static char *
read_border(Walk *walk, const char *p)
{
    gsize length = strcspn(p, "\r\n");
    g_autofree char *border = g_strchomp(g_strndup(p + 2, length - 2));
    const char *next = p + length;

    next += *next == '\r';
    next += *next == '\n';
    if (border[0] == 0 || strlen(border) > 200 || strpbrk(border, "\"\\") != NULL)
        return NULL;
    for (guint i = 0; i < walk->boundaries->len; i++)
        if (strcmp(border, g_ptr_array_index(walk->boundaries, i)) == 0)
            return g_steal_pointer(&border);
    return g_ascii_strncasecmp(next, "content-", 8) == 0 ? g_steal_pointer(&border) : NULL;
}

/* What stands before the first or after the last part. Some readers show parts there (B11),
 * and text there is text to those who read no MIME. */
static void
walk_margin(Walk *walk, const char *margin)
{
    g_autofree char *border = NULL;

    for (const char *line = margin; line != NULL && border == NULL;
         line = strchr(line, '\n')) {
        line += *line == '\n';
        if (line[0] == '-' && line[1] == '-')
            border = read_border(walk, line);
    }
    if (border != NULL && walk->margins >= MARGINS_MAX) {
        mail_mark(walk->reading, "a broken structure");
        return;
    }
    if (border != NULL) {
        g_autofree char *part = g_strconcat("Content-Type: multipart/mixed; boundary=\"",
                                            border, "\"\r\n\r\n", margin, NULL);
        walk->margins++;
        walk_bytes(walk, part, strlen(part), FALSE);
        walk->margins--;
        return;
    }
    g_autofree char *text = mail_decode(margin, strlen(margin), NULL);
    g_strchug(text);
    mail_read_text(walk->reading, text, walk->messages == 0);
    mail_append(walk->reading, walk->reading->text, text);
}

static void
walk_multipart(Walk *walk, GMimeMultipart *multipart, const char *type)
{
    static const char *const plain[] = {"", "7bit", "8bit", "binary", NULL};
    GMimeObject *object = GMIME_OBJECT(multipart);
    g_autofree char *encoding = mail_part_encoding(object);
    const char *boundary = g_mime_object_get_content_type_parameter(object, "boundary");
    const char *prologue = g_mime_multipart_get_prologue(multipart);
    const char *epilogue = g_mime_multipart_get_epilogue(multipart);
    int count = g_mime_multipart_get_count(multipart);

    if (!g_strv_contains(plain, encoding))
        mail_mark(walk->reading, "an unknown transfer encoding");
    if (strcmp(type, "multipart/encrypted") == 0)
        mail_mark(walk->reading, "encrypted");
    if (strcmp(type, "multipart/digest") == 0)
        walk->reading->extract->forward = TRUE;
    if (count == 0) {
        mail_mark(walk->reading, "a broken structure");
        add_part(walk, object, type, 0, "");
    }

    g_ptr_array_add(walk->boundaries, g_strdup(boundary != NULL ? boundary : ""));
    if (prologue != NULL)
        walk_margin(walk, prologue);
    for (int i = 0; i < count; i++)
        walk_object(walk, g_mime_multipart_get_part(multipart, i));
    walk->late++;
    if (epilogue != NULL)
        walk_margin(walk, epilogue);
    walk->late--;
    g_ptr_array_remove_index(walk->boundaries, walk->boundaries->len - 1);
}

static void
walk_object(Walk *walk, GMimeObject *object)
{
    g_autofree char *mime_type =
        g_mime_content_type_get_mime_type(g_mime_object_get_content_type(object));
    g_autofree char *type = g_ascii_strdown(mime_type, -1);

    if (walk->depth >= DEPTH_MAX) {
        mail_mark_capped(walk->reading, "parts nested too deeply");
        return;
    }
    walk->depth++;
    if (!mail_part_type_is_clear(object))
        mail_mark(walk->reading, "a content type that cannot be read");
    if (GMIME_IS_MULTIPART(object))
        walk_multipart(walk, GMIME_MULTIPART(object), type);
    else if (GMIME_IS_MESSAGE_PART(object))
        walk_message(walk, GMIME_MESSAGE_PART(object), type);
    else if (GMIME_IS_PART(object))
        walk_leaf(walk, GMIME_PART(object), type);
    walk->depth--;
}

/* Reads a message, or a part alone, and all that is in it. */
static void
walk_stream(Walk *walk, GMimeStream *stream, gboolean whole)
{
    g_autoptr(GMimeParser) parser = g_mime_parser_new_with_stream(stream);
    GMimeParserOptions *options = g_mime_parser_options_new();
    GMimeMessage *message = NULL;
    GMimeObject *object = NULL;

    g_mime_parser_options_set_warning_callback(options, on_warning, walk->reading);
    if (whole) {
        message = g_mime_parser_construct_message(parser, options);
        if (message != NULL && walk->messages > 0)
            show_head(walk, message);
        object = message != NULL ? g_mime_message_get_mime_part(message) : NULL;
    } else {
        object = g_mime_parser_construct_part(parser, options);
    }
    if (object != NULL)
        walk_object(walk, object);
    else
        mail_mark(walk->reading, "a broken structure");
    if (message != NULL)
        g_object_unref(message);
    else if (object != NULL)
        g_object_unref(object);
    g_mime_parser_options_free(options);
}

static void
walk_bytes(Walk *walk, const char *bytes, gsize length, gboolean message)
{
    g_autoptr(GMimeStream) stream = g_mime_stream_mem_new_with_buffer(bytes, length);

    walk_stream(walk, stream, message);
}

void
mail_read_parts(MailReading *reading, int fd)
{
    g_autoptr(GPtrArray) boundaries = g_ptr_array_new_with_free_func(g_free);
    Walk walk = {.reading = reading, .boundaries = boundaries};

    if (reading->small != NULL) {
        walk_bytes(&walk, reading->small, reading->small_size, TRUE);
        return;
    }
    g_autoptr(GMimeStream) stream = g_mime_stream_fs_new_with_bounds(fd, 0, -1);
    g_mime_stream_fs_set_owner(GMIME_STREAM_FS(stream), FALSE);
    walk_stream(&walk, stream, TRUE);
}
