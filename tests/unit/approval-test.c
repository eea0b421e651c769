/* Approvals and tickets: only exactly what was granted, only in time, only once (E22-E29). */
#include "store/approval.h"

#include <string.h>

#include "store/queue.h"
#include "store/writer.h"
#include "tests/unit/scratch.h"

#define GRANTED 1000
#define EXPIRES 1900
#define CALLERS 50

static void
add_item(Db *db, const char *id)
{
    g_autoptr(Item) item = item_new();
    g_autoptr(GError) error = NULL;

    g_free(item->id);
    item->id = g_strdup(id);
    queue_add(db, item, -1, GRANTED, &error);
    g_assert_no_error(error);
}

static void
grant_by(Db *db, const char *item, gint64 uid)
{
    g_autoptr(GError) error = NULL;
    const Approval approval = {
        .item = (char *)item,
        .account = (char *)"owner",
        .digest = (char *)"digest",
        .approver = (char *)"user alice (1001)",
        .uid = uid,
        .gid = uid,
        .policy = (char *)"version",
        .created = GRANTED,
        .expires = EXPIRES,
    };

    approval_grant(db, &approval, &error);
    g_assert_no_error(error);
}

static void
grant(Db *db, const char *item)
{
    grant_by(db, item, 1001);
}

static guint
count_found(Db *db, const char *item, const char *digest, gint64 now)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) found = approval_find(db, item, "owner", digest, now, &error);

    g_assert_no_error(error);
    return found->len;
}

static gboolean
stands(Db *db, const char *item, const char *digest, gint64 now)
{
    return count_found(db, item, digest, now) > 0;
}

static gboolean
consume(Db *db, const char *item, const char *account, const char *digest, gint64 now)
{
    g_autoptr(GError) error = NULL;
    gboolean used = FALSE;

    approval_consume(db, item, account, digest, now, &used, &error);
    g_assert_no_error(error);
    return used;
}

static void
test_consume(void)
{
    static const struct {
        const char *name;
        const char *item;
        const char *account;
        const char *digest;
        gint64 now;
        gboolean good;
    } rows[] = {
        {"exactly this", "item", "owner", "digest", GRANTED + 1, TRUE},
        {"in the same second", "item", "owner", "digest", GRANTED, TRUE},
        {"in the last second", "item", "owner", "digest", EXPIRES - 1, TRUE},
        {"XC22 too late", "item", "owner", "digest", EXPIRES, FALSE},
        {"XC11 clock gone back", "item", "owner", "digest", GRANTED - 1, FALSE},
        {"XC23 another item, same bytes", "other", "owner", "digest", GRANTED + 1, FALSE},
        {"XC2 another account", "item", "second", "digest", GRANTED + 1, FALSE},
        {"XC7 XC9 another digest", "item", "owner", "digesU", GRANTED + 1, FALSE},
        {"part of the digest", "item", "owner", "diges", GRANTED + 1, FALSE},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        Scratch scratch;

        g_test_message("%s", rows[i].name);
        scratch_open(&scratch);
        add_item(scratch.db, "item");
        add_item(scratch.db, "other");
        grant(scratch.db, "item");
        g_assert_cmpint(
            consume(scratch.db, rows[i].item, rows[i].account, rows[i].digest, rows[i].now),
            ==, rows[i].good);
        /* Used once, or never touched. */
        g_assert_false(
            consume(scratch.db, rows[i].item, rows[i].account, rows[i].digest, rows[i].now));
        scratch_close(&scratch);
    }
}

static void
test_stands(void)
{
    Scratch scratch;

    scratch_open(&scratch);
    add_item(scratch.db, "item");
    g_assert_false(stands(scratch.db, "item", "digest", GRANTED));
    grant(scratch.db, "item");
    g_assert_true(stands(scratch.db, "item", "digest", GRANTED));
    g_assert_true(stands(scratch.db, "item", "digest", EXPIRES - 1));
    g_assert_false(stands(scratch.db, "item", "digest", EXPIRES));
    g_assert_false(stands(scratch.db, "item", "other", GRANTED));
    g_assert_false(stands(scratch.db, "other", "digest", GRANTED));
    /* Looking uses nothing up, and it all outlives a restart. */
    scratch_reopen(&scratch);
    g_assert_true(consume(scratch.db, "item", "owner", "digest", GRANTED + 5));
    g_assert_false(stands(scratch.db, "item", "digest", GRANTED + 5));
    scratch_close(&scratch);
}

