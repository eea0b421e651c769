/* Drafts: where they are, and what stands in them. */
#include <string.h>

#include "relay/draft-message.h"
#include "store/draft.h"
#include "tests/unit/items.h"
#include "tests/unit/scratch.h"

/* Where */

static char *
list(Db *db, const char *account)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) drafts = draft_list(db, account, &error);
    g_autoptr(GString) text = g_string_new(NULL);

    g_assert_no_error(error);
    for (guint i = 0; i < drafts->len; i++) {
        const Draft *draft = drafts->pdata[i];
        g_string_append_printf(text, "%s%s %s %s %u %u %d", i > 0 ? ", " : "", draft->item,
                               state_name(draft->state), draft->place, draft->validity,
                               draft->uid, (int)draft->put);
    }
    return g_strdup(text->str);
}

static void
assert_list(Db *db, const char *account, const char *expected)
{
    g_autofree char *found = list(db, account);

    g_assert_cmpstr(found, ==, expected);
}

/* What waits is listed with and without a draft, what has ended only with one. */
static void
test_places(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(Draft) found = NULL;
    Scratch scratch;
    Draft draft = {.item = (char *)"a", .place = (char *)"here", .validity = 7, .uid = 9};

    scratch_open(&scratch);
    add_plain(scratch.db, "a", STATE_HELD);
    add_plain(scratch.db, "b", STATE_REJECTED);
    assert_list(scratch.db, "owner", "a held  0 0 0");
    g_assert_true(draft_find(scratch.db, "a", &found, &error));
    g_assert_null(found);
    g_assert_true(draft_keep(scratch.db, &draft, &error));
    draft.put = 1000;
    draft.uid = G_MAXUINT32;
    g_assert_true(draft_keep(scratch.db, &draft, &error));
    assert_list(scratch.db, "owner", "a held here 7 4294967295 1000");
    assert_list(scratch.db, "other", "");
    move(scratch.db, "a", STATE_HELD, STATE_EXPIRED);
    assert_list(scratch.db, "owner", "a expired here 7 4294967295 1000");
    g_assert_true(draft_find(scratch.db, "a", &found, &error));
    g_assert_cmpstr(found->place, ==, "here");
    g_assert_true(draft_drop(scratch.db, "a", &error));
    assert_list(scratch.db, "owner", "");
    scratch_close(&scratch);
}

/* While it is being sent, too, but not from the point of no return on: whoever sent it by hand
 * then would send it twice. */
static void
test_wanted(void)
{
    static const gboolean wanted[STATE_COUNT] = {[STATE_HELD] = TRUE,
                                                 [STATE_DRAFT] = TRUE,
                                                 [STATE_DELAYED] = TRUE,
                                                 [STATE_APPROVED] = TRUE,
                                                 [STATE_SENDING] = TRUE};

    for (State state = 0; state < STATE_COUNT; state++)
        g_assert_cmpint(draft_is_wanted(state), ==, wanted[state]);
}

/* What stands in them */

#define ITEM "X-Exeat-Item: a\r\n"

typedef struct {
    const char *name;
    const char *recipients; /* of the envelope, by blanks */
    const char *named;      /* in To and Cc, normal */
    const char *message;
    const char *expected;
} Row;

static const Row rows[] = {
    {"nobody hidden", "nora@x.org", "nora@x.org", "To: nora@x.org\r\n\r\nHello\r\n",
     ITEM "To: nora@x.org\r\n\r\nHello\r\n"},
    {"another spelling", "Nora@X.org", "nora@x.org", "To: a\r\n\r\n", ITEM "To: a\r\n\r\n"},
    {"hidden", "nora@x.org Eve@y.org", "nora@x.org", "To: a\r\n\r\n",
     ITEM "Bcc: Eve@y.org\r\nTo: a\r\n\r\n"},
    {"two hidden", "eve@y.org bob@y.org", "", "\r\nHello",
     ITEM "Bcc: eve@y.org,\r\n bob@y.org\r\n\r\nHello"},
    {"what the agent says of it", "nora@x.org", "nora@x.org",
     "BCC: eve@y.org,\r\n\tbob@y.org\r\nbcc : x\r\nResent-Bcc: x\r\nBccs: y\r\n\r\nBcc: z\r\n",
     ITEM "Bccs: y\r\n\r\nBcc: z\r\n"},
    {"marks of ours", "nora@x.org", "nora@x.org",
     "x-exeat-ticket: 1\r\nTo: a\r\nX-Exeat-Item: b\r\n c\r\n\r\nX-Exeat-Item: b",
     ITEM "To: a\r\n\r\nX-Exeat-Item: b"},
    {"no body", "nora@x.org", "nora@x.org", "To: a\r\n", ITEM "To: a\r\n"},
    {"bare line feeds", "nora@x.org", "nora@x.org", "Bcc: x\n y\nTo: a\n\nBcc: z\n",
     ITEM "To: a\n\nBcc: z\n"},
    {"empty", "nora@x.org", "nora@x.org", "", ITEM},
    {"no address at all", "nora", "", "\r\n", ITEM "\r\n"},
};

