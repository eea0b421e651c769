#include "lib/mail.h"

#include <gmime/gmime.h>
#include <string.h>

#include "lib/address.h"
#include "lib/mail-private.h"

#define SUBJECT_MAX (64 * 1024)
#define NAMES_MAX   4096 /* of all names of a file, or of a sender, in bytes */
#define TYPE_MAX    255
#define NAMES_MOST  4
#define NAME_BEGIN  120 /* characters of one name that are shown, and at its end */
#define NAME_END    60

void
mail_start(void)
{
    g_mime_init();
}

void
mail_mark(MailReading *reading, const char *why)
{
    if (!g_ptr_array_find_with_equal_func(reading->opaque, why, g_str_equal, NULL))
        g_ptr_array_add(reading->opaque, (gpointer)why);
}

void
mail_mark_capped(MailReading *reading, const char *why)
{
    reading->extract->capped = TRUE;
    mail_mark(reading, why);
}

/* text, at most max bytes of it, with a mark where it was cut. */
static char *
shorten(const char *text, gsize max)
{
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    gsize length = strlen(valid);

    if (length <= max)
        return g_steal_pointer(&valid);
    for (length = max; (valid[length] & 0xc0) == 0x80; length--)
        ;
    valid[length] = 0;
    return g_strconcat(valid, "…", NULL);
}

static char *
cut_middle(const char *name)
{
    g_autofree char *valid = g_utf8_make_valid(name, -1);
    glong length = g_utf8_strlen(valid, -1);

    if (length <= NAME_BEGIN + NAME_END)
        return g_steal_pointer(&valid);
    g_autofree char *begin = g_utf8_substring(valid, 0, NAME_BEGIN);
    g_autofree char *end = g_utf8_substring(valid, length - NAME_END, length);
    return g_strdup_printf("%s… (%ld characters) …%s", begin, length, end);
}

char *
mail_join_names(const char *const *names)
{
    g_autoptr(GString) joined = g_string_new(NULL);

    for (guint i = 0; names[i] != NULL && i < NAMES_MOST; i++) {
        g_autofree char *name = cut_middle(names[i]);
        g_string_append_printf(joined, i == 0 ? "%s" : " (also named %s)", name);
    }
    if (joined->len > 0 && g_strv_length((char **)names) > NAMES_MOST)
        g_string_append(joined, " (and more names)");
    return g_strdup(joined->str);
}

void
mail_add_part(MailReading *reading, const char *name, const char *type, guint64 size,
              const char *sha256)
{
    g_autofree char *short_name = shorten(name, NAMES_MAX);
    g_autofree char *short_type = shorten(type, TYPE_MAX);

    if (reading->extract->parts->len >= EXTRACT_PART_LIMIT)
        mail_mark_capped(reading, "too many parts");
    else
        extract_add_part(reading->extract, short_name, short_type, size, sha256);
}

char *
mail_decode_header(const char *value)
{
    g_autofree char *decoded = g_mime_utils_header_decode_text(NULL, value);
    char *valid = g_utf8_make_valid(decoded, -1);

    g_strdelimit(valid, "\r\n", ' ');
    return g_strstrip(valid);
}

static void
read_subject(MailReading *reading)
{
    const char *value = mail_field(reading, "Subject");

    if (value == NULL)
        return;
    g_autofree char *decoded = mail_decode_header(value);
    if (strlen(decoded) > SUBJECT_MAX)
        mail_mark(reading, "a subject that is not shown to its end");
    if (mail_subject_forwards(decoded))
        reading->extract->forward = TRUE;
    g_free(reading->extract->subject);
    reading->extract->subject = shorten(decoded, SUBJECT_MAX);
}

static void
read_from_field(MailReading *reading)
{
    const char *value = mail_field(reading, "From");

    if (value == NULL)
        return;
    g_autofree char *decoded = mail_decode_header(value);
    g_free(reading->extract->from_field);
    reading->extract->from_field = shorten(decoded, NAMES_MAX);
}