/* A clock that once stood before the approval voids it, also when it is right again (XC11). */
static void
test_clock_back(void)
{
    Scratch scratch;

    scratch_open(&scratch);
    add_item(scratch.db, "item");
    grant(scratch.db, "item");
    g_assert_false(stands(scratch.db, "item", "digest", GRANTED - 100));
    g_assert_false(stands(scratch.db, "item", "digest", GRANTED + 1));
    g_assert_false(consume(scratch.db, "item", "owner", "digest", GRANTED + 1));
    scratch_close(&scratch);
}

static void
test_void(void)
{
    g_autoptr(GError) error = NULL;
    Scratch scratch;

    scratch_open(&scratch);
    add_item(scratch.db, "item");
    add_item(scratch.db, "other");
    grant(scratch.db, "item");
    grant(scratch.db, "item");
    grant(scratch.db, "other");
    g_assert_true(approval_void(scratch.db, "item", GRANTED + 1, &error));
    g_assert_false(consume(scratch.db, "item", "owner", "digest", GRANTED + 2));
    g_assert_true(consume(scratch.db, "other", "owner", "digest", GRANTED + 2));
    grant(scratch.db, "item");
    g_assert_true(consume(scratch.db, "item", "owner", "digest", GRANTED + 3));
    scratch_close(&scratch);
}

/* Two people approved: one sending uses both up. */
static void
test_no_leftover(void)
{
    Scratch scratch;

    scratch_open(&scratch);
    add_item(scratch.db, "item");
    grant_by(scratch.db, "item", 1001);
    grant_by(scratch.db, "item", 1002);
    g_assert_cmpuint(count_found(scratch.db, "item", "digest", GRANTED), ==, 2);
    g_assert_true(consume(scratch.db, "item", "owner", "digest", GRANTED + 1));
    g_assert_false(consume(scratch.db, "item", "owner", "digest", GRANTED + 1));
    scratch_close(&scratch);
}

static gint64
count_entries(Db *db, const char *kind)
{
    static const Sql sql = {"count", "SELECT COUNT(*) FROM audit WHERE kind = ?1"};
    g_autoptr(GError) error = NULL;
    gint64 number = 0;

    db_integer(db, &sql, 0, &number, &error, "s", kind);
    g_assert_no_error(error);
    return number;
}

/* Whoever writes the database without the key can make no approval, nor change one in any
 * field (XC9), nor use one twice: it is void, and that is in the record. */
static void
test_tampered(void)
{
    static const Sql changes[] = {
        {"id", "UPDATE approval SET id = 'made-up'"},
        {"item XC23", "UPDATE approval SET item = 'item', account = 'owner'"},
        {"account XC2", "UPDATE approval SET account = 'second'"},
        {"digest XC7", "UPDATE approval SET digest = 'digesU'"},
        {"approver", "UPDATE approval SET approver = 'user bob (1002)'"},
        {"uid", "UPDATE approval SET uid = 1002"},
        {"gid", "UPDATE approval SET gid = 1002"},
        {"policy", "UPDATE approval SET policy = 'newer'"},
        {"created XC11", "UPDATE approval SET created = created - 1"},
        {"expires XC22", "UPDATE approval SET expires = expires + 1"},
        {"seal", "UPDATE approval SET seal = 'e' || substr(seal, 2) || 'f'"},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(changes); i++) {
        g_autoptr(GError) error = NULL;
        Scratch scratch;

        g_test_message("%s", changes[i].name);
        scratch_open(&scratch);
        add_item(scratch.db, "item");
        add_item(scratch.db, "other");
        grant(scratch.db, i == 1 ? "other" : "item");
        db_run(scratch.db, &changes[i], &error, "");
        g_assert_no_error(error);
        g_assert_false(consume(scratch.db, "item", i == 2 ? "second" : "owner",
                               i == 3 ? "digesU" : "digest", GRANTED + 1));
        g_assert_cmpint(count_entries(scratch.db, "approval-void"), ==, 1);
        g_assert_cmpuint(count_found(scratch.db, "item", "digest", GRANTED + 1), ==, 0);
        g_assert_cmpint(count_entries(scratch.db, "approval-void"), ==, 1);
        scratch_close(&scratch);
    }
}

