/* What is stored with an item: it comes back as it was, or not at all. */
#include "store/queue.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/error.h"
#include "tests/unit/items.h"
#include "tests/unit/scratch.h"

static Item *
make_full_item(void)
{
    static const char *const sender[] = {"<agent@example.com>", "RET=HDRS", NULL};
    static const char *const words[] = {"<Nora@Example.org>", "NOTIFY=NEVER", NULL};
    Item *item = make_item("0123456789ab", "owner", STATE_DELAYED);

    set(&item->key, "key");
    set(&item->digest, "digest");
    set(&item->author, "user alice (1001)");
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
    g_assert_cmpstr(a->author, ==, b->author);
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
    g_autofree char *first = item_new_id(NOW);
    g_autofree char *second = item_new_id(NOW);
    g_autofree char *later = item_new_id(NOW + 1);

    g_assert_cmpuint(strlen(first), ==, 12);
    g_assert_cmpuint(strspn(first, "0123456789abcdefghijklmnopqrstuvwxyz"), ==, 12);
    g_assert_cmpstr(first, !=, second);
    g_assert_true(strncmp(first, second, 5) == 0);
    g_assert_cmpint(strncmp(first, later, 5), <, 0);
}

/* A record that we could not have written stops everything that would read it (XF13). */
static void
test_damaged_record(void)
{
    static const Sql damages[] = {
        {"extract", "UPDATE item_extract SET bytes = (SELECT claims FROM item)"},
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

        g_assert_true(rows_next(rows));
        g_assert_cmpint(rows_integer(rows, 0), ==, i + 1);
        g_assert_cmpstr(rows_text(rows, 1), ==, kinds[i]);
        details = rows_text(rows, 3);
        g_assert_null(strchr(details, '\n'));
        g_assert_null(strstr(details, "secret"));
        parsed = g_variant_parse(G_VARIANT_TYPE_VARDICT, details, NULL, NULL, &error);
        g_assert_no_error(error);
    }
    g_assert_false(rows_next(rows));
    g_assert_true(rows_end(rows, &error));
    g_assert_no_error(error);
    g_clear_pointer(&rows, rows_free);
    scratch_close(&scratch);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/item/round-trip", test_round_trip);
    g_test_add_func("/item/ids E23", test_ids);
    g_test_add_func("/item/damaged-record/XF13", test_damaged_record);
    g_test_add_func("/item/bytes", test_bytes);
    g_test_add_func("/item/bytes-damaged/XF13", test_bytes_damaged);
    g_test_add_func("/item/bytes-refused", test_bytes_refused);
    g_test_add_func("/item/audit/XE1", test_audit);
    return g_test_run();
}
