#include "lib/lesson.h"

#include <string.h>

#include "lib/error.h"

#define LISTS 5

/* What has a line feed is no id and no address: a message must not write lessons (XB26). */
static gboolean
is_line(const char *text)
{
    return strchr(text, '\n') == NULL;
}

static void
add_line(GString *text, const char *line)
{
    if (is_line(line))
        g_string_append(text, line);
    g_string_append_c(text, '\n');
}

static void
add_list(GString *text, const char *const *list)
{
    for (; *list != NULL; list++)
        if (**list != '\0' && is_line(*list))
            add_line(text, *list);
    g_string_append_c(text, '\n');
}

void
lesson_add(GString *text, const Lesson *lesson)
{
    const char letter = lesson->sent ? 's' : lesson->automatic ? 'm' : 'r';

    g_string_append_printf(text, "%c%" G_GINT64_FORMAT "\n", letter, lesson->when);
    add_line(text, lesson->message_id);
    add_line(text, lesson->sender);
    add_list(text, lesson->parents);
    add_list(text, lesson->recipients);
    add_list(text, lesson->correspondents);
    add_list(text, lesson->mentioned);
    add_list(text, lesson->lists);
}

void
lesson_reader_init(LessonReader *reader, const char *text)
{
    reader->next = reader->text = g_strdup(text);
    reader->entries = g_ptr_array_new();
}

void
lesson_reader_clear(LessonReader *reader)
{
    g_clear_pointer(&reader->text, g_free);
    g_clear_pointer(&reader->entries, g_ptr_array_unref);
}

static gboolean
fail(const char *what, GError **error)
{
    g_set_error(error, EXEAT_ERROR, ERROR_PROTOCOL, "a lesson %s", what);
    return FALSE;
}

static gboolean
read_line(LessonReader *reader, const char **line_out, GError **error)
{
    char *stop = strchr(reader->next, '\n');

    if (stop == NULL)
        return fail("is cut short", error);
    *stop = '\0';
    *line_out = reader->next;
    reader->next = stop + 1;
    return TRUE;
}

static gboolean
read_list(LessonReader *reader, GError **error)
{
    const char *entry;

    do {
        if (!read_line(reader, &entry, error))
            return FALSE;
        g_ptr_array_add(reader->entries, *entry != '\0' ? (gpointer)entry : NULL);
    } while (*entry != '\0');
    return TRUE;
}

static gboolean
read_first(LessonReader *reader, Lesson *lesson, GError **error)
{
    const char *line;

    if (!read_line(reader, &line, error))
        return FALSE;
    if ((*line != 's' && *line != 'r' && *line != 'm') ||
        !g_ascii_string_to_signed(line + 1, 10, G_MININT64, G_MAXINT64, &lesson->when, NULL))
        return fail("has no time", error);
    lesson->sent = *line == 's';
    lesson->automatic = *line == 'm';
    return TRUE;
}

gboolean
lesson_next(LessonReader *reader, Lesson *lesson_out, GError **error)
{
    Lesson lesson = {0};
    guint starts[LISTS];

    if (*reader->next == '\0')
        return FALSE;
    if (!read_first(reader, &lesson, error) || !read_line(reader, &lesson.message_id, error) ||
        !read_line(reader, &lesson.sender, error))
        return FALSE;
    g_ptr_array_set_size(reader->entries, 0);
    for (guint i = 0; i < LISTS; i++) {
        starts[i] = reader->entries->len;
        if (!read_list(reader, error))
            return FALSE;
    }
    /* Only now does the array stay where it is. */
    const char **entries = (const char **)reader->entries->pdata;
    lesson.parents = entries + starts[0];
    lesson.recipients = entries + starts[1];
    lesson.correspondents = entries + starts[2];
    lesson.mentioned = entries + starts[3];
    lesson.lists = entries + starts[4];
    *lesson_out = lesson;
    return TRUE;
}
