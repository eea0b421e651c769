/* Text for a terminal: nothing wider than said, nothing of a stranger where a line of ours
 * begins. */
#include "cli/output.h"

#include <string.h>

#define WIDE   "邮件"              /* two columns a letter */
#define MARKED "e\xcc\x81\xcc\x81" /* one column: an e and two accents */

static void
test_width(void)
{
    static const struct {
        const char *text;
        guint width;
    } ROWS[] = {{"", 0}, {"abc", 3}, {"äöü", 3}, {WIDE, 4}, {MARKED, 1}, {"…", 1}};

    for (gsize i = 0; i < G_N_ELEMENTS(ROWS); i++)
        g_assert_cmpuint(output_width(ROWS[i].text), ==, ROWS[i].width);
}

static void
test_fit(void)
{
    static const struct {
        const char *text;
        guint columns;
        const char *fitted;
    } ROWS[] = {
        {"abc", 3, "abc"},   {"abcd", 3, "ab…"},
        {"abc", 1, "…"},     {"abc", 0, ""},
        {"", 3, ""},         {WIDE, 4, WIDE},
        {WIDE, 3, "邮…"},    {WIDE, 2, "…"},
        {MARKED, 1, MARKED}, {MARKED "bc", 2, MARKED "…"},
        {"äöü", 2, "ä…"},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(ROWS); i++) {
        g_autofree char *fitted = output_fit(ROWS[i].text, ROWS[i].columns);
        g_assert_cmpstr(fitted, ==, ROWS[i].fitted);
        g_assert_cmpuint(output_width(fitted), <=, ROWS[i].columns);
    }
}

/* XD6: a cut is seen, and how much it took. */
static void
test_cut(void)
{
    g_autofree char *whole = output_cut("äöü", 3);
    g_autofree char *cut = output_cut("äöüß", 3);
    g_autofree char *long_subject = g_strnfill(10000, 'x');
    g_autofree char *cut_subject = output_cut(long_subject, 200);

    g_assert_cmpstr(whole, ==, "äöü");
    g_assert_cmpstr(cut, ==, "äöü… (4 characters)");
    g_assert_true(g_str_has_suffix(cut_subject, "x… (10000 characters)"));
}

static void
test_wrap(void)
{
    static const struct {
        const char *text;
        guint columns;
        const char *wrapped;
    } ROWS[] = {
        {"", 20, "To: \n"},
        {"abc", 0, "To: abc\n"},
        {"abcdefghijklmno", 20, "To: abcdefghijklmno\n"},
        {"abcdefghijklmnop", 20, "To: abcdefghijklmno\n  + p\n"},
        {"abcdefghijklmnop", 0, "To: abcdefghijklmnop\n"},
        {"abc defghi jklmnopq", 20, "To: abc defghi \n  + jklmnopq\n"},
        {"abc defghijklmnopqr", 20, "To: abc defghijklmn\n  + opqr\n"},
        {"aaaaaaaaaaaaaa" WIDE, 20, "To: aaaaaaaaaaaaaa\n  + " WIDE "\n"},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(ROWS); i++) {
        g_autofree char *wrapped = output_wrap("To: ", "  + ", ROWS[i].text, ROWS[i].columns);
        g_assert_cmpstr(wrapped, ==, ROWS[i].wrapped);
    }
}

/* XD17: a text cannot draw the frame it stands in, not even by a line that a terminal would
 * break. */
static void
test_quote(void)
{
    static const struct {
        const char *text;
        const char *quoted;
        guint lines;
    } ROWS[] = {
        {"", "", 0},
        {"a", "| a\n", 1},
        {"a\n", "| a\n", 1},
        {"a\n\nb", "| a\n| \n| b\n", 3},
        {"\n\n", "| \n| \n", 2},
        {"12345678901234567890123456789012345678exeat approve x",
         "| 1234567890123456789012345678901234567\n: 8exeat approve x\n", 1},
        {"1234567\t\t\t\t8", "| 1234567\t\t\t\n: \t8\n", 1},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(ROWS); i++) {
        g_autofree char *quoted = output_quote(ROWS[i].text, 40);
        g_assert_cmpstr(quoted, ==, ROWS[i].quoted);
        g_assert_cmpuint(output_lines(ROWS[i].text), ==, ROWS[i].lines);
    }
}

/* XD5: all of a long text comes out, with or without a terminal. */
static void
test_long(void)
{
    g_autofree char *text = g_strnfill(1000 * 1000, 'x');
    g_autofree char *quoted = output_quote(text, 80);
    g_autofree char *unbroken = output_quote(text, 0);
    gsize letters = 0;

    for (const char *at = quoted; *at != '\0'; at++)
        letters += *at == 'x';
    g_assert_cmpuint(letters, ==, 1000 * 1000);
    g_assert_cmpuint(strlen(unbroken), ==, 1000 * 1000 + strlen("| \n"));
}

