#include "lib/lesson.h"

#include <string.h>

#include "lib/error.h"

#define LISTS 5

static void
add_text(GByteArray *bytes, const char *text)
{
    g_byte_array_append(bytes, (const guint8 *)text, (guint)strlen(text) + 1);
}

static void
add_list(GByteArray *bytes, const char *const *list)
{
    for (; *list != NULL; list++)
        if (**list != '\0')
            add_text(bytes, *list);
    add_text(bytes, "");
}

void
lesson_add(GByteArray *bytes, const Lesson *lesson)
{
    char first[32];

    g_snprintf(first, sizeof first, "%c%" G_GINT64_FORMAT, lesson->sent ? 's' : 'r',
               lesson->when);
    add_text(bytes, first);
    add_text(bytes, lesson->message_id);
    add_text(bytes, lesson->sender);
    add_list(bytes, lesson->parents);
    add_list(bytes, lesson->recipients);
    add_list(bytes, lesson->correspondents);
    add_list(bytes, lesson->mentioned);
    add_list(bytes, lesson->lists);
}

void
lesson_reader_init(LessonReader *reader, const void *bytes, gsize length)
{
    reader->next = bytes;
    reader->end = reader->next + length;
    reader->texts = g_ptr_array_new();
}

void
lesson_reader_clear(LessonReader *reader)
{
    g_clear_pointer(&reader->texts, g_ptr_array_unref);
}

static gboolean
fail(const char *what, GError **error)
{
    g_set_error(error, EXEAT_ERROR, ERROR_PROTOCOL, "a lesson %s", what);
    return FALSE;
}

static gboolean
read_text(LessonReader *reader, const char **text_out, GError **error)
{
    const char *text = reader->next;
    const char *stop = memchr(text, '\0', (gsize)(reader->end - text));

    if (stop == NULL)
        return fail("is cut short", error);
    if (!g_utf8_validate(text, stop - text, NULL))
        return fail("has a text that is no UTF-8", error);
    reader->next = stop + 1;
    *text_out = text;
    return TRUE;
}

static gboolean
read_list(LessonReader *reader, GError **error)
{
    const char *text;

    for (;;) {
        if (!read_text(reader, &text, error))
            return FALSE;
        if (*text == '\0')
            break;
        g_ptr_array_add(reader->texts, (gpointer)text);
    }
    g_ptr_array_add(reader->texts, NULL);
    return TRUE;
}

static gboolean
read_first(LessonReader *reader, Lesson *lesson, GError **error)
{
    const char *text;

    if (!read_text(reader, &text, error))
        return FALSE;
    if ((*text != 's' && *text != 'r') ||
        !g_ascii_string_to_signed(text + 1, 10, G_MININT64, G_MAXINT64, &lesson->when, NULL))
        return fail("has no time", error);
    lesson->sent = *text == 's';
    return TRUE;
}

gboolean
lesson_next(LessonReader *reader, Lesson *lesson_out, GError **error)
{
    Lesson lesson = {0};
    guint starts[LISTS];

    if (reader->next == reader->end)
        return FALSE;
    if (!read_first(reader, &lesson, error) || !read_text(reader, &lesson.message_id, error) ||
        !read_text(reader, &lesson.sender, error))
        return FALSE;
    g_ptr_array_set_size(reader->texts, 0);
    for (guint i = 0; i < LISTS; i++) {
        starts[i] = reader->texts->len;
        if (!read_list(reader, error))
            return FALSE;
    }
    /* Only now does the array stay where it is. */
    const char **texts = (const char **)reader->texts->pdata;
    lesson.parents = texts + starts[0];
    lesson.recipients = texts + starts[1];
    lesson.correspondents = texts + starts[2];
    lesson.mentioned = texts + starts[3];
    lesson.lists = texts + starts[4];
    *lesson_out = lesson;
    return TRUE;
}
