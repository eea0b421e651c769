/* What a person, a submission or a limit asks the queue, and what it answers. */
#include "store/queue.h"

#include "tests/unit/items.h"
#include "tests/unit/scratch.h"

/* A repeated submission finds its item while that waits, in its account (XF22, XC23). */
static void
test_find(void)
{
    g_autoptr(GError) error = NULL;

    for (State state = 0; state < STATE_COUNT; state++) {
        g_autoptr(Item) item = make_item("i1", "owner", state);
        g_autofree char *by_key = NULL;
        g_autofree char *by_message = NULL;
        const char *expected = state_is_waiting(state) ? "i1" : NULL;
        Scratch scratch;

        scratch_open(&scratch);
        set(&item->key, "key");
        set(&item->message_id, "<a@x>");
        add(scratch.db, item);
        queue_find_key(scratch.db, "owner", "key", &by_key, &error);
        g_assert_no_error(error);
        queue_find_message(scratch.db, "owner", "<a@x>", &by_message, &error);
        g_assert_no_error(error);
        g_assert_cmpstr(by_key, ==, expected);
        g_assert_cmpstr(by_message, ==, expected);
        scratch_close(&scratch);
    }
}

static void
test_find_nothing(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(Item) item = make_item("i1", "owner", STATE_HELD);
    char *id = NULL;
    Scratch scratch;

    scratch_open(&scratch);
    set(&item->key, "key");
    add(scratch.db, item);
    g_assert_true(queue_find_key(scratch.db, "second", "key", &id, &error));
    g_assert_null(id);
    g_assert_true(queue_find_key(scratch.db, "owner", "other", &id, &error));
    g_assert_null(id);
    g_assert_true(queue_find_message(scratch.db, "owner", "", &id, &error));
    g_assert_null(id);
    g_assert_true(queue_find_message(scratch.db, "owner", NULL, &id, &error));
    g_assert_null(id);
    scratch_close(&scratch);
}

/* The newest one, whatever became of it (unlike the item that a submission supersedes). */
static void
test_find_latest(void)
{
    static const struct {
        const char *id, *account, *message_id;
        State state;
    } items[] = {{"i1", "owner", "<a@x>", STATE_HELD},
                 {"i2", "owner", "<a@x>", STATE_SENT},
                 {"i3", "second", "<a@x>", STATE_HELD},
                 {"i4", "owner", "", STATE_HELD}};
    g_autoptr(GError) error = NULL;
    g_autofree char *found = NULL;
    g_autofree char *none = NULL;
    Scratch scratch;

    scratch_open(&scratch);
    for (gsize i = 0; i < G_N_ELEMENTS(items); i++) {
        g_autoptr(Item) item = make_item(items[i].id, items[i].account, items[i].state);

        set(&item->message_id, items[i].message_id);
        add(scratch.db, item);
    }
    g_assert_true(queue_find_latest(scratch.db, "owner", "<a@x>", &found, &error));
    g_assert_cmpstr(found, ==, "i2");
    g_assert_true(queue_find_latest(scratch.db, "owner", "<b@x>", &none, &error));
    g_assert_null(none);
    scratch_close(&scratch);
}

static void
test_conversation(void)
{
    static const struct {
        const char *id, *account;
        State state;
        gint64 conversation;
    } items[] = {{"i1", "owner", STATE_SENT, 7},
                 {"i2", "owner", STATE_HELD, 7},
                 {"i3", "owner", STATE_SENT, 7},
                 {"i4", "owner", STATE_HELD, 8},
                 {"i5", "second", STATE_HELD, 7}};
    g_autoptr(GError) error = NULL;
    Scratch scratch;

    scratch_open(&scratch);
    for (gsize i = 0; i < G_N_ELEMENTS(items); i++) {
        g_autoptr(Item) item = make_item(items[i].id, items[i].account, items[i].state);

        item->conversation = items[i].conversation;
        add(scratch.db, item);
    }
    assert_ids(queue_conversation(scratch.db, "owner", 7, 10, &error), "i2 i3 i1");
    assert_ids(queue_conversation(scratch.db, "owner", 7, 2, &error), "i2 i3");
    assert_ids(queue_conversation(scratch.db, "owner", 9, 10, &error), "");
    scratch_close(&scratch);
}

