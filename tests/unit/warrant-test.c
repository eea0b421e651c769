/* What is done to the history by hand counts for nothing, and shows (XE13, XE15). */
#include "tests/unit/observe.h"

/* Each is done to a history in which the human wrote to Nora twice and to Lee once. */
static const struct {
    const char *name;
    Sql sql;
    const char *stranger; /* who is none of the human's correspondents then; NULL: nobody */
    guint faults;
} rows[] = {
    {"nothing", {"none", "DELETE FROM audit WHERE 0"}, EVIL, 0},
    {"a correspondent made",
     {"made",
      "INSERT INTO correspondent SELECT account, 'mallory@example.net', skeleton, times,"
      " first_written, last_written, event, vouched, voucher, seal FROM correspondent"
      " WHERE address = 'lee@example.net'"},
     EVIL,
     1},
    {"one renamed",
     {"renamed", "UPDATE correspondent SET address = 'mallory@example.net'"
                 " WHERE address = 'lee@example.net'"},
     EVIL,
     2},
    {"one vouched for",
     {"vouched", "UPDATE correspondent SET vouched = 5000, voucher = 'root'"
                 " WHERE address = 'lee@example.net'"},
     LEE,
     2},
    {"a letter made later",
     {"later", "UPDATE correspondent SET last_written = 9000"},
     NORA,
     3},
    {"without its seal", {"unsealed", "UPDATE correspondent SET seal = x'00'"}, NORA, 3},
    {"one deleted",
     {"deleted", "DELETE FROM correspondent WHERE address = 'lee@example.net'"},
     LEE,
     1},
    {"all deleted", {"emptied", "DELETE FROM correspondent"}, NORA, 1},
    {"a conversation made mine",
     {"mine", "INSERT INTO participant VALUES ('owner', 77, 'lee@example.net', '', 1, x'00')"},
     NULL,
     1},
    {"somebody made part of a conversation",
     {"part", "INSERT INTO participant SELECT account, conversation, 'mallory@example.net',"
              " message, written, seal FROM participant WHERE address = 'lee@example.net'"},
     NULL,
     1},
    {"a participant deleted",
     {"left", "DELETE FROM participant WHERE address = 'lee@example.net'"},
     NULL,
     1},
    {"the record of it cut", {"cut", "DELETE FROM audit WHERE seq = 3"}, NULL, 1},
};

static guint
count_faults(Db *db)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) faults = NULL;

    warrant_check(db, ME, &faults, &error);
    g_assert_no_error(error);
    for (guint i = 0; i < faults->len; i++)
        g_test_message("%s", (const char *)g_ptr_array_index(faults, i));
    return faults->len;
}

static void
run(Db *db, const Sql *sql)
{
    g_autoptr(GError) error = NULL;

    db_execute(db, sql, &error);
    g_assert_no_error(error);
}

/* Taken as it is, there is nothing wrong with it any more, and nothing is won by it. */
static void
accept(Db *db, guint faults)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) found = NULL;
    g_autoptr(GPtrArray) again = NULL;

    g_assert_true(warrant_accept(db, ME, "user 0", 9000, &found, &error));
    g_assert_cmpuint(found->len, ==, faults);
    g_assert_cmpuint(count_faults(db), ==, 0);
    g_assert_true(warrant_accept(db, ME, "user 0", 9000, &again, &error));
    g_assert_cmpuint(again->len, ==, 0);
    observe_human(db, "<k9@x>", NULL, NORA, 9500);
    g_assert_cmpuint(count_faults(db), ==, 0);
}

static void
test_by_hand(void)
{
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        Scratch scratch;

        g_test_message("%s", rows[i].name);
        scratch_open(&scratch);
        observe_human(scratch.db, "<k1@x>", NULL, NORA, 1000);
        observe_human(scratch.db, "<k2@x>", "<k1@x>", NORA, 2000);
        observe_human(scratch.db, "<k3@x>", NULL, LEE, 3000);
        g_assert_cmpuint(count_faults(scratch.db), ==, 0);
        g_assert_true(look_up(scratch.db, NORA).known);
        g_assert_true(look_up(scratch.db, LEE).known);
        run(scratch.db, &rows[i].sql);
        if (rows[i].stranger != NULL)
            g_assert_false(look_up(scratch.db, rows[i].stranger).known);
        g_assert_cmpuint(count_faults(scratch.db), ==, rows[i].faults);
        accept(scratch.db, rows[i].faults);
        if (rows[i].stranger != NULL && !g_str_equal(rows[i].stranger, NORA))
            g_assert_false(look_up(scratch.db, rows[i].stranger).known);
        scratch_close(&scratch);
    }
}