/* A used or void approval made open again is no approval. */
static void
test_reopened(void)
{
    static const Sql reopen = {"reopen", "UPDATE approval SET used = NULL, voided = NULL"};
    g_autoptr(GError) error = NULL;

    for (guint way = 0; way < 2; way++) {
        Scratch scratch;

        scratch_open(&scratch);
        add_item(scratch.db, "item");
        grant(scratch.db, "item");
        if (way == 0)
            g_assert_true(consume(scratch.db, "item", "owner", "digest", GRANTED + 1));
        else
            g_assert_true(approval_void(scratch.db, NULL, GRANTED + 1, &error));
        g_assert_cmpint(db_run(scratch.db, &reopen, &error, ""), ==, 1);
        g_assert_false(consume(scratch.db, "item", "owner", "digest", GRANTED + 2));
        g_assert_cmpint(count_entries(scratch.db, "approval-void"), ==, 1);
        scratch_close(&scratch);
    }
}

/* One of many who use the same approval. */
typedef struct {
    Writer *writer;
    Db *db;
    const char *ticket; /* NULL: consume the approval */
    gint *won;
} Caller;

static gboolean
use_up(gpointer data, GError **error)
{
    Caller *caller = data;
    gboolean used = FALSE;
    gboolean done =
        caller->ticket != NULL
            ? ticket_redeem(caller->db, caller->ticket, "digest", GRANTED + 1, &used, error)
            : approval_consume(caller->db, "item", "owner", "digest", GRANTED + 1, &used,
                               error);

    if (used)
        g_atomic_int_inc(caller->won);
    return done;
}

static gpointer
call(gpointer data)
{
    Caller *caller = data;
    g_autoptr(GError) error = NULL;

    writer_run(caller->writer, use_up, caller, &error);
    g_assert_no_error(error);
    return NULL;
}

static gint
race(Db *db, const char *ticket)
{
    Writer *writer = writer_start(db);
    GThread *threads[CALLERS];
    gint won = 0;
    Caller caller = {writer, db, ticket, &won};

    for (guint i = 0; i < CALLERS; i++)
        threads[i] = g_thread_new("caller", call, &caller);
    for (guint i = 0; i < CALLERS; i++)
        g_thread_join(threads[i]);
    writer_stop(writer);
    return won;
}

/* Fifty at once: one wins (C14, XC6). */
static void
test_race(void)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *ticket = NULL;
    Scratch scratch;

    scratch_open(&scratch);
    add_item(scratch.db, "item");
    grant(scratch.db, "item");
    ticket_mint(scratch.db, "item", "digest", GRANTED, EXPIRES, &ticket, &error);
    g_assert_no_error(error);
    g_assert_cmpint(race(g_steal_pointer(&scratch.db), NULL), ==, 1);
    scratch_reopen(&scratch);
    g_assert_cmpint(race(g_steal_pointer(&scratch.db), ticket), ==, 1);
    scratch_close(&scratch);
}

static char *
mint(Db *db, const char *item)
{
    g_autoptr(GError) error = NULL;
    char *ticket = NULL;

    ticket_mint(db, item, "digest", GRANTED, EXPIRES, &ticket, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(strlen(ticket), ==, 32);
    return ticket;
}

static void
assert_worth(Db *db, const char *ticket, const char *digest, gint64 now, TicketState expected)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *item = NULL;
    TicketState state = TICKET_UNKNOWN;

    ticket_look_up(db, ticket, digest, now, &state, &item, &error);
    g_assert_no_error(error);
    g_assert_cmpint(state, ==, expected);
    g_assert_cmpstr(item, ==, expected == TICKET_UNKNOWN ? NULL : "item");
}

static gboolean
redeem(Db *db, const char *ticket, const char *digest, gint64 now)
{
    g_autoptr(GError) error = NULL;
    gboolean used = FALSE;

    ticket_redeem(db, ticket, digest, now, &used, &error);
    g_assert_no_error(error);
    return used;
}

