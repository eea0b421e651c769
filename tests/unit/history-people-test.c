/* What an admin says of people, whom others could be taken for, and what people are told. */
#include "tests/unit/observe.h"

static void
vouch(Db *db, const char *address, gint64 now)
{
    g_autoptr(GError) error = NULL;

    history_vouch(db, ME, address, "user root (0)", now, &error);
    g_assert_no_error(error);
}

static gboolean
forget(Db *db, const char *address)
{
    g_autoptr(GError) error = NULL;
    gboolean known = FALSE;

    history_forget(db, ME, address, "admin", 3000, &known, &error);
    g_assert_no_error(error);
    return known;
}

static char *
find_like(Db *db, const char *account, const char *address)
{
    g_autoptr(GHashTable) domains =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    g_autoptr(GError) error = NULL;
    char *like = NULL;

    history_find_like(db, account, address, domains, &like, &error);
    g_assert_no_error(error);
    char *again = NULL; /* from what was found for the domain */
    history_find_like(db, account, address, domains, &again, &error);
    g_assert_no_error(error);
    g_assert_cmpstr(again, ==, like);
    g_free(again);
    return like;
}

static HistoryStory *
tell(Db *db, const char *address)
{
    g_autoptr(GError) error = NULL;
    HistoryStory *story = NULL;

    history_tell(db, ME, address, &story, &error);
    g_assert_no_error(error);
    return story;
}

/* Vouched for: known, but not written to; and a text that names him later counts again. */
static void
test_vouch(void)
{
    Scratch scratch;

    scratch_open(&scratch);
    observe_received(scratch.db, "<m1@x>", NULL, EVIL, NORA, 1000);
    g_assert_true(look_up(scratch.db, NORA).mentioned);
    vouch(scratch.db, NORA, 1000);
    HistoryAddress found = look_up(scratch.db, NORA);
    g_assert_true(found.known);
    g_assert_false(found.mentioned);
    g_assert_cmpint(found.times, ==, 0);
    g_assert_cmpint(found.first, ==, 0);
    g_assert_cmpint(found.vouched, ==, 1000);
    observe_received(scratch.db, "<m2@x>", NULL, EVIL, NORA, 1000);
    g_assert_true(look_up(scratch.db, NORA).mentioned);

    observe_human(scratch.db, "<k1@x>", NULL, NORA, 500);
    found = look_up(scratch.db, NORA);
    g_assert_cmpint(found.times, ==, 1);
    g_assert_cmpint(found.first, ==, 500);
    g_assert_true(found.mentioned); /* an old letter, imported, settles nothing */
    observe_human(scratch.db, "<k2@x>", NULL, NORA, 1001);
    g_assert_false(look_up(scratch.db, NORA).mentioned);
    scratch_close(&scratch);
}

/* Forgotten: a stranger, in the old conversation too, until the human writes again. */
static void
test_forget(void)
{
    const char *const ids[] = {"<k1@x>", NULL};
    gint64 conversation = 0;
    gboolean mine = FALSE;
    Scratch scratch;

    scratch_open(&scratch);
    g_assert_false(forget(scratch.db, NORA));
    observe_human(scratch.db, "<k1@x>", NULL, NORA, 1000);
    vouch(scratch.db, NORA, 1000);
    observe_received(scratch.db, "<m1@x>", NULL, EVIL, NORA, 2000);
    g_assert_true(forget(scratch.db, NORA));
    HistoryAddress found = look_up(scratch.db, NORA);
    g_assert_false(found.known);
    g_assert_false(found.mentioned);
    g_assert_cmpint(found.vouched, ==, 0);
    g_assert_true(history_conversation(scratch.db, ME, ids, &conversation, &mine, NULL, NULL));
    g_assert_true(mine);
    g_assert_true(history_look_up(scratch.db, ME, NORA, conversation, &found, NULL));
    g_assert_true(found.takes_part);
    g_assert_cmpint(found.written, ==, 1000);
    g_assert_false(forget(scratch.db, NORA));

    observe_received(scratch.db, "<m2@x>", NULL, EVIL, NORA, 3000);
    g_assert_true(forget(scratch.db, NORA)); /* only named in a text */
    observe_human(scratch.db, "<k2@x>", NULL, NORA, 4000);
    g_assert_cmpint(look_up(scratch.db, NORA).times, ==, 1);
    scratch_close(&scratch);
}

/* The human wrote to nora@example.org, ann@gmail.example and nora@bigbank.example; whom the
 * address could be taken for. */