static void
test_span(void)
{
    static const struct {
        gint64 seconds;
        const char *span;
    } ROWS[] = {{0, "0s"},     {59, "59s"},         {60, "1m"},
                {3599, "59m"}, {3600, "1h"},        {86399, "23h"},
                {86400, "1d"}, {14 * 86400, "14d"}, {-5, "0s"}};

    for (gsize i = 0; i < G_N_ELEMENTS(ROWS); i++) {
        g_autofree char *span = output_span(ROWS[i].seconds);
        g_assert_cmpstr(span, ==, ROWS[i].span);
    }
}

static void
test_time(void)
{
    static const struct {
        gint64 when;
        const char *time;
    } ROWS[] = {
        {0, "never"},
        {G_MAXINT64, "beyond the calendar"},
        {1000000000, "2001-09-09 01:46 (0s ago)"},
        {999996400, "2001-09-09 00:46 (1h ago)"},
        {1000000900, "2001-09-09 02:01 (in 15m)"},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(ROWS); i++) {
        g_autofree char *time = output_time(ROWS[i].when, 1000000000);
        g_assert_cmpstr(time, ==, ROWS[i].time);
    }
}

static void
test_table(void)
{
    char *head[] = {(char *)"ID", (char *)"TO", (char *)"SUBJECT", NULL};
    char *plain[] = {(char *)"a1", (char *)"bob@example.org",
                     (char *)"lunch at noon, or later", NULL};
    char *wide[] = {(char *)"a2", (char *)WIDE "@example.org", (char *)MARKED, NULL};
    static const struct {
        guint columns;
        const char *table;
    } ROWS[] = {
        {0, "ID  TO                SUBJECT\n"
            "a1  bob@example.org   lunch at noon, or later\n"
            "a2  " WIDE "@example.org  " MARKED "\n"},
        {80, "ID  TO                SUBJECT\n"
             "a1  bob@example.org   lunch at noon, or later\n"
             "a2  " WIDE "@example.org  " MARKED "\n"},
        {40, "ID  TO                SUBJECT\n"
             "a1  bob@example.org   lunch at noon, or…\n"
             "a2  " WIDE "@example.org  " MARKED "\n"},
        {20, "ID  TO        SUBJECT\n"
             "a1  bob@exa…  lunch a…\n"
             "a2  " WIDE "@ex…  " MARKED "\n"},
        {36, "ID  TO                SUBJECT\n"
             "a1  bob@example.org   lunch at noon…\n"
             "a2  " WIDE "@example.org  " MARKED "\n"},
    };
    g_autoptr(GPtrArray) rows = g_ptr_array_new();

    g_ptr_array_add(rows, head);
    g_ptr_array_add(rows, plain);
    g_ptr_array_add(rows, wide);
    for (gsize i = 0; i < G_N_ELEMENTS(ROWS); i++) { /* XD16 */
        g_autofree char *table = output_table(rows, 1, ROWS[i].columns);
        g_assert_cmpstr(table, ==, ROWS[i].table);
    }
}

/* A text that is not cut moves what follows it in its own line alone. */
static void
test_whole_table(void)
{
    g_autofree char *text = g_strnfill(2000, 'x');
    char *longer[] = {(char *)"a1", text, (char *)"why", NULL};
    char *other[] = {(char *)"a2", (char *)"y", (char *)"why", NULL};
    g_autoptr(GPtrArray) rows = g_ptr_array_new();
    g_autofree char *expected = g_strdup_printf("a1  %s  why\na2  %-60s  why\n", text, "y");

    g_ptr_array_add(rows, longer);
    g_ptr_array_add(rows, other);
    g_autofree char *table = output_table(rows, 1, 0);
    g_assert_cmpstr(table, ==, expected);
}

int
main(int argc, char **argv)
{
    g_setenv("TZ", "UTC", TRUE);
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/output/width", test_width);
    g_test_add_func("/output/fit", test_fit);
    g_test_add_func("/output/cut XD6", test_cut);
    g_test_add_func("/output/wrap XD17", test_wrap);
    g_test_add_func("/output/quote XD17", test_quote);
    g_test_add_func("/output/long XD5", test_long);
    g_test_add_func("/output/span", test_span);
    g_test_add_func("/output/time", test_time);
    g_test_add_func("/output/table XD16", test_table);
    g_test_add_func("/output/table-whole", test_whole_table);
    return g_test_run();
}