/* What the world stops while it is delayed: of the account, there, and not leaving already. */
static void
test_delayed(void)
{
    static const struct {
        const char *id, *account;
        State state;
        gint64 conversation;
        const char *recipient;
    } items[] = {{"i1", "owner", STATE_DELAYED, 7, "nora@example.org"},
                 {"i2", "owner", STATE_SENDING, 7, "nora@example.org"},
                 {"i3", "owner", STATE_DELAYED, 8, "nora@example.org"},
                 {"i4", "second", STATE_DELAYED, 7, "nora@example.org"},
                 {"i5", "owner", STATE_DELAYED, 7, "lee@example.net"},
                 {"i6", "owner", STATE_DRAFT, 7, "nora@example.org"}};
    g_autoptr(GError) error = NULL;
    Scratch scratch;

    scratch_open(&scratch);
    for (gsize i = 0; i < G_N_ELEMENTS(items); i++) {
        g_autoptr(Item) item = make_item(items[i].id, items[i].account, items[i].state);

        item->conversation = items[i].conversation;
        add_recipient(item, items[i].recipient);
        add(scratch.db, item);
    }
    assert_ids(queue_delayed_in(scratch.db, "owner", 7, &error), "i1 i5");
    assert_ids(queue_delayed_in(scratch.db, "owner", 9, &error), "");
    assert_ids(queue_delayed_to(scratch.db, "owner", "nora@example.org", &error), "i1 i3");
    assert_ids(queue_delayed_to(scratch.db, "owner", "tom@example.net", &error), "");
    assert_ids(queue_delayed_after(scratch.db, "", 2, &error), "i1 i3");
    assert_ids(queue_delayed_after(scratch.db, "i3", 9, &error), "i4 i5");
    assert_ids(queue_delayed_after(scratch.db, "i5", 9, &error), "");
    scratch_close(&scratch);
}

static void
test_lists(void)
{
    static const char *const owner[] = {"owner", NULL};
    static const char *const both[] = {"second", "owner", NULL};
    static const char *const nobody[] = {NULL};
    static const struct {
        const char *id;
        const char *account;
        State state;
    } items[] = {{"z", "owner", STATE_HELD},  {"y", "second", STATE_DRAFT},
                 {"x", "owner", STATE_SENT},  {"w", "third", STATE_SENDING},
                 {"v", "second", STATE_HELD}, {"u", "owner", STATE_SENDING}};
    g_autoptr(GError) error = NULL;
    Scratch scratch;

    scratch_open(&scratch);
    for (gsize i = 0; i < G_N_ELEMENTS(items); i++) {
        g_autoptr(Item) item = make_item(items[i].id, items[i].account, items[i].state);

        add(scratch.db, item);
    }
    assert_ids(queue_list(scratch.db, NULL, 10, &error), "z y x w v u");
    assert_ids(queue_list(scratch.db, NULL, 2, &error), "v u");
    assert_ids(queue_list(scratch.db, owner, 10, &error), "z x u");
    assert_ids(queue_list(scratch.db, both, 10, &error), "z y x v u");
    assert_ids(queue_list(scratch.db, both, 3, &error), "x v u");
    assert_ids(queue_list(scratch.db, nobody, 10, &error), "");
    assert_ids(queue_in_state(scratch.db, STATE_SENDING, &error), "w u");
    assert_ids(queue_in_state(scratch.db, STATE_UNCERTAIN, &error), "");
    g_assert_cmpuint(count_state(scratch.db, "owner", STATE_HELD), ==, 1);
    g_assert_cmpuint(count_state(scratch.db, "owner", STATE_DRAFT), ==, 0);
    g_assert_cmpuint(count_state(scratch.db, "nobody", STATE_HELD), ==, 0);
    scratch_close(&scratch);
}

/* What waits for a person comes first, whatever else an agent piles up; a failure is seen. */
static void
test_agenda(void)
{
    static const char *const owner[] = {"owner", NULL};
    static const char *const both[] = {"second", "owner", NULL};
    static const char *const nobody[] = {NULL};
    static const struct {
        const char *id;
        const char *account;
        State state;
        gint64 due;
    } items[] = {{"a", "owner", STATE_DRAFT, 0},     {"b", "owner", STATE_DELAYED, 900},
                 {"c", "owner", STATE_DELAYED, 800}, {"d", "owner", STATE_HELD, 0},
                 {"e", "second", STATE_HELD, 950},   {"f", "owner", STATE_UNCERTAIN, 0},
                 {"g", "owner", STATE_SENT, 0},      {"h", "owner", STATE_APPROVED, 0},
                 {"i", "owner", STATE_COMMITTING, 0}};
    g_autoptr(GError) error = NULL;
    Scratch scratch;
    Move done;

    scratch_open(&scratch);
    for (gsize i = 0; i < G_N_ELEMENTS(items); i++) {
        g_autoptr(Item) item = make_item(items[i].id, items[i].account, items[i].state);

        item->due = items[i].due;
        add(scratch.db, item);
    }
    g_assert_true(queue_move(scratch.db, "i", STATE_COMMITTING, STATE_FAILED, "relay", "no",
                             1000, &done, &error));
    assert_ids(queue_agenda(scratch.db, owner, 1000, 10, &error), "d h c b a f i");
    assert_ids(queue_agenda(scratch.db, owner, 1001, 10, &error), "d h c b a f");
    assert_ids(queue_agenda(scratch.db, both, 1000, 3, &error), "d e h");
    assert_ids(queue_agenda(scratch.db, nobody, 0, 10, &error), "");
    scratch_close(&scratch);
}

