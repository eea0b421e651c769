/* Items: what is stored comes back, every move follows the table, and what a timer, a counter
 * or a person asks for is found (A14). */
#include "store/queue.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/error.h"
#include "store/writer.h"
#include "tests/unit/scratch.h"

#define NOW 1000

/* Every legal move of design and manual, written once more: one letter a state. */
static const struct {
    State from;
    const State to[8];
    guint count;
} legal[] = {
    {STATE_DELAYED,
     {STATE_SENDING, STATE_DRAFT, STATE_VETOED, STATE_HELD, STATE_WITHDRAWN},
     5},
    {STATE_DRAFT,
     {STATE_APPROVED, STATE_REJECTED, STATE_WITHDRAWN, STATE_EXPIRED, STATE_SUPERSEDED},
     5},
    {STATE_HELD,
     {STATE_APPROVED, STATE_REJECTED, STATE_WITHDRAWN, STATE_EXPIRED, STATE_SUPERSEDED},
     5},
    {STATE_APPROVED, {STATE_SENDING, STATE_HELD, STATE_VETOED}, 3},
    {STATE_SENDING,
     {STATE_COMMITTING, STATE_APPROVED, STATE_DELAYED, STATE_HELD, STATE_FAILED},
     5},
    {STATE_COMMITTING, {STATE_SENT, STATE_FAILED, STATE_UNCERTAIN}, 3},
    {STATE_UNCERTAIN, {STATE_SENT, STATE_FAILED}, 2},
};

static gboolean
is_legal(State from, State to)
{
    for (gsize i = 0; i < G_N_ELEMENTS(legal); i++) {
        for (guint j = 0; legal[i].from == from && j < legal[i].count; j++) {
            if (legal[i].to[j] == to)
                return TRUE;
        }
    }
    return FALSE;
}

static void
set(char **member, const char *text)
{
    g_free(*member);
    *member = g_strdup(text);
}

static void
add_recipient(Item *item, const char *normal)
{
    ItemRecipient *recipient = g_new0(ItemRecipient, 1);

    recipient->normal = g_strdup(normal);
    g_ptr_array_add(item->recipients, recipient);
}

static Item *
make_item(const char *id, const char *account, State state)
{
    Item *item = item_new();

    set(&item->id, id);
    set(&item->account, account);
    set(&item->login, "agent@example.com");
    item->state = state;
    item->created = NOW;
    return item;
}

static void
add(Db *db, const Item *item)
{
    g_autoptr(GError) error = NULL;

    queue_add(db, item, -1, NOW, &error);
    g_assert_no_error(error);
}

/* An item of the account "owner" of which only the state matters. */
static void
add_plain(Db *db, const char *id, State state)
{
    g_autoptr(Item) item = make_item(id, "owner", state);

    add(db, item);
}

static Item *
load(Db *db, const char *id)
{
    g_autoptr(GError) error = NULL;
    Item *item = NULL;

    queue_load(db, id, &item, &error);
    g_assert_no_error(error);
    return item;
}

static Move
move(Db *db, const char *id, State from, State to)
{
    g_autoptr(GError) error = NULL;
    Move result = MOVE_REFUSED;

    queue_move(db, id, from, to, "user alice (1001)", "because", NOW + 1, &result, &error);
    g_assert_no_error(error);
    return result;
}

static gint64
count(Db *db, const Sql *sql)
{
    g_autoptr(GError) error = NULL;
    gint64 number = -1;

    db_integer(db, sql, -1, &number, &error, "");
    g_assert_no_error(error);
    return number;
}

static guint
count_state(Db *db, const char *account, State state)
{
    g_autoptr(GError) error = NULL;
    guint counts[STATE_COUNT] = {0};

    queue_count(db, account, counts, &error);
    g_assert_no_error(error);
    return counts[state];
}

