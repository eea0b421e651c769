#include "lib/mail-private.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "lib/error.h"

/* gmime has no limits of its own: each field or part costs it some hundred bytes. */
#define HEADER_MAX     (256 * 1024)
#define FIELDS_MAX     1000
#define BOUNDARIES_MAX 2000
#define BUFFER_SIZE    (64 * 1024)
#define COLONS_MAX     5000 /* of one field: at each, gmime may begin a group within a group */

typedef struct {
    MailReading *reading;
    GString *header;
    gboolean in_header;
    gboolean malformed;
    char previous;
    char start[80]; /* of the current line */
    gsize length;   /* of the current line, without its end */
    guint colons;   /* of the line and those before it that it continues */
    guint boundaries;
    guint run_fields; /* lines that could be a header further down */
    gsize run_length;
} Scan;

GPtrArray *
mail_fields_new(void)
{
    return g_ptr_array_new_with_free_func(g_free);
}

static void
cap(MailReading *reading, const char *why)
{
    reading->capped = TRUE;
    mail_mark_capped(reading, why);
}

static gboolean
is_field_name(const char *start, gsize length)
{
    gsize i = 0;

    while (i < length && (g_ascii_isalnum(start[i]) || start[i] == '-' || start[i] == '_'))
        i++;
    return i > 0 && i < length && start[i] == ':';
}

/* Below the header a part or an attached message may bring a header of its own; where one
 * stands is known only to a parser, so every run of lines that looks like one must stay within
 * the caps. */
static void
end_body_line(Scan *scan)
{
    gsize known = MIN(scan->length, sizeof scan->start);

    if (known > 3 && scan->start[0] == '-' && scan->start[1] == '-') {
        if (++scan->boundaries > BOUNDARIES_MAX)
            cap(scan->reading, "too many parts");
    }
    if (is_field_name(scan->start, known)) {
        scan->run_fields++;
        scan->run_length += scan->length;
    } else if (scan->run_fields > 0 && (scan->start[0] == ' ' || scan->start[0] == '\t') &&
               known > 1) {
        scan->run_length += scan->length;
    } else {
        scan->run_fields = 0;
        scan->run_length = 0;
    }
    if (scan->run_fields > FIELDS_MAX || scan->run_length > HEADER_MAX)
        cap(scan->reading, "a header too long to be read");
}

static void
end_line(Scan *scan)
{
    if (scan->in_header) {
        gboolean empty = scan->length == 0 || (scan->length == 1 && scan->start[0] == '\r');
        scan->in_header = !empty;
    } else {
        end_body_line(scan);
    }
    scan->length = 0;
}

/* gmime reads nothing with a NUL in its header; a space does no harm there. */
static void
keep_header(Scan *scan, const char *bytes, gsize length)
{
    if (!scan->in_header || scan->header->len > HEADER_MAX)
        return;
    const gsize begin = scan->header->len;
    g_string_append_len(scan->header, bytes, (gssize)MIN(length, HEADER_MAX + 1 - begin));
    for (gsize i = begin; i < scan->header->len; i++)
        if (scan->header->str[i] == 0)
            scan->header->str[i] = ' ';
}

static void
count_colons(Scan *scan, const char *piece, gsize length)
{
    const char *end = piece + length;

    for (const char *p = piece; (p = memchr(p, ':', (gsize)(end - p))) != NULL; p++)
        if (++scan->colons == COLONS_MAX)
            cap(scan->reading, "a header too long to be read");
}

/* A line without its line feed, or as much of it as has come. */
static void
scan_piece(Scan *scan, const char *piece, gsize length)
{
    const gsize room = sizeof scan->start - MIN(scan->length, sizeof scan->start);

    if (length == 0)
        return;
    if (scan->previous == '\r' || memchr(piece, 0, length) != NULL ||
        memchr(piece, '\r', length - 1) != NULL)
        scan->malformed = TRUE;
    keep_header(scan, piece, length);
    if (scan->length == 0 && piece[0] != ' ' && piece[0] != '\t')
        scan->colons = 0;
    count_colons(scan, piece, length);
    if (room > 0)
        memcpy(scan->start + scan->length, piece, MIN(room, length));
    scan->length += length;
    scan->previous = piece[length - 1];
}

