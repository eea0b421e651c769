/* States and what moves them: people, timers, and many at once (A14). */
#include "store/queue.h"

#include "store/writer.h"
#include "tests/unit/items.h"
#include "tests/unit/scratch.h"

/* Every legal move of the design, written once more. */
static const struct {
    const char *from;
    const char *to;
} legal[] = {
    {"delayed",
     "approved sending draft vetoed held withdrawn superseded uncertain sent-by-human"},
    {"draft", "approved rejected withdrawn expired superseded uncertain sent-by-human"},
    {"held", "approved rejected withdrawn expired superseded uncertain sent-by-human"},
    {"approved", "sending held vetoed uncertain sent-by-human"},
    {"sending", "committing approved delayed held failed uncertain"},
    {"committing", "sent failed uncertain"},
    {"uncertain", "sent failed"},
};

static gboolean
is_legal(State from, State to)
{
    for (gsize i = 0; i < G_N_ELEMENTS(legal); i++) {
        g_auto(GStrv) names = g_strsplit(legal[i].to, " ", -1);

        if (g_str_equal(legal[i].from, state_name(from)) &&
            g_strv_contains((const char *const *)names, state_name(to)))
            return TRUE;
    }
    return FALSE;
}

static void
test_names(void)
{
    State state = STATE_SENT;

    g_assert_cmpint(STATE_HELD, ==, 0);
    for (State i = 0; i < STATE_COUNT; i++) {
        g_assert_true(state_find(state_name(i), &state));
        g_assert_cmpint(state, ==, i);
    }
    g_assert_false(state_find("approve", &state));
    g_assert_false(state_find("", &state));
    g_assert_false(state_find(NULL, &state));
}

/* All pairs; and an end is where no move begins. */
static void
test_legal_moves(void)
{
    for (State from = 0; from < STATE_COUNT; from++) {
        gboolean any = FALSE;

        for (State to = 0; to < STATE_COUNT; to++) {
            g_test_message("%s to %s", state_name(from), state_name(to));
            g_assert_cmpint(state_may_become(from, to), ==, is_legal(from, to));
            any = any || is_legal(from, to);
        }
        g_assert_cmpint(state_is_waiting(from), ==, any);
    }
}

/* Each legal move, once; the second time the item is not there any more. */
static void
check_move(Db *db, State from, State to)
{
    g_autofree char *id = g_strdup_printf("%s-%s", state_name(from), state_name(to));
    g_autoptr(Item) item = NULL;
    guint before = 0;

    add_plain(db, id, from);
    before = count_state(db, "owner", to);
    g_assert_cmpint(move(db, id, from, to), ==, MOVE_DONE);
    g_assert_cmpuint(count_state(db, "owner", to), ==, before + 1);
    g_assert_cmpint(move(db, id, from, to), ==, MOVE_REFUSED);
    item = load(db, id);
    g_assert_cmpint(item->state, ==, to);
    g_assert_cmpstr(item->why, ==, "because");
}

static void
test_moves(void)
{
    static const Sql moves = {"moves", "SELECT COUNT(*) FROM move"};
    static const Sql entries = {"entries", "SELECT COUNT(*) FROM audit WHERE kind = 'moved'"};
    gint64 done = 0;
    Scratch scratch;

    scratch_open(&scratch);
    for (State from = 0; from < STATE_COUNT; from++) {
        for (State to = 0; to < STATE_COUNT; to++) {
            if (is_legal(from, to)) {
                check_move(scratch.db, from, to);
                done++;
            }
        }
    }
    g_assert_cmpint(done, ==, 39);
    g_assert_cmpint(count(scratch.db, &moves), ==, done);
    g_assert_cmpint(count(scratch.db, &entries), ==, done);
    g_assert_cmpint(move(scratch.db, "nobody", STATE_HELD, STATE_APPROVED), ==, MOVE_REFUSED);
    g_assert_cmpint(count(scratch.db, &moves), ==, done);
    scratch_close(&scratch);
}

