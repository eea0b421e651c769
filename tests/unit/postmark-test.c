/* postmark-test - lines that begin a message, and lines that only look so */
#include "lib/postmark.h"

#include <string.h>

#define TEN 1793613600 /* 2026-11-02 10:00:00 UTC */

/* when: 0 is no postmark. */
static const struct {
    const char *line;
    gint64 when;
} rows[] = {
    {"From owner@example.com Mon Nov  2 10:00:00 2026", TEN},
    {"From - Mon Nov 02 10:00:00 2026\r\n", TEN},
    {"From owner@example.com  Mon Nov  2 10:00 2026\n", TEN},
    {"From MAILER-DAEMON Mon Nov  2 11:00:00 2026 +0100", TEN},
    {"From 1880@xxx Mon Nov 02 02:00:00 -0800 2026", TEN},
    {"From a Mon Nov  2 10:00:00 UTC 2026", TEN},
    {"From a Mon Nov  2 10:00:00 2026 remote from b", TEN},
    {"From \"Olivia Park\" Mon Nov  2 10:00:00 2026", TEN},
    {"From a@example.com Mon, 2 Nov 2026 10:00:00 +0000", TEN},
    {"From Mon Nov  2 10:00:00 2026", TEN},
    {"From", 0},
    {"From ", 0},
    {"From our side: nothing to do.", 0},
    {"From a Mon Nov  2 10:00:00", 0},
    {"From a Mon Nov  2 2026", 0},
    {"From a Nov  2 10:00:00 2026", 0},
    {"From Monday the 2nd of November 2026 on, 10:00", 0},
    {"From Berlin we leave on 2 Nov 2026 at 10:00", 0},
    {"From a Mon Feb 30 10:00:00 2026", 0},
    {"From a Mon Nov  2 25:00:00 2026", 0},
    {"From a Mon Nov  2 10:0x:00 2026", 0},
    {"From a Mon Nov  2 10:00:00 12026", 0},
    {"from a Mon Nov  2 10:00:00 2026", 0},
    {">From a Mon Nov  2 10:00:00 2026", 0},
    {"From: a Mon Nov  2 10:00:00 2026", 0},
};

static void
test_rows(void)
{
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        gint64 when = 0;
        gboolean found = postmark_read(rows[i].line, strlen(rows[i].line), &when);
        if (found != (rows[i].when != 0) || when != rows[i].when)
            g_error("%s: %" G_GINT64_FORMAT, rows[i].line, when);
    }
}

static void
test_takeout(void)
{
    static const char yes[] = "From 1880@xxx Mon", no[] = "From 18a0@xxx Mon",
                      cut[] = "From 1@xxx";

    g_assert_true(postmark_is_takeout(yes, strlen(yes)));
    g_assert_false(postmark_is_takeout(no, strlen(no)));
    g_assert_false(postmark_is_takeout(cut, strlen(cut)));
    g_assert_false(postmark_is_takeout("", 0));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/postmark/rows", test_rows);
    g_test_add_func("/postmark/takeout", test_takeout);
    return g_test_run();
}