static const struct {
    const char *address, *like;
} likes[] = {
    {NORA, NULL},
    {"bob@example.org", NULL},
    {"bob@gmail.example", NULL},
    {"n0ra@example.org", NORA},
    {"n.o.r.a@example.org", NORA},
    {"nora+x@example.org", NORA},
    {"nora@xn--exmple-4nf.org", NORA},
    {"nora@example.com", NULL},
    {"nora@example.or", NORA},
    {"nora@exmaple.org", NORA},
    {"bob@exmaple.org", "example.org"},
    {"bob@exampl.org", "example.org"},
    {"bob@mail.example.org", NULL},
    {"bob@example.org.evil.net", "example.org"},
    {"bob@pay.example-org.evil.net", "example.org"},
    {"ann@gmai1.example", "ann@gmail.example"},
    {"nora@big-bank.example", "nora@bigbank.example"},
    {"nora@bigbanks.example", "nora@bigbank.example"},
    {"nora@bigbanks.test", NULL},
};

static void
test_like(void)
{
    Scratch scratch;

    scratch_open(&scratch);
    observe_human(scratch.db, "<k1@x>", NULL, NORA, 1000);
    observe_human(scratch.db, "<k2@x>", NULL, "ann@gmail.example", 1000);
    observe_human(scratch.db, "<k3@x>", NULL, "nora@bigbank.example", 1000);
    for (gsize i = 0; i < G_N_ELEMENTS(likes); i++) {
        g_autofree char *like = find_like(scratch.db, ME, likes[i].address);
        g_autofree char *other = find_like(scratch.db, "second", likes[i].address);

        g_test_message("%s", likes[i].address);
        g_assert_cmpstr(like, ==, likes[i].like);
        g_assert_null(other); /* XB30 */
    }
    scratch_close(&scratch);
}

/* A domain is known as long as one of its people is; who writes there is taken for nobody. */
static void
test_like_forgotten(void)
{
    Scratch scratch;

    scratch_open(&scratch);
    observe_human(scratch.db, "<k1@x>", NULL, NORA, 1000);
    vouch(scratch.db, "bob@example.org", 1000);
    observe_human(scratch.db, "<k2@x>", NULL, "bob@exmaple.org", 1000);
    g_autofree char *known = find_like(scratch.db, ME, "eve@exmaple.org");
    g_assert_null(known);
    g_assert_true(forget(scratch.db, "bob@exmaple.org"));
    g_assert_true(forget(scratch.db, NORA));
    g_autofree char *one_left = find_like(scratch.db, ME, "eve@exmaple.org");
    g_assert_cmpstr(one_left, ==, "example.org");
    g_assert_true(forget(scratch.db, "bob@example.org"));
    g_autofree char *none_left = find_like(scratch.db, ME, "eve@exmaple.org");
    g_assert_null(none_left);
    scratch_close(&scratch);
}

static void
test_tell(void)
{
    Scratch scratch;

    scratch_open(&scratch);
    g_autoptr(HistoryStory) nobody = tell(scratch.db, NORA);
    g_assert_false(nobody->address.known);
    g_assert_cmpstr(nobody->voucher, ==, "");
    g_assert_cmpint(nobody->first.when, ==, 0);
    g_assert_cmpuint(nobody->letters->len, ==, 0);

    for (guint i = 0; i < 7; i++) {
        g_autofree char *id = g_strdup_printf("<k%u@x>", i);
        observe_human(scratch.db, id, NULL, NORA, 1000 + i);
    }
    observe_human(scratch.db, "<k8@x>", "<k3@x>", NORA, 1010);
    observe_received(scratch.db, "<m2@x>", NULL, LEE, NORA, 2000);
    observe_received(scratch.db, "<m3@x>", NULL, EVIL, NORA, 3000);
    observe_received(scratch.db, "<m1@x>", NULL, EVIL, NORA, 500); /* read later */
    observe_received(scratch.db, "<m4@x>", NULL, LEE, NORA, 2500);
    vouch(scratch.db, NORA, 4000);
    g_autoptr(HistoryStory) story = tell(scratch.db, NORA);
    g_assert_cmpint(story->address.times, ==, 8);
    g_assert_cmpstr(story->voucher, ==, "user root (0)");
    g_assert_cmpstr(story->first.message, ==, "<m1@x>");
    g_assert_cmpstr(story->first.sender, ==, EVIL);
    g_assert_cmpint(story->first.when, ==, 500);
    g_assert_cmpstr(story->last.message, ==, "<m3@x>");
    g_assert_cmpint(story->last.when, ==, 3000);
    g_assert_cmpuint(story->letters->len, ==, HISTORY_LETTERS);
    const HistoryLetter *newest = g_ptr_array_index(story->letters, 0);
    g_assert_cmpstr(newest->message, ==, "<k8@x>"); /* in the conversation of k3 */
    const HistoryLetter *next = g_ptr_array_index(story->letters, 1);
    g_assert_cmpstr(next->message, ==, "<k6@x>");
    g_assert_cmpint(next->when, ==, 1006);
    scratch_close(&scratch);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/history-people/vouch", test_vouch);
    g_test_add_func("/history-people/forget", test_forget);
    g_test_add_func("/history-people/like XB9 XD9", test_like);
    g_test_add_func("/history-people/like-forgotten", test_like_forgotten);
    g_test_add_func("/history-people/tell D19", test_tell);
    return g_test_run();
}
