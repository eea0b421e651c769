/* lesson-test - what an import teaches arrives as it was sent, or not at all */
#include "lib/lesson.h"

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
     .automatic = TRUE,
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
    g_assert_cmpint(found->automatic, ==, expected->automatic);
    g_assert_cmpint(found->when, ==, expected->when);
    g_assert_cmpstr(found->message_id, ==, expected->message_id);
    g_assert_cmpstr(found->sender, ==, expected->sender);
    assert_lists(found->parents, expected->parents);
    assert_lists(found->recipients, expected->recipients);
    assert_lists(found->correspondents, expected->correspondents);
    assert_lists(found->mentioned, expected->mentioned);
    assert_lists(found->lists, expected->lists);
}

/* How many lessons are in the text before the error, which is NULL without one. */
static guint
read_all(const char *text, GError **error)
{
    g_auto(LessonReader) reader = {0};
    Lesson lesson;
    guint count = 0;

    lesson_reader_init(&reader, text);
    while (lesson_next(&reader, &lesson, error))
        assert_lesson(&lesson, &lessons[count++]);
    return count;
}

static void
test_round(void)
{
    g_autoptr(GString) text = g_string_new(NULL);
    g_autoptr(GError) error = NULL;

    for (gsize i = 0; i < G_N_ELEMENTS(lessons); i++)
        lesson_add(text, &lessons[i]);
    g_assert_cmpuint(read_all(text->str, &error), ==, G_N_ELEMENTS(lessons));
    g_assert_no_error(error);
    g_assert_cmpuint(read_all("", &error), ==, 0);
    g_assert_no_error(error);
}

/* Cut anywhere but between two lessons, it is refused. */
static void
test_cut(void)
{
    g_autoptr(GString) text = g_string_new(NULL);
    gsize ends[G_N_ELEMENTS(lessons) + 1] = {0};
    guint whole = 0;

    for (gsize i = 0; i < G_N_ELEMENTS(lessons); i++) {
        lesson_add(text, &lessons[i]);
        ends[i + 1] = text->len;
    }
    for (gsize length = 0; length <= text->len; length++) {
        g_autofree char *cut = g_strndup(text->str, length);
        g_autoptr(GError) error = NULL;
        guint found = read_all(cut, &error);
        if (length == ends[whole + 1])
            whole++;
        g_assert_cmpuint(found, ==, whole);
        if (length == ends[whole])
            g_assert_no_error(error);
        else
            g_assert_error(error, EXEAT_ERROR, ERROR_PROTOCOL);
    }
}

/* What a received message wrote into its ids and addresses is no lesson of its own. */
static void
test_line_feeds(void)
{
    static const char *const forged[] = {
        "<5@example.org>\n\n\n\n\n\ns1\n<6@example.org>\n\n\neva@example.net\n\n\n\n\n", NULL};
    const Lesson written = {.message_id = forged[0],
                            .sender = forged[0],
                            .parents = (const char **)forged,
                            .recipients = (const char **)forged,
                            .correspondents = (const char **)forged,
                            .mentioned = (const char **)forged,
                            .lists = (const char **)forged};
    const Lesson expected = {.message_id = "",
                             .sender = "",
                             .parents = (const char **)nobody,
                             .recipients = (const char **)nobody,
                             .correspondents = (const char **)nobody,
                             .mentioned = (const char **)nobody,
                             .lists = (const char **)nobody};
    g_autoptr(GString) text = g_string_new(NULL);
    g_auto(LessonReader) reader = {0};
    g_autoptr(GError) error = NULL;
    Lesson found;

    lesson_add(text, &written);
    lesson_reader_init(&reader, text->str);
    g_assert_true(lesson_next(&reader, &found, &error));
    assert_lesson(&found, &expected);
    g_assert_false(lesson_next(&reader, &found, &error));
    g_assert_no_error(error);
}

static void
test_broken(void)
{
    static const struct {
        const char *text;
        const char *expected;
    } CASES[] = {
        {"x1\n\n\n\n\n\n\n\n", "a lesson has no time"},
        {"\n\n\n\n\n\n\n\n", "a lesson has no time"},
        {"s\n\n\n\n\n\n\n\n", "a lesson has no time"},
        {"s1x\n\n\n\n\n\n\n\n", "a lesson has no time"},
        {"s99999999999999999999\n\n\n\n\n\n\n\n", "a lesson has no time"},
        {"s1", "a lesson is cut short"},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(CASES); i++) {
        g_autoptr(GError) error = NULL;
        read_all(CASES[i].text, &error);
        g_assert_error(error, EXEAT_ERROR, ERROR_PROTOCOL);
        g_assert_cmpstr(error->message, ==, CASES[i].expected);
    }
}

/* An empty line ends a list: one within it is left out, and takes nothing with it. */
static void
test_empty_line(void)
{
    static const char *list[] = {"", "eva@example.org", NULL};
    g_autoptr(GString) text = g_string_new(NULL);
    Lesson lesson = lessons[2];

    lesson.lists = list;
    lesson_add(text, &lesson);
    g_auto(LessonReader) reader = {0};
    lesson_reader_init(&reader, text->str);
    g_assert_true(lesson_next(&reader, &lesson, NULL));
    assert_lesson(&lesson, &lessons[2]);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/lesson/round", test_round);
    g_test_add_func("/lesson/cut", test_cut);
    g_test_add_func("/lesson/line-feeds", test_line_feeds);
    g_test_add_func("/lesson/broken", test_broken);
    g_test_add_func("/lesson/empty-line", test_empty_line);
    return g_test_run();
}
