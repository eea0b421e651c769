/* Every move that somebody should hear of leaves a notice, and no other does. */
#include "store/notice.h"

#include "tests/unit/items.h"
#include "tests/unit/scratch.h"

#define MOST 100

static Scratch scratch;

/* "ITEM STATE" of what an audience of the account "owner" is to be told, by commas. */
static char *
list(Audience audience)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) notices = notice_list(scratch.db, "owner", audience, MOST, &error);
    g_autoptr(GString) text = g_string_new(NULL);

    g_assert_no_error(error);
    for (guint i = 0; i < notices->len; i++) {
        const Notice *notice = notices->pdata[i];

        g_string_append_printf(text, "%s%s %s", i > 0 ? ", " : "", notice->item,
                               state_name(notice->state));
    }
    return g_strdup(text->str);
}

static void
assert_told(Audience audience, const char *expected)
{
    g_autofree char *found = list(audience);

    g_assert_cmpstr(found, ==, expected);
}

/* Refused: the agent has the answer. A draft: nobody but the agent (D15). */
static void
test_submitted(void)
{
    static const struct {
        const char *name;
        State state;
        const char *agent, *approver;
    } CASES[] = {
        {"held", STATE_HELD, "x held", "x held"},
        {"draft", STATE_DRAFT, "x draft", ""},
        {"delayed", STATE_DELAYED, "x delayed", ""},
        {"released", STATE_RELEASED, "x released", ""},
        {"refused", STATE_REFUSED, "", ""},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(CASES); i++) {
        g_test_message("%s", CASES[i].name);
        scratch_open(&scratch);
        add_plain(scratch.db, "x", CASES[i].state);
        assert_told(NOTICE_AGENT, CASES[i].agent);
        assert_told(NOTICE_APPROVER, CASES[i].approver);
        scratch_close(&scratch);
    }
}

static void
test_moved(void)
{
    scratch_open(&scratch);
    add_plain(scratch.db, "x", STATE_HELD);
    move(scratch.db, "x", STATE_HELD, STATE_APPROVED);
    move(scratch.db, "x", STATE_APPROVED, STATE_HELD); /* lapsed: waits for a person again */
    assert_told(NOTICE_AGENT, "x held");
    assert_told(NOTICE_APPROVER, "x held, x held");
    move(scratch.db, "x", STATE_HELD, STATE_APPROVED);
    move(scratch.db, "x", STATE_APPROVED, STATE_SENDING);
    move(scratch.db, "x", STATE_SENDING, STATE_COMMITTING);
    move(scratch.db, "x", STATE_COMMITTING, STATE_UNCERTAIN);
    assert_told(NOTICE_AGENT, "x held");
    assert_told(NOTICE_APPROVER, "x held, x held, x uncertain"); /* a person has to look */
    move(scratch.db, "x", STATE_UNCERTAIN, STATE_SENT);
    assert_told(NOTICE_AGENT, "x held, x sent");
    g_assert_cmpint(move(scratch.db, "x", STATE_HELD, STATE_REJECTED), ==, MOVE_REFUSED);
    assert_told(NOTICE_AGENT, "x held, x sent");
    scratch_close(&scratch);
}

static void
test_ends(void)
{
    static const State ENDS[] = {STATE_REJECTED, STATE_WITHDRAWN, STATE_EXPIRED,
                                 STATE_SUPERSEDED, STATE_BY_HUMAN};

    for (gsize i = 0; i < G_N_ELEMENTS(ENDS); i++) {
        g_autofree char *expected = g_strdup_printf("x draft, x %s", state_name(ENDS[i]));

        scratch_open(&scratch);
        add_plain(scratch.db, "x", STATE_DRAFT);
        move(scratch.db, "x", STATE_DRAFT, ENDS[i]);
        assert_told(NOTICE_AGENT, expected);
        assert_told(NOTICE_APPROVER, "");
        scratch_close(&scratch);
    }
}

static void
test_dropped(void)
{
    g_autoptr(GError) error = NULL;
    guint dropped = 9;

    scratch_open(&scratch);
    for (const char *id = "abc"; *id != '\0'; id++) {
        const char name[] = {*id, '\0'};

        add_plain(scratch.db, name, STATE_HELD);
    }
    g_autoptr(GPtrArray) notices =
        notice_list(scratch.db, "owner", NOTICE_AGENT, MOST, &error);
    g_assert_true(notice_drop(scratch.db, "owner", NOTICE_AGENT,
                              ((Notice *)notices->pdata[1])->number, &error));
    assert_told(NOTICE_AGENT, "a held, c held");
    assert_told(NOTICE_APPROVER, "a held, b held, c held");
    g_assert_true(notice_drop_up_to(scratch.db, "owner", NOTICE_APPROVER, G_MAXINT64, &error));
    assert_told(NOTICE_APPROVER, "");
    g_assert_true(notice_drop_old(scratch.db, "owner", NOTICE_AGENT, NOW, &dropped, &error));
    g_assert_cmpuint(dropped, ==, 0);
    g_assert_true(
        notice_drop_old(scratch.db, "owner", NOTICE_AGENT, NOW + 1, &dropped, &error));
    g_assert_cmpuint(dropped, ==, 2);
    assert_told(NOTICE_AGENT, "");
    scratch_close(&scratch);
}

static void
test_told(void)
{
    g_autoptr(GError) error = NULL;
    gint64 at = -1;

    scratch_open(&scratch);
    g_assert_true(told_load(scratch.db, "owner", "notify", &at, &error));
    g_assert_cmpint(at, ==, 0);
    g_assert_true(told_set(scratch.db, "owner", "notify", NOW, &error));
    g_assert_true(told_set(scratch.db, "owner", "notify", NOW + 1, &error));
    g_assert_true(told_load(scratch.db, "owner", "notify", &at, &error));
    g_assert_cmpint(at, ==, NOW + 1);
    g_assert_true(told_load(scratch.db, "other", "notify", &at, &error));
    g_assert_cmpint(at, ==, 0);
    scratch_close(&scratch);
}

/* Only what is automatic, from a time on and before another. */
static void
test_left(void)
{
    g_autoptr(GError) error = NULL;

    scratch_open(&scratch);
    for (gint64 i = 0; i < 4; i++) {
        g_autofree char *id = g_strdup_printf("%" G_GINT64_FORMAT, i);
        g_autoptr(Item) item = make_item(id, "owner", STATE_RELEASED);

        item->automatic = i != 2;
        item->tier = TIER_RELEASE;
        item->created = NOW + i;
        add(scratch.db, item);
    }
    g_autoptr(GPtrArray) left =
        notice_left(scratch.db, "owner", NOW + 1, NOW + 4, 0, MOST, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(left->len, ==, 2);
    g_assert_cmpstr(((Notice *)left->pdata[0])->item, ==, "1");
    g_assert_cmpstr(((Notice *)left->pdata[1])->item, ==, "3");
    scratch_close(&scratch);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/notice/submitted D15 XF21", test_submitted);
    g_test_add_func("/notice/moved A14", test_moved);
    g_test_add_func("/notice/ends A16", test_ends);
    g_test_add_func("/notice/dropped", test_dropped);
    g_test_add_func("/notice/told", test_told);
    g_test_add_func("/notice/left D28", test_left);
    return g_test_run();
}