static void
test_illegal_move(void)
{
    if (g_test_subprocess()) {
        queue_move(NULL, "id", STATE_EXPIRED, STATE_SENDING, "x", "y", NOW, NULL, NULL);
        return;
    }
    g_test_trap_subprocess(NULL, 0, 0);
    g_test_trap_assert_failed();
    g_test_trap_assert_stderr("*state_may_become*");
}

static void
test_history_of_moves(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GVariant) moves = NULL;
    g_autofree char *text = NULL;
    Scratch scratch;

    scratch_open(&scratch);
    add_plain(scratch.db, "i1", STATE_HELD);
    move(scratch.db, "i1", STATE_HELD, STATE_APPROVED);
    scratch_reopen(&scratch);
    move(scratch.db, "i1", STATE_APPROVED, STATE_VETOED);
    moves = g_variant_ref_sink(queue_moves(scratch.db, "i1", &error));
    g_assert_no_error(error);
    text = g_variant_print(moves, FALSE);
    g_assert_cmpstr(text, ==,
                    "[{'when': <int64 1001>, 'from': <'held'>, 'to': <'approved'>, "
                    "'who': <'user alice (1001)'>, 'why': <'because'>}, "
                    "{'when': <int64 1001>, 'from': <'approved'>, 'to': <'vetoed'>, "
                    "'who': <'user alice (1001)'>, 'why': <'because'>}]");
    g_clear_pointer(&moves, g_variant_unref);
    moves = g_variant_ref_sink(queue_moves(scratch.db, "nobody", &error));
    g_assert_cmpuint(g_variant_n_children(moves), ==, 0);
    scratch_close(&scratch);
}

static void
test_timers(void)
{
    static const struct {
        const char *name;
        State state;
        gint64 due, expires, retry;
        gint64 when; /* expected */
    } rows[] = {
        {"delayed", STATE_DELAYED, 2000, 9000, 0, 2000},
        {"delayed, failed once", STATE_DELAYED, 2000, 9000, 2500, 2500},
        {"delayed, retry before due", STATE_DELAYED, 2000, 0, 1500, 2000},
        {"approved", STATE_APPROVED, 0, 9000, 0, 0},
        {"approved, failed once", STATE_APPROVED, 0, 9000, 2500, 2500},
        {"draft", STATE_DRAFT, 2000, 9000, 0, 9000},
        {"held", STATE_HELD, 0, 9000, 0, 9000},
        {"held for ever", STATE_HELD, 2000, 0, 2500, G_MAXINT64},
        {"sending", STATE_SENDING, 2000, 9000, 2500, G_MAXINT64},
        {"committing", STATE_COMMITTING, 2000, 9000, 2500, G_MAXINT64},
        {"uncertain: no timer", STATE_UNCERTAIN, 2000, 9000, 2500, G_MAXINT64},
        {"sent", STATE_SENT, 2000, 9000, 2500, G_MAXINT64},
        {"released", STATE_RELEASED, 2000, 9000, 0, G_MAXINT64},
    };
    g_autoptr(GError) error = NULL;

    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(Item) item = make_item("i1", "owner", rows[i].state);
        gint64 when = -1;
        Scratch scratch;

        g_test_message("%s", rows[i].name);
        scratch_open(&scratch);
        item->due = rows[i].due;
        item->expires = rows[i].expires;
        item->retry = rows[i].retry;
        add(scratch.db, item);
        g_assert_true(queue_next_due(scratch.db, &when, &error));
        g_assert_cmpint(when, ==, rows[i].when);
        if (when != G_MAXINT64) {
            assert_ids(queue_due(scratch.db, when - 1, 10, NULL, NULL, &error), "");
            assert_ids(queue_due(scratch.db, when, 10, NULL, NULL, &error), "i1");
        } else
            assert_ids(queue_due(scratch.db, G_MAXINT64, 10, NULL, NULL, &error), "");
        scratch_close(&scratch);
    }
}