static void
scan_bytes(Scan *scan, const char *bytes, gsize length)
{
    const char *end = bytes + length;

    for (const char *line = bytes; line < end;) {
        const char *feed = memchr(line, '\n', (gsize)(end - line));

        scan_piece(scan, line, (gsize)((feed != NULL ? feed : end) - line));
        if (feed == NULL)
            return;
        if (scan->previous != '\r')
            scan->malformed = TRUE;
        keep_header(scan, "\n", 1);
        scan->previous = '\n';
        end_line(scan);
        line = feed + 1;
    }
}

static MailField *
make_field(const char *name, gsize length, const char *value, const char *end)
{
    const gsize rest = (gsize)(end - value);
    MailField *field = g_malloc(sizeof *field + length + rest + 2);
    char *copy = field->name + length + 1;

    memcpy(field->name, name, length);
    field->name[length] = 0;
    memcpy(copy, value, rest);
    copy[rest] = 0;
    field->value = copy;
    return field;
}

static void
add_field(MailReading *reading, const char *line, gsize length)
{
    const char *colon = memchr(line, ':', length);
    gsize name = 0;

    while (colon != NULL && line + name < colon && line[name] > ' ' && line[name] < 0x7f)
        name++;
    gsize end = name;
    while (colon != NULL && line + end < colon && (line[end] == ' ' || line[end] == '\t'))
        end++;
    if (colon == NULL || name == 0 || line + end != colon) {
        mail_mark(reading, "a broken header");
        return;
    }
    if (end != name) /* "Subject :" is a field to some readers only */
        mail_mark(reading, "a broken header");

    g_ptr_array_add(reading->fields, make_field(line, name, colon + 1, line + length));
}

/* bytes are not terminated. */
static gboolean
is_blank(const char *line, gsize length)
{
    while (length > 0 && (line[length - 1] == ' ' || line[length - 1] == '\t'))
        length--;
    return length == 0;
}

void
mail_split_header(MailReading *reading, const char *bytes, gsize header_length)
{
    g_autoptr(GString) field = g_string_new(NULL);
    const char *end = bytes + header_length;

    for (const char *line = bytes; line < end;) {
        const char *feed = memchr(line, '\n', (gsize)(end - line));
        const char *stop = feed != NULL ? feed : end;
        gsize length = (gsize)(stop - line);
        if (length > 0 && line[length - 1] == '\r')
            length--;
        gboolean folded = length > 0 && (line[0] == ' ' || line[0] == '\t');
        if (folded && is_blank(line, length)) /* to some readers the header ends here */
            mail_mark(reading, "a broken header");
        if (!folded && field->len > 0) {
            add_field(reading, field->str, field->len);
            g_string_truncate(field, 0);
        }
        g_string_append_len(field, line, (gssize)length);
        if (reading->fields->len > FIELDS_MAX)
            break;
        line = stop + 1;
    }
    if (field->len > 0)
        add_field(reading, field->str, field->len);
}

gboolean
mail_scan(MailReading *reading, int fd, GError **error)
{
    g_autoptr(GString) header = g_string_new(NULL);
    Scan scan = {.reading = reading, .header = header, .in_header = TRUE};
    g_autofree char *buffer = g_malloc(BUFFER_SIZE);
    off_t offset = 0;

    for (;;) {
        ssize_t got = pread(fd, buffer, BUFFER_SIZE, offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            g_set_error(error, EXEAT_ERROR, ERROR_TEMP, "cannot read the message: %s",
                        g_strerror(errno));
            return FALSE;
        }
        if (got == 0)
            break;
        scan_bytes(&scan, buffer, (gsize)got);
        reading->small_size = offset == 0 ? (gsize)got : 0;
        offset += got;
    }
    if (reading->small_size > 0)
        reading->small = g_steal_pointer(&buffer);
    reading->extract->malformed = scan.malformed || scan.previous == '\r';
    if (scan.length > 0)
        end_line(&scan);

    mail_split_header(reading, header->str, header->len);
    if (header->len > HEADER_MAX || reading->fields->len > FIELDS_MAX)
        cap(reading, "a header too long to be read");
    if (reading->fields->len == 0)
        cap(reading, "no header");
    return TRUE;
}

gboolean
mail_scan_bytes(MailReading *reading, const char *bytes, gsize length)
{
    Scan scan = {.reading = reading};

    scan_bytes(&scan, bytes, length);
    if (scan.length > 0)
        end_line(&scan);
    return !reading->capped;
}