static gboolean
takes_part(Db *db, const char *id, const char *address)
{
    g_autoptr(GError) error = NULL;
    const char *const ids[] = {id, NULL};
    gint64 conversation = 0;
    gboolean mine = FALSE;
    HistoryAddress found = {0};

    history_conversation(db, ME, ids, &conversation, &mine, NULL, &error);
    g_assert_no_error(error);
    if (mine)
        history_look_up(db, ME, address, conversation, &found, &error);
    g_assert_no_error(error);
    return found.takes_part;
}

/* A seal is of one row: it makes nobody else part of a conversation, nor a stranger's
 * conversation the human's. */
static void
test_seals_moved(void)
{
    static const Sql join = {
        "join", "INSERT INTO participant SELECT account, conversation,"
                " 'mallory@example.net', message, written, seal FROM participant"};
    static const Sql all = {"all", "UPDATE participant SET conversation = (SELECT"
                                   " conversation FROM message WHERE id = '<m1@x>')"};
    Scratch scratch;

    scratch_open(&scratch);
    observe_human(scratch.db, "<k1@x>", NULL, NORA, 1000);
    observe_received(scratch.db, "<m1@x>", NULL, EVIL, NULL, 1000);
    g_assert_true(takes_part(scratch.db, "<k1@x>", NORA));
    run(scratch.db, &join);
    g_assert_false(takes_part(scratch.db, "<k1@x>", EVIL));
    run(scratch.db, &all);
    g_assert_false(takes_part(scratch.db, "<m1@x>", NORA));
    scratch_close(&scratch);
}

/* Vouched for, written to, forgotten: the sum follows. What was forgotten and is put back as
 * it was has a good seal, and shows all the same. */
static void
test_forgotten(void)
{
    static const Sql keep = {"keep", "CREATE TABLE old AS SELECT * FROM correspondent"};
    static const Sql put = {"put", "INSERT INTO correspondent SELECT * FROM old"};
    g_autoptr(GError) error = NULL;
    gboolean known = FALSE;
    Scratch scratch;

    scratch_open(&scratch);
    g_assert_true(history_vouch(scratch.db, ME, EVIL, "admin", 1000, &error));
    observe_human(scratch.db, "<k1@x>", NULL, EVIL, 2000);
    g_assert_cmpuint(count_faults(scratch.db), ==, 0);
    run(scratch.db, &keep);
    g_assert_true(history_forget(scratch.db, ME, EVIL, "admin", 3000, &known, &error));
    g_assert_cmpuint(count_faults(scratch.db), ==, 0);
    run(scratch.db, &put);
    g_assert_cmpuint(count_faults(scratch.db), ==, 1);
    scratch_close(&scratch);
}

/* Many lessons at once make one record. */
static void
test_many(void)
{
    const char *const recipients[] = {NORA, LEE, NULL};
    g_autoptr(GError) error = NULL;
    Warrant warrant = {0};
    Scratch scratch;

    scratch_open(&scratch);
    for (guint i = 0; i < 100; i++) {
        g_autofree char *id = g_strdup_printf("<k%u@x>", i % 50);
        const Observation observation = {.kind = OBSERVED_HUMAN,
                                         .account = ME,
                                         .message_id = id,
                                         .recipients = recipients,
                                         .warrant = &warrant};
        g_assert_true(history_observe(scratch.db, &observation, 1000 + i, &error));
    }
    g_assert_cmpuint(count_faults(scratch.db), ==, 1);
    g_assert_true(warrant_record(scratch.db, ME, &warrant, "user 0", NULL, 2000, &error));
    g_assert_cmpuint(count_faults(scratch.db), ==, 0);
    g_assert_cmpint(warrant.rows, ==, 2 + 100);
    scratch_close(&scratch);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/warrant/by-hand", test_by_hand);
    g_test_add_func("/warrant/seals-moved", test_seals_moved);
    g_test_add_func("/warrant/forgotten", test_forgotten);
    g_test_add_func("/warrant/many", test_many);
    return g_test_run();
}