/* The timer follows the moves and the attempts. */
static void
test_timer_follows(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(Item) item = make_item("i1", "owner", STATE_DELAYED);
    g_autoptr(Item) loaded = NULL;
    Scratch scratch;

    scratch_open(&scratch);
    item->due = 2000;
    item->expires = 9000;
    add(scratch.db, item);
    move(scratch.db, "i1", STATE_DELAYED, STATE_SENDING);
    assert_ids(queue_due(scratch.db, 99999, 10, NULL, NULL, &error), "");
    queue_record_attempt(scratch.db, "i1", "451 4.3.0 later", 2600, &error);
    g_assert_no_error(error);
    queue_set_replies(scratch.db, "i1",
                      g_variant_new_parsed("[(uint32 250, 'ok'), (451, 'x')]"), &error);
    g_assert_no_error(error);
    move(scratch.db, "i1", STATE_SENDING, STATE_DELAYED);
    assert_ids(queue_due(scratch.db, 2599, 10, NULL, NULL, &error), "");
    assert_ids(queue_due(scratch.db, 2600, 10, NULL, NULL, &error), "i1");
    move(scratch.db, "i1", STATE_DELAYED, STATE_DRAFT);
    assert_ids(queue_due(scratch.db, 8999, 10, NULL, NULL, &error), "");
    assert_ids(queue_due(scratch.db, 9000, 10, NULL, NULL, &error), "i1");
    loaded = load(scratch.db, "i1");
    g_assert_cmpstr(loaded->answer, ==, "451 4.3.0 later");
    g_assert_cmpint(loaded->retry, ==, 2600);
    g_assert_cmpuint(loaded->attempts, ==, 1);
    const char *reply;
    g_assert_cmpuint(item_reply(loaded, 1, &reply), ==, 451);
    g_assert_cmpstr(reply, ==, "x");
    g_assert_cmpuint(item_reply(loaded, 2, &reply), ==, 0);
    g_assert_cmpstr(reply, ==, "");
    g_assert_cmpint(loaded->due, ==, 2000);
    scratch_close(&scratch);
}

/* Many decide at once on one delayed item: some veto, some send (C14, XC6, XC19). */
typedef struct {
    Writer *writer;
    Db *db;
    State to;
    gint *won;
} Rival;

static gboolean
decide(gpointer data, GError **error)
{
    Rival *rival = data;
    Move result = MOVE_REFUSED;
    gboolean done = queue_move(rival->db, "i1", STATE_DELAYED, rival->to, "rival", "race", NOW,
                               &result, error);

    if (result == MOVE_DONE)
        g_atomic_int_inc(&rival->won[rival->to]);
    return done;
}

static gpointer
run_rival(gpointer data)
{
    Rival *rival = data;
    g_autoptr(GError) error = NULL;

    writer_run(rival->writer, decide, rival, &error);
    g_assert_no_error(error);
    return NULL;
}

static void
test_race(void)
{
    GThread *threads[50];
    Rival rivals[50];
    gint won[STATE_COUNT] = {0};
    g_autoptr(Item) item = NULL;
    Writer *writer = NULL;
    Scratch scratch;

    scratch_open(&scratch);
    add_plain(scratch.db, "i1", STATE_DELAYED);
    writer = writer_start(scratch.db);
    for (guint i = 0; i < G_N_ELEMENTS(threads); i++) {
        rivals[i] =
            (Rival){writer, scratch.db, i % 2 == 0 ? STATE_VETOED : STATE_SENDING, won};
        threads[i] = g_thread_new("rival", run_rival, &rivals[i]);
    }
    for (guint i = 0; i < G_N_ELEMENTS(threads); i++)
        g_thread_join(threads[i]);
    writer_stop(writer);
    scratch.db = NULL;
    scratch_reopen(&scratch);
    item = load(scratch.db, "i1");
    g_assert_cmpint(won[STATE_VETOED] + won[STATE_SENDING], ==, 1);
    g_assert_cmpint(won[item->state], ==, 1);
    scratch_close(&scratch);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/queue/names", test_names);
    g_test_add_func("/queue/legal-moves", test_legal_moves);
    g_test_add_func("/queue/moves/A14", test_moves);
    g_test_add_func("/queue/illegal-move", test_illegal_move);
    g_test_add_func("/queue/history-of-moves", test_history_of_moves);
    g_test_add_func("/queue/timers", test_timers);
    g_test_add_func("/queue/timer-follows", test_timer_follows);
    g_test_add_func("/queue/race/XC19", test_race);
    return g_test_run();
}
