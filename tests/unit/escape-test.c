/* escape-test - nothing a stranger wrote reaches a terminal or page as more than letters */
#include "lib/escape.h"

static const struct {
    const char *name;
    const char *text;
    const char *line;
    const char *lines; /* NULL: as line */
} rows[] = {
    {"plain", "Thursday works.", "Thursday works.", NULL},
    {"letters", "Grüße, 你好, שלום", "Grüße, 你好, שלום", NULL},
    {"markup is not ours to escape", "<b>&amp;\"", "<b>&amp;\"", NULL},
    {"backslash", "a\\u{202E}", "a\\\\u{202E}", NULL},
    {"XD16 line feed and tab", "a\n\tb", "a\\u{000A}\\u{0009}b", "a\n\tb"},
    {"CR LF", "a\r\nb", "a\\u{000D}\\u{000A}b", "a\nb"},
    {"XD4 CR alone", "safe\rbad", "safe\\u{000D}bad", NULL},
    {"XD4 escape codes", "\x1b[2J\x1b]8;;x\x07", "\\u{001B}[2J\\u{001B}]8;;x\\u{0007}", NULL},
    {"XD4 delete and C1", "\x7f\xc2\x9b", "\\u{007F}\\u{009B}", NULL},
    {"XD4 C1 as a byte",
     "\x9b"
     "2J",
     "\\x{9B}2J", NULL},
    {"not UTF-8", "\xff\xc3", "\\x{FF}\\x{C3}", NULL},
    {"overlong", "\xc0\xaf", "\\x{C0}\\x{AF}", NULL},
    {"surrogate", "\xed\xa0\x80", "\\x{ED}\\x{A0}\\x{80}", NULL},
    {"XD3 direction", "invoice\u202Efdp.exe", "invoice\\u{202E}fdp.exe", NULL},
    {"XD3 isolate", "\u2066x\u2069", "\\u{2066}x\\u{2069}", NULL},
    {"XD3 zero width", "a\u200Bb\uFEFFc\u00ADd", "a\\u{200B}b\\u{FEFF}c\\u{00AD}d", NULL},
    {"XD3 tags", "\U000E0041", "\\u{E0041}", NULL},
    {"XD3 variation", "a\uFE0F\U000E0100", "a\\u{FE0F}\\u{E0100}", NULL},
    {"blank letters", "\u3164\u2800\u17b4", "\\u{3164}\\u{2800}\\u{17B4}", NULL},
    {"line separators", "\u2028\u2029", "\\u{2028}\\u{2029}", NULL},
    {"private use", "\uE000", "\\u{E000}", NULL},
    {"unassigned", "\u0378\uFFFF", "\\u{0378}\\u{FFFF}", NULL},
    {"XD16 marks on one letter", "a\u0301\u0301\u0301\u0301\u0301b",
     "a\u0301\u0301\u0301\u0301\\u{0301}b", NULL},
};

static void
test_row(gconstpointer data)
{
    gsize i = GPOINTER_TO_SIZE(data);
    g_autofree char *line = escape_line(rows[i].text);
    g_autofree char *lines = escape_text(rows[i].text);

    g_assert_cmpstr(line, ==, rows[i].line);
    g_assert_cmpstr(lines, ==, rows[i].lines != NULL ? rows[i].lines : rows[i].line);
}

/* What stands in a reply: one line of ASCII that is no longer than it may be. */
static void
test_ascii(void)
{
    static const struct {
        const char *text, *expected;
    } CASES[] = {
        {"", ""},
        {"550 5.1.1 no", "550 5.1.1 no"},
        {"gr\u00fcn \u2013 ja", "grun - ja"},
        {"\u202eeno\u200b", "?eno"},
        {"a\r\nb\tc\x7f", "a??b?c?"},
        {"gr\xfc\xdf", "gr??"},
        {"0123456789abcdef0", "0123456789abcdef"},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(CASES); i++) {
        g_autofree char *line = escape_ascii(CASES[i].text, 16);

        g_assert_cmpstr(line, ==, CASES[i].expected);
    }
}

/* XD4: whatever comes in, no byte below 0x20 and no C1 control comes out. */
static void
test_every_byte(void)
{
    for (guint first = 1; first < 256; first++)
        for (guint second = 0; second < 256; second++) {
            const char text[] = {(char)first, (char)second, 0};
            g_autofree char *line = escape_line(text);
            g_assert_true(g_utf8_validate(line, -1, NULL));
            for (const char *p = line; *p != 0; p = g_utf8_next_char(p))
                g_assert_false(g_unichar_iscntrl(g_utf8_get_char(p)));
        }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *path = g_strconcat("/escape/", rows[i].name, NULL);
        g_test_add_data_func(path, GSIZE_TO_POINTER(i), test_row);
    }
    g_test_add_func("/escape/ascii", test_ascii);
    g_test_add_func("/escape/every byte", test_every_byte);
    return g_test_run();
}