static Item *
make(const Row *row)
{
    Item *item = make_item("a", "owner", STATE_HELD);
    g_auto(GStrv) recipients = g_strsplit(row->recipients, " ", -1);

    for (char **recipient = recipients; *recipient != NULL; recipient++) {
        g_autofree char *path = g_strdup_printf("<%s>", *recipient);
        const char *const words[] = {path, NULL};
        envelope_add_recipient(item->envelope, words, NULL);
    }
    g_strfreev(item->extract->to_cc);
    item->extract->to_cc = g_strsplit(row->named, " ", -1);
    return item;
}

static void
test_compose(gconstpointer data)
{
    const Row *row = data;
    g_autoptr(Item) item = make(row);
    g_autoptr(GString) draft = draft_compose(item, row->message, strlen(row->message));

    g_assert_cmpstr(draft->str, ==, row->expected);
}

static void
test_due(void)
{
    g_autoptr(Item) item = make(&rows[0]);

    item->state = STATE_DELAYED;
    item->due = 1764547200;
    g_autoptr(GString) draft = draft_compose(item, "\r\n", 2);
    g_assert_cmpstr(draft->str, ==,
                    ITEM "X-Exeat-Due: Mon, 01 Dec 2025 00:00:00 +0000\r\n\r\n");
}

/* An edited copy, and one that somebody made up, is another; the due time does not matter. */
static void
test_same(void)
{
    static const struct {
        const char *bytes;
        gboolean same;
    } CASES[] = {
        {ITEM "To: nora@x.org\r\n\r\nHello\r\n", TRUE},
        {ITEM "X-Exeat-Due: whenever\r\nTo: nora@x.org\r\n\r\nHello\r\n", TRUE},
        {ITEM "To: nora@x.org\r\n\r\nHello!\r\n", FALSE},
        {ITEM "To: nora@x.org\r\n\r\nHello", FALSE},
        {ITEM "Bcc: eve@y.org\r\nTo: nora@x.org\r\n\r\nHello\r\n", FALSE},
        {ITEM "X-Exeat-Due: now\r\nX-Exeat-Due: now\r\nTo: nora@x.org\r\n\r\nHello\r\n",
         FALSE},
        {"X-Exeat-Item: b\r\nTo: nora@x.org\r\n\r\nHello\r\n", FALSE},
        {ITEM, FALSE},
        {"X", FALSE},
        {"", FALSE},
    };
    g_autoptr(Item) item = make(&rows[0]);

    for (State state = STATE_DRAFT; state <= STATE_DELAYED; state++) {
        item->state = state;
        g_autoptr(GString) draft =
            draft_compose(item, rows[0].message, strlen(rows[0].message));
        g_assert_true(draft_is_same(draft, draft->str, draft->len));
        for (gsize i = 0; i < G_N_ELEMENTS(CASES); i++) {
            g_test_message("%s", CASES[i].bytes);
            g_assert_cmpint(draft_is_same(draft, CASES[i].bytes, strlen(CASES[i].bytes)), ==,
                            CASES[i].same);
        }
    }
}

static void
test_place(void)
{
    static const struct {
        const char *place, *told;
    } ROWS[] = {
        {"nora at localhost:0/Drafts", "nora at localhost/Drafts"},
        {"nora at localhost:10/Drafts", "nora at localhost:10/Drafts"},
        {"nora at [::1]:0/a:0/b", "nora at [::1]/a:0/b"},
        {"a:0/b at localhost:993/x:0/y", "a:0/b at localhost:993/x:0/y"},
        {"here", "here"},
        {"", ""},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(ROWS); i++) {
        const Draft draft = {.place = (char *)ROWS[i].place};
        g_autofree char *told = draft_describe_place(&draft);
        g_assert_cmpstr(told, ==, ROWS[i].told);
    }
}

int
main(int argc, char **argv)
{
    g_setenv("TZ", "UTC", TRUE);
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/draft/places", test_places);
    g_test_add_func("/draft/place", test_place);
    g_test_add_func("/draft/wanted", test_wanted);
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *path = g_strconcat("/draft/compose/", rows[i].name, NULL);
        g_test_add_data_func(path, &rows[i], test_compose);
    }
    g_test_add_func("/draft/due", test_due);
    g_test_add_func("/draft/same", test_same);
    return g_test_run();
}