/* Ids joined by spaces; frees the array. */
static void
assert_ids(GPtrArray *taken, const char *expected)
{
    g_autoptr(GPtrArray) ids = taken;
    g_autofree char *joined = NULL;

    g_assert_nonnull(ids);
    g_ptr_array_add(ids, NULL);
    joined = g_strjoinv(" ", (char **)ids->pdata);
    g_assert_cmpstr(joined, ==, expected);
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
test_moves(void)
{
    static const Sql moves = {"moves", "SELECT COUNT(*) FROM move"};
    static const Sql entries = {"entries", "SELECT COUNT(*) FROM audit WHERE kind = 'moved'"};
    Scratch scratch;
    gint64 done = 0;

    scratch_open(&scratch);
    for (gsize i = 0; i < G_N_ELEMENTS(legal); i++) {
        for (guint j = 0; j < legal[i].count; j++) {
            State from = legal[i].from;
            State to = legal[i].to[j];
            g_autofree char *id = g_strdup_printf("%s-%s", state_name(from), state_name(to));
            g_autoptr(Item) item = NULL;
            guint before = 0;

            add_plain(scratch.db, id, from);
            before = count_state(scratch.db, "owner", to);
            g_assert_cmpint(move(scratch.db, id, from, to), ==, MOVE_DONE);
            g_assert_cmpuint(count_state(scratch.db, "owner", to), ==, before + 1);
            g_assert_cmpint(move(scratch.db, id, from, to), ==, MOVE_REFUSED);
            item = load(scratch.db, id);
            g_assert_cmpint(item->state, ==, to);
            g_assert_cmpstr(item->why, ==, "because");
            done++;
        }
    }
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

static Item *
make_full_item(void)
{
    static const char *const sender[] = {"<agent@example.com>", "RET=HDRS", NULL};
    static const char *const words[] = {"<Nora@Example.org>", "NOTIFY=NEVER", NULL};
    Item *item = make_item("0123456789ab", "owner", STATE_DELAYED);

    set(&item->key, "key");
    set(&item->digest, "digest");
    set(&item->message_id, "<a1@example.com>");
    set(&item->reason, "answer in my conversation");
    set(&item->policy, "version");
    set(&item->why, "why");
    set(&item->answer, "answer");
    item->conversation = G_GINT64_CONSTANT(1) << 40;
    item->tier = TIER_DELAY;
    item->line = 9;
    item->automatic = TRUE;
    item->due = 2000;
    item->expires = 3000;
    item->retry = 1500;
    item->attempts = 2;
    item->size = 12345;
    facts_set(&item->facts, FACT_RECIPIENTS, 2);
    facts_set(&item->facts, FACT_FORWARD, 0);
    envelope_set_sender(item->envelope, sender);
    envelope_add_recipient(item->envelope, words, "nora@example.org");
    set(&item->extract->subject, "Gr\303\274\303\237e");
    extract_add_part(item->extract, "a.pdf", "application/pdf", 77, "hash");
    g_hash_table_insert(item->claims, g_strdup("Agent-Action"), g_strdup("answer"));
    add_recipient(item, "nora@example.org");
    add_recipient(item, "lee@example.net");
    ((ItemRecipient *)item->recipients->pdata[1])->external = TRUE;
    ((ItemRecipient *)item->recipients->pdata[1])->outside = TRUE;
    return item;
}

static void
assert_same_variant(GVariant *first, GVariant *second)
{
    g_autoptr(GVariant) a = g_variant_ref_sink(first);
    g_autoptr(GVariant) b = g_variant_ref_sink(second);

    g_assert_cmpvariant(a, b);
}

static void
assert_same(const Item *a, const Item *b)
{
    g_autofree char *facts = facts_format(&a->facts);
    g_autofree char *other_facts = facts_format(&b->facts);

    g_assert_cmpstr(a->id, ==, b->id);
    g_assert_cmpstr(a->account, ==, b->account);
    g_assert_cmpstr(a->login, ==, b->login);
    g_assert_cmpstr(a->key, ==, b->key);
    g_assert_cmpstr(a->digest, ==, b->digest);
    g_assert_cmpstr(a->message_id, ==, b->message_id);
    g_assert_cmpint(a->conversation, ==, b->conversation);
    g_assert_cmpint(a->state, ==, b->state);
    g_assert_cmpint(a->tier, ==, b->tier);
    g_assert_cmpuint(a->line, ==, b->line);
    g_assert_cmpstr(a->reason, ==, b->reason);
    g_assert_cmpstr(a->policy, ==, b->policy);
    g_assert_cmpstr(a->why, ==, b->why);
    g_assert_cmpstr(a->answer, ==, b->answer);
    g_assert_cmpint(a->automatic, ==, b->automatic);
    g_assert_cmpint(a->created, ==, b->created);
    g_assert_cmpint(a->due, ==, b->due);
    g_assert_cmpint(a->expires, ==, b->expires);
    g_assert_cmpint(a->retry, ==, b->retry);
    g_assert_cmpuint(a->attempts, ==, b->attempts);
    g_assert_cmpuint(a->size, ==, b->size);
    g_assert_cmpstr(facts, ==, other_facts);
    assert_same_variant(envelope_to_variant(a->envelope), envelope_to_variant(b->envelope));
    assert_same_variant(extract_to_variant(a->extract), extract_to_variant(b->extract));
}

static void
test_round_trip(void)
{
    g_autoptr(Item) item = make_full_item();
    g_autoptr(Item) loaded = NULL;
    g_autoptr(Item) none = NULL;
    const ItemRecipient *second = NULL;
    Scratch scratch;

    scratch_open(&scratch);
    add(scratch.db, item);
    scratch_reopen(&scratch);
    loaded = load(scratch.db, item->id);
    g_assert_nonnull(loaded);
    assert_same(item, loaded);
    g_assert_cmpuint(g_hash_table_size(loaded->claims), ==, 1);
    g_assert_cmpstr(g_hash_table_lookup(loaded->claims, "Agent-Action"), ==, "answer");
    g_assert_cmpuint(loaded->recipients->len, ==, 2);
    second = loaded->recipients->pdata[1];
    g_assert_cmpstr(second->normal, ==, "lee@example.net");
    g_assert_true(second->external && second->outside);
    g_assert_false(second->known || second->mentioned);
    none = load(scratch.db, "nobody");
    g_assert_null(none);
    scratch_close(&scratch);
}

static void
test_ids(void)
{
    g_autofree char *first = item_new_id();
    g_autofree char *second = item_new_id();

    g_assert_cmpuint(strlen(first), ==, 12);
    g_assert_cmpuint(strspn(first, "0123456789abcdefghijklmnopqrstuvwxyz"), ==, 12);
    g_assert_cmpstr(first, !=, second);
}

/* A record that we could not have written stops everything that would read it (XF13). */
static void
test_damaged_record(void)
{
    static const Sql damages[] = {
        {"extract", "UPDATE item SET extract = claims"},
        {"state", "UPDATE item SET state = 'sendable'"},
        {"tier", "UPDATE item SET tier = ''"},
        {"facts", "UPDATE item SET facts = 'recipients'"},
        {"claims", "UPDATE item SET claims = 'abc'"},
        {"envelope", "UPDATE item SET envelope = x'0d0a'"},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(damages); i++) {
        g_autoptr(Item) item = make_full_item();
        g_autoptr(Item) loaded = NULL;
        g_autoptr(GError) error = NULL;
        Scratch scratch;

        g_test_message("%s", damages[i].name);
        scratch_open(&scratch);
        add(scratch.db, item);
        g_assert_cmpint(db_run(scratch.db, &damages[i], &error, ""), ==, 1);
        g_assert_false(queue_load(scratch.db, item->id, &loaded, &error));
        g_assert_error(error, EXEAT_ERROR, ERROR_INTEGRITY);
        scratch_close(&scratch);
    }
}

static int
make_bytes(gsize size)
{
    int fd = memfd_create("bytes", MFD_CLOEXEC);
    g_autofree char *bytes = g_malloc(size + 1);

    for (gsize i = 0; i < size; i++)
        bytes[i] = (char)(i * 31 + i / 251);
    g_assert_cmpint(write(fd, bytes, size), ==, size);
    return fd;
}

static void
assert_same_bytes(int a, int b)
{
    off_t size = lseek(a, 0, SEEK_END);
    g_autofree char *first = g_malloc(size + 1);
    g_autofree char *second = g_malloc(size + 1);

    g_assert_cmpint(lseek(b, 0, SEEK_END), ==, size);
    g_assert_cmpint(pread(a, first, size, 0), ==, size);
    g_assert_cmpint(pread(b, second, size, 0), ==, size);
    g_assert_cmpmem(first, size, second, size);
}

static gboolean
add_bytes(Db *db, State state, gsize size, int fd, GError **error)
{
    g_autoptr(Item) item = make_item("i1", "owner", state);

    item->size = size;
    return queue_add(db, item, fd, NOW, error);
}

static void
test_bytes(void)
{
    static const gsize sizes[] = {0, 1, 262143, 262144, 262145, 1000000};

    for (gsize i = 0; i < G_N_ELEMENTS(sizes); i++) {
        g_autoptr(GError) error = NULL;
        int bytes = make_bytes(sizes[i]);
        int copy = make_bytes(0);
        Scratch scratch;

        g_test_message("%" G_GSIZE_FORMAT " bytes", sizes[i]);
        scratch_open(&scratch);
        add_bytes(scratch.db, STATE_HELD, sizes[i], bytes, &error);
        g_assert_no_error(error);
        scratch_reopen(&scratch);
        queue_copy_bytes(scratch.db, "i1", copy, &error);
        g_assert_no_error(error);
        assert_same_bytes(bytes, copy);
        scratch_close(&scratch);
        close(bytes);
        close(copy);
    }
}

/* Bytes that are not those announced are not stored; bytes changed later are not given out. */
static void
test_bytes_damaged(void)
{
    static const Sql damages[] = {
        {"changed", "UPDATE piece SET bytes = zeroblob(262144) WHERE number = 1"},
        {"shorter", "UPDATE piece SET bytes = x'00' WHERE number = 2"},
        {"first gone", "DELETE FROM piece WHERE number = 0"},
        {"last gone", "DELETE FROM piece WHERE number = 2"},
        {"all gone", "DELETE FROM piece"},
        {"one moved", "UPDATE piece SET number = 9 WHERE number = 0"},
    };
    int bytes = make_bytes(600000);
    int copy = make_bytes(0);

    for (gsize i = 0; i < G_N_ELEMENTS(damages); i++) {
        g_autoptr(GError) error = NULL;
        Scratch scratch;

        g_test_message("%s", damages[i].name);
        scratch_open(&scratch);
        g_assert_true(add_bytes(scratch.db, STATE_DRAFT, 600000, bytes, &error));
        g_assert_cmpint(db_run(scratch.db, &damages[i], &error, ""), >, 0);
        g_assert_false(queue_copy_bytes(scratch.db, "i1", copy, &error));
        g_assert_error(error, EXEAT_ERROR, ERROR_INTEGRITY);
        scratch_close(&scratch);
    }
    close(bytes);
    close(copy);
}

static void
test_bytes_refused(void)
{
    static const Sql pieces = {"pieces", "SELECT COUNT(*) FROM piece"};
    static const struct {
        const char *name;
        State state;
        gsize size;
        gboolean add;
    } rows[] = {{"fewer than announced", STATE_HELD, 1001, FALSE},
                {"more than announced", STATE_HELD, 999, FALSE},
                {"released: kept nowhere", STATE_RELEASED, 1000, TRUE},
                {"refused: kept nowhere", STATE_REFUSED, 1000, TRUE}};
    int bytes = make_bytes(1000);

    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(GError) error = NULL;
        Scratch scratch;

        g_test_message("%s", rows[i].name);
        scratch_open(&scratch);
        g_assert_true(db_begin(scratch.db, &error));
        if (add_bytes(scratch.db, rows[i].state, rows[i].size, bytes, &error) != rows[i].add)
            g_test_fail();
        if (!rows[i].add) {
            g_assert_error(error, EXEAT_ERROR, ERROR_INTEGRITY);
            g_clear_error(&error);
        }
        g_assert_cmpint(rows[i].add ? count(scratch.db, &pieces) : 0, ==, 0);
        db_rollback(scratch.db);
        g_assert_false(queue_copy_bytes(scratch.db, "i1", bytes, &error));
        g_assert_error(error, EXEAT_ERROR, ERROR_INTEGRITY);
        scratch_close(&scratch);
    }
    close(bytes);
}

/* A repeated submission finds its item while that waits, and only in its account (XF22, XC23).
 */
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
            assert_ids(queue_due(scratch.db, when - 1, 10, &error), "");
            assert_ids(queue_due(scratch.db, when, 10, &error), "i1");
        } else
            assert_ids(queue_due(scratch.db, G_MAXINT64, 10, &error), "");
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
    assert_ids(queue_due(scratch.db, 99999, 10, &error), "");
    queue_record_attempt(scratch.db, "i1", "451 4.3.0 later", 2600, &error);
    g_assert_no_error(error);
    move(scratch.db, "i1", STATE_SENDING, STATE_DELAYED);
    assert_ids(queue_due(scratch.db, 2599, 10, &error), "");
    assert_ids(queue_due(scratch.db, 2600, 10, &error), "i1");
    move(scratch.db, "i1", STATE_DELAYED, STATE_DRAFT);
    assert_ids(queue_due(scratch.db, 8999, 10, &error), "");
    assert_ids(queue_due(scratch.db, 9000, 10, &error), "i1");
    loaded = load(scratch.db, "i1");
    g_assert_cmpstr(loaded->answer, ==, "451 4.3.0 later");
    g_assert_cmpint(loaded->retry, ==, 2600);
    g_assert_cmpuint(loaded->attempts, ==, 1);
    g_assert_cmpint(loaded->due, ==, 2000);
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
    assert_ids(queue_list(scratch.db, NULL, FALSE, 10, &error), "z y x w v u");
    assert_ids(queue_list(scratch.db, NULL, TRUE, 10, &error), "z y w v u");
    assert_ids(queue_list(scratch.db, NULL, TRUE, 2, &error), "z y");
    assert_ids(queue_list(scratch.db, owner, FALSE, 10, &error), "z x u");
    assert_ids(queue_list(scratch.db, both, TRUE, 10, &error), "z y v u");
    assert_ids(queue_list(scratch.db, both, TRUE, 3, &error), "z y v");
    assert_ids(queue_list(scratch.db, nobody, FALSE, 10, &error), "");
    assert_ids(queue_in_state(scratch.db, STATE_SENDING, &error), "w u");
    assert_ids(queue_in_state(scratch.db, STATE_SENT, &error), "x");
    assert_ids(queue_in_state(scratch.db, STATE_UNCERTAIN, &error), "");
    g_assert_cmpuint(count_state(scratch.db, "owner", STATE_HELD), ==, 1);
    g_assert_cmpuint(count_state(scratch.db, "owner", STATE_DRAFT), ==, 0);
    g_assert_cmpuint(count_state(scratch.db, "nobody", STATE_HELD), ==, 0);
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
    g_autoptr(GError) error = NULL;

    for (State state = 0; state < STATE_COUNT; state++) {
        g_autoptr(GHashTable) fanout = NULL;
        Scratch scratch;

        g_test_message("%s", state_name(state));
        scratch_open(&scratch);
        add_automatic(scratch.db, "i1", state, NOW, 7, "nora@example.org");
        add_plain(scratch.db, "i2", state);
        g_assert_cmpuint(count_automatic(scratch.db, 0, 0, NULL, NULL), ==, counts[state]);
        g_assert_cmpuint(count_automatic(scratch.db, 0, 7, NULL, NULL), ==, counts[state]);
        fanout = queue_fanout(scratch.db, "owner", 0, NULL, &error);
        g_assert_cmpuint(g_hash_table_size(fanout), ==, counts[state]);
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
        {"a recipient in a conversation", 0, 7, "lee@example.net", NULL, 1},
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
    g_autoptr(GError) error = NULL;
    g_autoptr(GHashTable) fanout = NULL;
    g_autoptr(GHashTable) others = NULL;
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
    fanout = queue_fanout(scratch.db, "owner", NOW, NULL, &error);
    g_assert_cmpuint(g_hash_table_size(fanout), ==, 2);
    g_assert_true(g_hash_table_contains(fanout, "nora@example.org"));
    others = queue_fanout(scratch.db, "owner", NOW, "i3", &error);
    g_assert_cmpuint(g_hash_table_size(others), ==, 1);
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

/* One entry for the submission and one for each move, numbered without gaps; a newline in a
 * field makes no second line (XE1), the message's text is not there (XE16). */
static void
test_audit(void)
{
    static const Sql read = {"read", "SELECT seq, kind, who, details FROM audit ORDER BY seq"};
    static const char *const kinds[] = {"submitted", "moved", "moved"};
    g_autoptr(GError) error = NULL;
    g_autoptr(Item) item = make_full_item();
    g_autoptr(Rows) rows = NULL;
    Scratch scratch;

    scratch_open(&scratch);
    set(&item->message_id, "<a\n1@\377x>");
    set(&item->extract->text, "the secret text");
    add(scratch.db, item);
    move(scratch.db, item->id, STATE_DELAYED, STATE_HELD);
    move(scratch.db, item->id, STATE_HELD, STATE_REJECTED);
    move(scratch.db, item->id, STATE_HELD, STATE_REJECTED);
    rows = db_query(scratch.db, &read, &error, "");
    for (guint i = 0; i < G_N_ELEMENTS(kinds); i++) {
        const char *details = NULL;
        g_autoptr(GVariant) parsed = NULL;

        g_assert_true(rows_next(rows, &error));
        g_assert_cmpint(rows_integer(rows, 0), ==, i + 1);
        g_assert_cmpstr(rows_text(rows, 1), ==, kinds[i]);
        details = rows_text(rows, 3);
        g_assert_null(strchr(details, '\n'));
        g_assert_null(strstr(details, "secret"));
        parsed = g_variant_parse(G_VARIANT_TYPE_VARDICT, details, NULL, NULL, &error);
        g_assert_no_error(error);
    }
    g_assert_false(rows_next(rows, &error));
    g_assert_no_error(error);
    g_clear_pointer(&rows, rows_free);
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
    scratch.db = db_open(scratch.path, NULL);
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
    g_test_add_func("/queue/round-trip", test_round_trip);
    g_test_add_func("/queue/ids", test_ids);
    g_test_add_func("/queue/damaged-record/XF13", test_damaged_record);
    g_test_add_func("/queue/bytes", test_bytes);
    g_test_add_func("/queue/bytes-damaged/XF13", test_bytes_damaged);
    g_test_add_func("/queue/bytes-refused", test_bytes_refused);
    g_test_add_func("/queue/find/XF22", test_find);
    g_test_add_func("/queue/find-nothing", test_find_nothing);
    g_test_add_func("/queue/timers", test_timers);
    g_test_add_func("/queue/timer-follows", test_timer_follows);
    g_test_add_func("/queue/lists", test_lists);
    g_test_add_func("/queue/automatic-states/XB14", test_automatic_states);
    g_test_add_func("/queue/automatic-windows/XB15", test_automatic_windows);
    g_test_add_func("/queue/automatic-approved", test_automatic_approved);
    g_test_add_func("/queue/pending", test_pending);
    g_test_add_func("/queue/audit/XE1", test_audit);
    g_test_add_func("/queue/race/XC19", test_race);
    return g_test_run();
}
