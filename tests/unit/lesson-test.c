/* lesson-test - what an import teaches arrives as it was sent, or not at all */
#include "lib/lesson.h"

#include <string.h>

#include "lib/error.h"

static const char *const nobody[] = {NULL};
static const char *const one[] = {"eva@example.org", NULL};
static const char *const three[] = {"a@example.org", "b@example.org", "grün@example.org",
                                    NULL};
static const char *const ids[] = {"<1@example.org>", "<2@example.org>", NULL};

static const Lesson lessons[] = {
    {.sent = TRUE,
     .when = 1790000000,
     .message_id = "<3@example.org>",
     .sender = "owner@example.com",
     .parents = (const char **)ids,
     .recipients = (const char **)three,
     .correspondents = (const char **)nobody,
     .mentioned = (const char **)nobody,
     .lists = (const char **)nobody},
    {.sent = FALSE,
     .when = -1,
     .message_id = "",
     .sender = "",
     .parents = (const char **)nobody,
     .recipients = (const char **)nobody,
     .correspondents = (const char **)nobody,
     .mentioned = (const char **)nobody,
     .lists = (const char **)nobody},
    {.sent = FALSE,
     .when = 0,
     .message_id = "<4@example.org>",
     .sender = "eva@example.org",
     .parents = (const char **)nobody,
     .recipients = (const char **)nobody,
     .correspondents = (const char **)one,
     .mentioned = (const char **)three,
     .lists = (const char **)one},
};

static void
assert_lists(const char **found, const char **expected)
{
    for (; *expected != NULL; expected++, found++)
        g_assert_cmpstr(*found, ==, *expected);
    g_assert_null(*found);
}

static void
assert_lesson(const Lesson *found, const Lesson *expected)
{
    g_assert_cmpint(found->sent, ==, expected->sent);
    g_assert_cmpint(found->when, ==, expected->when);
    g_assert_cmpstr(found->message_id, ==, expected->message_id);
    g_assert_cmpstr(found->sender, ==, expected->sender);
    assert_lists(found->parents, expected->parents);
    assert_lists(found->recipients, expected->recipients);
    assert_lists(found->correspondents, expected->correspondents);
    assert_lists(found->mentioned, expected->mentioned);
    assert_lists(found->lists, expected->lists);
}

/* How many lessons are in the bytes before the error, which is NULL without one. A copy of
 * just that length shows valgrind and the sanitizers what is read beyond it. */
static guint
read_all(const void *bytes, gsize length, GError **error)
{
    g_autofree char *copy = g_memdup2(bytes, length);
    g_auto(LessonReader) reader = {0};
    Lesson lesson;
    guint count = 0;

    lesson_reader_init(&reader, copy, length);
    while (lesson_next(&reader, &lesson, error))
        assert_lesson(&lesson, &lessons[count++]);
    return count;
}

static void
test_round(void)
{
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    g_autoptr(GError) error = NULL;

    for (gsize i = 0; i < G_N_ELEMENTS(lessons); i++)
        lesson_add(bytes, &lessons[i]);
    g_assert_cmpuint(read_all(bytes->data, bytes->len, &error), ==, G_N_ELEMENTS(lessons));
    g_assert_no_error(error);
    g_assert_cmpuint(read_all("", 0, &error), ==, 0);
    g_assert_no_error(error);
}

/* Cut anywhere but between two lessons, it is refused. */
static void
test_cut(void)
{
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    guint ends[G_N_ELEMENTS(lessons) + 1] = {0};
    guint whole = 0;

    for (gsize i = 0; i < G_N_ELEMENTS(lessons); i++) {
        lesson_add(bytes, &lessons[i]);
        ends[i + 1] = bytes->len;
    }
    for (guint length = 0; length <= bytes->len; length++) {
        g_autoptr(GError) error = NULL;
        guint found = read_all(bytes->data, length, &error);
        if (length == ends[whole + 1])
            whole++;
        g_assert_cmpuint(found, ==, whole);
        if (length == ends[whole])
            g_assert_no_error(error);
        else
            g_assert_error(error, EXEAT_ERROR, ERROR_PROTOCOL);
    }
}

static void
test_broken(void)
{
    static const struct {
        const char *bytes;
        gsize length;
        const char *expected;
    } CASES[] = {
        {"x1\0\0\0\0\0\0\0", 10, "a lesson has no time"},
        {"\0\0\0\0\0\0\0", 8, "a lesson has no time"},
        {"s\0\0\0\0\0\0\0", 9, "a lesson has no time"},
        {"s1x\0\0\0\0\0\0\0", 11, "a lesson has no time"},
        {"s99999999999999999999\0\0\0\0\0\0\0", 29, "a lesson has no time"},
        {"s1\0\xff\0\0\0\0\0\0", 11, "a lesson has a text that is no UTF-8"},
        {"s1", 2, "a lesson is cut short"},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(CASES); i++) {
        g_autoptr(GError) error = NULL;
        read_all(CASES[i].bytes, CASES[i].length, &error);
        g_assert_error(error, EXEAT_ERROR, ERROR_PROTOCOL);
        g_assert_cmpstr(error->message, ==, CASES[i].expected);
    }
}

/* An empty text ends a list: one within it is left out, and takes nothing with it. */
static void
test_empty_text(void)
{
    static const char *list[] = {"", "eva@example.org", NULL};
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    Lesson lesson = lessons[2];

    lesson.lists = list;
    lesson_add(bytes, &lesson);
    g_auto(LessonReader) reader = {0};
    lesson_reader_init(&reader, bytes->data, bytes->len);
    g_assert_true(lesson_next(&reader, &lesson, NULL));
    assert_lesson(&lesson, &lessons[2]);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/lesson/round", test_round);
    g_test_add_func("/lesson/cut", test_cut);
    g_test_add_func("/lesson/broken", test_broken);
    g_test_add_func("/lesson/empty-text", test_empty_text);
    return g_test_run();
}