/* The strings go to the extract; the array is empty after that. */
static void
hand_over(GPtrArray *array, char ***strv_out)
{
    g_ptr_array_add(array, NULL);
    g_strfreev(*strv_out);
    *strv_out = (char **)g_ptr_array_steal(array, NULL);
}

/* Adds the addresses of a text to those of the others, as long as the extract allows. */
static void
add_mentioned(const GString *text, GPtrArray *mentioned)
{
    gsize bytes = 0;
    guint fit = 0;

    address_scan(text->str, mentioned, EXTRACT_MENTIONED_LIMIT);
    for (; fit < mentioned->len && bytes < EXTRACT_TEXT_LIMIT - 1024; fit++)
        bytes += strlen(g_ptr_array_index(mentioned, fit)) + sizeof(guint32) + 1;
    for (guint i = fit; i < mentioned->len; i++)
        g_free(g_ptr_array_index(mentioned, i));
    g_ptr_array_set_size(mentioned, (gint)fit);
}

static void
read_mentioned(const MailReading *reading)
{
    g_autoptr(GPtrArray) mentioned = g_ptr_array_new();

    add_mentioned(reading->text, mentioned);
    add_mentioned(reading->html, mentioned);
    add_mentioned(reading->page, mentioned);
    add_mentioned(reading->more, mentioned);
    hand_over(mentioned, &reading->extract->mentioned);
}

static void
read_content(MailReading *reading, int fd, gboolean mentions)
{
    Extract *extract = reading->extract;

    mail_read_parts(reading, fd);
    extract->differs =
        reading->html->len > 0 && !mail_same_words(reading->text->str, reading->html->str);
    mail_append(reading, reading->text, reading->calendar->str);
    if (mentions)
        read_mentioned(reading);
    mail_append(reading, reading->text, reading->heads->str);
    hand_over(reading->attendees, &extract->attendees);
    hand_over(reading->bounced, &extract->bounced);
    hand_over(reading->returned, &extract->returned);
    g_free(extract->text);
    extract->text = g_strdup(reading->text->str);
    g_free(extract->html);
    extract->html = g_strdup(reading->html->str);
}

static void
finish(MailReading *reading)
{
    Extract *extract = reading->extract;

    g_strfreev(extract->opaque);
    extract->opaque = g_new0(char *, reading->opaque->len + 1);
    for (guint i = 0; i < reading->opaque->len; i++)
        extract->opaque[i] = g_strdup(g_ptr_array_index(reading->opaque, i));
}

static Extract *
read_message(int fd, gboolean mentions, GError **error)
{
    g_autoptr(Extract) extract = extract_new();
    g_autoptr(GPtrArray) opaque = g_ptr_array_new();
    g_autoptr(GPtrArray) fields = mail_fields_new();
    g_autoptr(GString) text = g_string_new(NULL);
    g_autoptr(GString) html = g_string_new(NULL);
    g_autoptr(GString) page = g_string_new(NULL);
    g_autoptr(GString) more = g_string_new(NULL);
    g_autoptr(GString) calendar = g_string_new(NULL);
    g_autoptr(GString) heads = g_string_new(NULL);
    g_autoptr(GPtrArray) attendees = g_ptr_array_new();
    g_autoptr(GPtrArray) bounced = g_ptr_array_new();
    g_autoptr(GPtrArray) returned = g_ptr_array_new();
    MailReading reading = {.extract = extract,
                           .opaque = opaque,
                           .fields = fields,
                           .text = text,
                           .html = html,
                           .page = page,
                           .more = more,
                           .calendar = calendar,
                           .heads = heads,
                           .attendees = attendees,
                           .bounced = bounced,
                           .returned = returned};

    if (!mail_scan(&reading, fd, error))
        return NULL;
    mail_read_fields(&reading);
    read_subject(&reading);
    read_from_field(&reading);
    if (!reading.capped)
        read_content(&reading, fd, mentions);
    finish(&reading);
    g_free(reading.small);
    return g_steal_pointer(&extract);
}

Extract *
mail_extract(int fd, GError **error)
{
    return read_message(fd, TRUE, error);
}

Extract *
mail_extract_submission(int fd, GError **error)
{
    return read_message(fd, FALSE, error);
}