static gboolean
end(Db *db, const char *item)
{
    g_autoptr(GError) error = NULL;
    gboolean used = FALSE;

    ticket_end(db, item, &used, &error);
    g_assert_no_error(error);
    return used;
}

static void
test_ticket(void)
{
    static const struct {
        const char *name;
        const char *digest;
        gint64 now;
        TicketState worth;
    } rows[] = {
        {"good", "digest", GRANTED + 1, TICKET_GOOD},
        {"last second", "digest", EXPIRES - 1, TICKET_GOOD},
        {"too late", "digest", EXPIRES, TICKET_UNKNOWN},
        {"XC11 clock gone back", "digest", GRANTED - 1, TICKET_UNKNOWN},
        {"XA7 other bytes", "other", GRANTED + 1, TICKET_UNKNOWN},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *ticket = NULL;
        Scratch scratch;

        g_test_message("%s", rows[i].name);
        scratch_open(&scratch);
        add_item(scratch.db, "item");
        ticket = mint(scratch.db, "item");
        assert_worth(scratch.db, ticket, rows[i].digest, rows[i].now, rows[i].worth);
        g_assert_cmpint(redeem(scratch.db, ticket, rows[i].digest, rows[i].now), ==,
                        rows[i].worth == TICKET_GOOD);
        scratch_close(&scratch);
    }
}

/* A used ticket is remembered, whatever the hour, but only for its bytes (XA7). */
static void
test_ticket_used(void)
{
    g_autofree char *ticket = NULL;
    Scratch scratch;

    scratch_open(&scratch);
    add_item(scratch.db, "item");
    ticket = mint(scratch.db, "item");
    g_assert_true(redeem(scratch.db, ticket, "digest", GRANTED + 1));
    scratch_reopen(&scratch);
    g_assert_false(redeem(scratch.db, ticket, "digest", GRANTED + 1));
    assert_worth(scratch.db, ticket, "digest", GRANTED + 2, TICKET_USED);
    assert_worth(scratch.db, ticket, "digest", EXPIRES + 1000, TICKET_USED);
    assert_worth(scratch.db, ticket, "other", GRANTED + 2, TICKET_UNKNOWN);
    g_assert_true(end(scratch.db, "item"));
    scratch_close(&scratch);
}

static void
test_ticket_void(void)
{
    g_autofree char *first = NULL;
    g_autofree char *second = NULL;
    Scratch scratch;

    scratch_open(&scratch);
    add_item(scratch.db, "item");
    assert_worth(scratch.db, "made-up", "digest", GRANTED, TICKET_UNKNOWN); /* XA6 */
    g_assert_false(redeem(scratch.db, "made-up", "digest", GRANTED));
    first = mint(scratch.db, "item");
    second = mint(scratch.db, "item");
    g_assert_cmpstr(first, !=, second);
    assert_worth(scratch.db, first, "digest", GRANTED, TICKET_UNKNOWN);
    g_assert_false(redeem(scratch.db, first, "digest", GRANTED));
    assert_worth(scratch.db, second, "digest", GRANTED, TICKET_GOOD);
    g_assert_false(end(scratch.db, "item"));
    assert_worth(scratch.db, second, "digest", GRANTED, TICKET_UNKNOWN);
    g_assert_false(redeem(scratch.db, second, "digest", GRANTED));
    scratch_close(&scratch);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/approval/consume", test_consume);
    g_test_add_func("/approval/stands", test_stands);
    g_test_add_func("/approval/clock-back/XC11", test_clock_back);
    g_test_add_func("/approval/void", test_void);
    g_test_add_func("/approval/no-leftover", test_no_leftover);
    g_test_add_func("/approval/tampered/XC9", test_tampered);
    g_test_add_func("/approval/reopened", test_reopened);
    g_test_add_func("/approval/race/C14", test_race);
    g_test_add_func("/ticket/worth", test_ticket);
    g_test_add_func("/ticket/used/XA7", test_ticket_used);
    g_test_add_func("/ticket/void", test_ticket_void);
    return g_test_run();
}