static guint
count_automatic(Db *db, gint64 since, gint64 conversation, const char *recipient,
                const char *except)
{
    g_autoptr(GError) error = NULL;
    guint number = 999;

    queue_count_automatic(db, "owner", since, conversation, recipient, except, &number,
                          &error);
    g_assert_no_error(error);
    return number;
}

/* recipient: of the item that asks, NULL for none. */
static guint
count_reached(Db *db, gint64 since, const char *recipient)
{
    g_autoptr(Item) item = make_item("asks", "owner", STATE_HELD);
    g_autoptr(GError) error = NULL;
    guint number = 999;

    if (recipient != NULL)
        add_recipient(item, recipient);
    queue_count_reached(db, item, since, &number, &error);
    g_assert_no_error(error);
    return number;
}

static void
add_automatic(Db *db, const char *id, State state, gint64 created, gint64 conversation,
              const char *recipient)
{
    g_autoptr(Item) item = make_item(id, "owner", state);

    item->automatic = TRUE;
    item->created = created;
    item->conversation = conversation;
    add_recipient(item, recipient);
    add(db, item);
}

/* What left or will leave by itself counts, whatever else it was meant to be (XB14, XB15). */
static void
test_automatic_states(void)
{
    static const gboolean counts[STATE_COUNT] = {
        [STATE_RELEASED] = TRUE,   [STATE_DELAYED] = TRUE,   [STATE_SENDING] = TRUE,
        [STATE_COMMITTING] = TRUE, [STATE_UNCERTAIN] = TRUE, [STATE_SENT] = TRUE};
    for (State state = 0; state < STATE_COUNT; state++) {
        Scratch scratch;

        g_test_message("%s", state_name(state));
        scratch_open(&scratch);
        add_automatic(scratch.db, "i1", state, NOW, 7, "nora@example.org");
        add_plain(scratch.db, "i2", state);
        g_assert_cmpuint(count_automatic(scratch.db, 0, 0, NULL, NULL), ==, counts[state]);
        g_assert_cmpuint(count_automatic(scratch.db, 0, 7, NULL, NULL), ==, counts[state]);
        g_assert_cmpuint(count_reached(scratch.db, 0, NULL), ==, counts[state]);
        scratch_close(&scratch);
    }
}

static void
test_automatic_windows(void)
{
    static const struct {
        const char *name;
        gint64 since, conversation;
        const char *recipient, *except;
        guint expected;
    } rows[] = {
        {"all", 0, 0, NULL, NULL, 4},
        {"since the second", 1001, 0, NULL, NULL, 3},
        {"since later", 1004, 0, NULL, NULL, 0},
        {"a conversation", 0, 7, NULL, NULL, 2},
        {"a conversation since", 1001, 7, NULL, NULL, 1},
        {"another conversation", 0, 99, NULL, NULL, 0},
        {"a recipient", 0, 0, "nora@example.org", NULL, 3},
        {"a recipient since", 1003, 0, "nora@example.org", NULL, 1},
        {"nobody", 0, 0, "nobody@example.org", NULL, 0},
        {"except itself", 0, 0, NULL, "i2", 3},
        {"except itself in a conversation", 0, 7, NULL, "i2", 1},
    };
    Scratch scratch;

    scratch_open(&scratch);
    add_automatic(scratch.db, "i1", STATE_SENT, 1000, 7, "nora@example.org");
    add_automatic(scratch.db, "i2", STATE_DELAYED, 1001, 7, "lee@example.net");
    add_automatic(scratch.db, "i3", STATE_RELEASED, 1002, 8, "nora@example.org");
    add_automatic(scratch.db, "i4", STATE_RELEASED, 1003, 0, "nora@example.org");
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_test_message("%s", rows[i].name);
        g_assert_cmpuint(count_automatic(scratch.db, rows[i].since, rows[i].conversation,
                                         rows[i].recipient, rows[i].except),
                         ==, rows[i].expected);
    }
    scratch_close(&scratch);
}

