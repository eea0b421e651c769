/* One event, one line, whatever a stranger puts into it (XE1). */
#include "lib/log.h"

#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib/gstdio.h>

typedef void (*Say)(const char *text);

static void
say_info(const char *text)
{
    log_info("subject %s", text);
}

static void
say_warning(const char *text)
{
    log_warning("subject %s", text);
}

static void
say_error(const char *text)
{
    log_error("subject %s", text);
}

/* What an event writes to standard error. journal: pretend that journald reads it. */
static char *
capture(Say say, const char *text, gboolean journal)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *path = NULL;
    char *written = NULL;
    struct stat status;
    int file = g_file_open_tmp("exeat-log-XXXXXX", &path, &error);
    int kept = dup(STDERR_FILENO);

    g_assert_no_error(error);
    g_assert_cmpint(fstat(file, &status), ==, 0);
    g_autofree char *stream = g_strdup_printf("%ju:%ju", (uintmax_t)status.st_dev,
                                              (uintmax_t)status.st_ino + (journal ? 0 : 1));
    g_setenv("JOURNAL_STREAM", stream, TRUE);
    dup2(file, STDERR_FILENO);
    log_open("exeat-test", FALSE);
    say(text);
    dup2(kept, STDERR_FILENO);
    close(kept);
    close(file);
    g_assert_true(g_file_get_contents(path, &written, NULL, NULL));
    g_unlink(path);
    return written;
}

static void
test_journal(void)
{
    static const struct {
        Say say;
        const char *text;
        const char *line;
    } ROWS[] = {
        {say_info, "a", "<6>subject a\n"},
        {say_warning, "a", "<4>subject a\n"},
        {say_error, "a", "<3>subject a\n"},
        {say_info, "a\n<3>relay approved", "<6>subject a\\u{000A}<3>relay approved\n"},
        {say_info, "\x1b[2J\r", "<6>subject \\u{001B}[2J\\u{000D}\n"},
        {say_info, "\xff", "<6>subject \\x{FF}\n"},
        {say_info, "%s%n", "<6>subject %s%n\n"},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(ROWS); i++) {
        g_autofree char *line = capture(ROWS[i].say, ROWS[i].text, TRUE);
        g_assert_cmpstr(line, ==, ROWS[i].line);
    }
}

static void
test_plain(void)
{
    g_autofree char *line = capture(say_error, "a", FALSE);

    g_assert_true(g_regex_match_simple(
        "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ exeat-test\\[\\d+\\]: subject a\\n$",
        line, G_REGEX_DEFAULT, G_REGEX_MATCH_DEFAULT));
}

static void
test_long(void)
{
    g_autoptr(GString) text = g_string_new(NULL);

    while (text->len < 100000)
        g_string_append(text, "ü");
    g_autofree char *line = capture(say_info, text->str, TRUE);
    g_assert_true(g_utf8_validate(line, -1, NULL));
    g_assert_cmpuint(strlen(line), <, 2100);
    g_assert_true(g_str_has_suffix(line, "ü… (100008 bytes)\n"));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/log/journal XE1", test_journal);
    g_test_add_func("/log/plain", test_plain);
    g_test_add_func("/log/long", test_long);
    return g_test_run();
}
