/* What is composed from words is read back as these words and nothing else. */
#include "lib/compose.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/mail.h"

static const char *const NOBODY[] = {NULL};

static GString *
compose(const char *subject, const char *text, const char *const *to,
        const char *const *parents)
{
    const Letter letter = {.from = "owner@example.com",
                           .to = to,
                           .subject = subject,
                           .message_id = "<new@example.com>",
                           .parents = parents,
                           .text = text};

    return compose_message(&letter, 1764460800);
}

static Extract *
read_back(const GString *message)
{
    g_autoptr(GError) error = NULL;
    int fd = memfd_create("test", MFD_CLOEXEC);

    g_assert_cmpint(write(fd, message->str, message->len), ==, (gssize)message->len);
    Extract *extract = mail_extract(fd, &error);
    g_assert_no_error(error);
    close(fd);
    return extract;
}

/* No line is too long, none ends otherwise than with CRLF, no byte needs 8BITMIME. */
static void
assert_transportable(const GString *message)
{
    g_auto(GStrv) lines = g_strsplit(message->str, "\r\n", -1);

    g_assert_true(g_str_has_suffix(message->str, "\r\n"));
    g_assert_true(g_str_is_ascii(message->str));
    for (char **line = lines; *line != NULL; line++) {
        g_assert_cmpuint(strlen(*line), <=, 998);
        g_assert_null(strpbrk(*line, "\r\n"));
    }
}

static void
test_words(void)
{
    g_autofree char *fill = g_strnfill(600, 'x');
    g_auto(GStrv) blanks = g_strsplit(fill, "x", -1);
    g_autofree char *long_line = g_strjoinv("word ", blanks);
    g_autofree char *long_subject = g_strnfill(900, 's');
    const struct {
        const char *subject, *text, *read;
    } rows[] = {
        {"Hello", "One line.\n", "One line.\n"},
        {"", "", ""},
        {"No end", "no line feed", "no line feed\n"},
        {"Grüße aus Köln", "Süßes Ding\n", "Süßes Ding\n"},
        {"=?UTF-8?B?ZmFrZQ==?=", "a\n\nb\n", "a\n\nb\n"},
        {"dots", ".\n..\nFrom me\n", ".\n..\nFrom me\n"},
        {long_subject, "long subject\n", "long subject\n"},
        {"日本語日本語日本語日本語日本語日本語日本語", "日本\n", "日本\n"},
        {"long", long_line, NULL},
        {"Bcc: mallory@example.net", "Bcc: mallory@example.net\n\nx\n",
         "Bcc: mallory@example.net\n\nx\n"},
    };
    static const char *const to[] = {"nora@example.org", "tom@example.org", NULL};

    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(GString) message = compose(rows[i].subject, rows[i].text, to, NOBODY);
        g_autoptr(Extract) extract = read_back(message);

        g_test_message("%s", rows[i].subject);
        assert_transportable(message);
        g_assert_cmpstr(extract->subject, ==, rows[i].subject);
        if (rows[i].read != NULL)
            g_assert_cmpstr(extract->text, ==, rows[i].read);
        g_assert_cmpuint(g_strv_length(extract->to_cc), ==, 2);
        g_assert_cmpstr(extract->from[0], ==, "owner@example.com");
        g_assert_cmpuint(extract->parts->len, ==, 0);
        g_assert_null(extract->opaque[0]);
        g_assert_null(extract->doubled[0]);
        g_assert_false(extract->malformed);
        g_assert_cmpstr(extract->html, ==, "");
    }
}

static void
test_conversation(void)
{
    static const char *const parents[] = {"<first@x>", "<second@x>", NULL};
    g_autoptr(GString) message = compose("Re", "x\n", NOBODY, parents);
    g_autoptr(Extract) extract = read_back(message);

    g_assert_cmpstr(extract->message_id, ==, "<new@example.com>");
    g_assert_cmpuint(g_strv_length(extract->parents), ==, 2);
    g_assert_nonnull(strstr(message->str, "\r\nIn-Reply-To: <second@x>\r\n"));
    g_assert_nonnull(strstr(message->str, "\r\nReferences: <first@x>\r\n <second@x>\r\n"));
    g_assert_null(strstr(message->str, "\r\nTo:"));
}

static void
test_new_id(void)
{
    g_autofree char *first = compose_message_id("example.com");
    g_autofree char *second = compose_message_id("example.com");

    g_assert_true(g_str_has_prefix(first, "<") && g_str_has_suffix(first, "@example.com>"));
    g_assert_cmpstr(first, !=, second);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    mail_start();
    g_test_add_func("/compose/words", test_words);
    g_test_add_func("/compose/conversation", test_conversation);
    g_test_add_func("/compose/new-id", test_new_id);
    return g_test_run();
}