/* A delayed item that a person takes over is automatic no more, not even when it is sent. */
static void
test_automatic_approved(void)
{
    g_autoptr(Item) item = NULL;
    Scratch scratch;

    scratch_open(&scratch);
    add_automatic(scratch.db, "i1", STATE_DELAYED, NOW, 7, "nora@example.org");
    add_automatic(scratch.db, "i2", STATE_SENT, NOW, 7, "nora@example.org");
    add_automatic(scratch.db, "i3", STATE_SENT, NOW, 7, "lee@example.net");
    g_assert_cmpuint(count_automatic(scratch.db, 0, 0, NULL, NULL), ==, 3);
    move(scratch.db, "i1", STATE_DELAYED, STATE_DRAFT);
    g_assert_cmpuint(count_automatic(scratch.db, 0, 0, NULL, NULL), ==, 2);
    move(scratch.db, "i1", STATE_DRAFT, STATE_APPROVED);
    move(scratch.db, "i1", STATE_APPROVED, STATE_SENDING);
    g_assert_cmpuint(count_automatic(scratch.db, 0, 0, NULL, NULL), ==, 2);
    item = load(scratch.db, "i1");
    g_assert_false(item->automatic);
    g_assert_cmpuint(count_reached(scratch.db, NOW, NULL), ==, 2);
    g_assert_cmpuint(count_reached(scratch.db, NOW, "nora@example.org"), ==, 2);
    g_assert_cmpuint(count_reached(scratch.db, NOW, "new@example.org"), ==, 3);
    g_assert_cmpuint(count_reached(scratch.db, NOW + 1, "nora@example.org"), ==, 1);
    scratch_close(&scratch);
}

static void
test_pending(void)
{
    static const struct {
        const char *name;
        gint64 conversation;
        const char *account, *except;
        gboolean pending;
    } rows[] = {
        {"a new item", 7, "owner", NULL, TRUE},
        {"the first itself", 7, "owner", "i1", FALSE},
        {"the second waits for the first", 7, "owner", "i2", TRUE},
        {"finished ones do not count", 8, "owner", NULL, FALSE},
        {"no conversation", 0, "owner", NULL, FALSE},
        {"another account", 7, "second", NULL, FALSE},
    };
    static const struct {
        const char *id;
        State state;
        gint64 conversation;
    } items[] = {{"i1", STATE_HELD, 7},
                 {"i2", STATE_DRAFT, 7},
                 {"i3", STATE_SENT, 8},
                 {"i4", STATE_HELD, 0}};
    g_autoptr(GError) error = NULL;
    Scratch scratch;

    scratch_open(&scratch);
    for (gsize i = 0; i < G_N_ELEMENTS(items); i++) {
        g_autoptr(Item) item = make_item(items[i].id, "owner", items[i].state);

        item->conversation = items[i].conversation;
        add(scratch.db, item);
    }
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        gboolean pending = !rows[i].pending;

        g_test_message("%s", rows[i].name);
        g_assert_true(queue_has_pending(scratch.db, rows[i].account, rows[i].conversation,
                                        rows[i].except, &pending, &error));
        g_assert_cmpint(pending, ==, rows[i].pending);
    }
    scratch_close(&scratch);
}

/* Pages of an account's items, the same time for several or not. */
static void
test_since(void)
{
    static const struct {
        const char *id, *account;
        gint64 created;
    } items[] = {{"a", "owner", 10}, {"b", "owner", 20}, {"x", "second", 20},
                 {"c", "owner", 20}, {"d", "owner", 15}, {"e", "owner", 30}};
    g_autoptr(GError) error = NULL;
    Scratch scratch;

    scratch_open(&scratch);
    for (gsize i = 0; i < G_N_ELEMENTS(items); i++) {
        g_autoptr(Item) item = make_item(items[i].id, items[i].account, STATE_HELD);

        item->created = items[i].created;
        add(scratch.db, item);
    }
    assert_ids(queue_since(scratch.db, "owner", 15, "", 2, &error), "d b");
    assert_ids(queue_since(scratch.db, "owner", 15, "b", 2, &error), "c e");
    assert_ids(queue_since(scratch.db, "owner", 15, "e", 2, &error), "");
    assert_ids(queue_since(scratch.db, "owner", 0, "", 1, &error), "a");
    assert_ids(queue_since(scratch.db, "nobody", 0, "", 9, &error), "");
    scratch_close(&scratch);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/look/find/XF22", test_find);
    g_test_add_func("/look/find-nothing", test_find_nothing);
    g_test_add_func("/look/find-latest", test_find_latest);
    g_test_add_func("/look/conversation/E39", test_conversation);
    g_test_add_func("/look/delayed/A34", test_delayed);
    g_test_add_func("/look/lists", test_lists);
    g_test_add_func("/queue/agenda", test_agenda);
    g_test_add_func("/look/automatic-states/XB14", test_automatic_states);
    g_test_add_func("/look/automatic-windows/XB15", test_automatic_windows);
    g_test_add_func("/look/automatic-approved", test_automatic_approved);
    g_test_add_func("/look/pending", test_pending);
    g_test_add_func("/look/since", test_since);
    return g_test_run();
}
