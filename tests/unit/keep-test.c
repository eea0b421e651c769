/* What is kept of messages, how much and for how long. */
#include "store/keep.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/items.h"
#include "tests/unit/scratch.h"

#define SIZE 1000
#define TEXT "Hello."
#define KEPT (SIZE + strlen(TEXT))

static Scratch scratch;

/* An item of so many bytes. */
static void
add_with_bytes(const char *id, const char *account)
{
    g_autoptr(Item) item = make_item(id, account, STATE_HELD);
    g_autoptr(GError) error = NULL;
    int fd = memfd_create("item", MFD_CLOEXEC);

    g_assert_cmpint(ftruncate(fd, SIZE), ==, 0);
    item->size = SIZE;
    set(&item->extract->text, TEXT);
    set(&item->extract->subject, "A word");
    queue_add(scratch.db, item, fd, NOW, &error);
    g_assert_no_error(error);
    close(fd);
}

static guint64
sum(const char *account)
{
    g_autoptr(GError) error = NULL;
    guint64 bytes = 0;

    keep_sum(scratch.db, account, &bytes, &error);
    g_assert_no_error(error);
    return bytes;
}

static Kept
next(gint64 before, guint64 limit)
{
    g_autoptr(GError) error = NULL;
    Kept kept = {0};

    keep_next(scratch.db, "owner", before, limit, &kept, &error);
    g_assert_no_error(error);
    return kept;
}

static void
test_sum(void)
{
    scratch_open(&scratch);
    g_assert_cmpuint(sum("owner"), ==, 0);
    add_with_bytes("a", "owner");
    add_with_bytes("b", "owner");
    add_with_bytes("c", "other");
    add_plain(scratch.db, "d", STATE_RELEASED);
    g_assert_cmpuint(sum("owner"), ==, 2 * KEPT);
    g_assert_cmpuint(sum("other"), ==, KEPT);
    scratch_close(&scratch);
}

/* What waits never goes, whatever the limit; of what has ended, the longest ended first. */
static void
test_next(void)
{
    scratch_open(&scratch);
    add_with_bytes("a", "owner");
    add_with_bytes("b", "owner");
    g_assert_null(next(G_MAXINT64, 0).item);

    g_assert_cmpint(move(scratch.db, "b", STATE_HELD, STATE_REJECTED), ==, MOVE_DONE);
    const struct {
        gint64 before;
        guint64 limit;
        const char *item;
    } rows[] = {
        {NOW, 2 * KEPT, NULL},     /* young, and within the limit */
        {NOW + 1, 2 * KEPT, NULL}, /* as old as that is not older */
        {NOW + 2, 2 * KEPT, "b"},  /* old */
        {NOW, 2 * KEPT - 1, "b"},  /* beyond the limit */
    };
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *item = next(rows[i].before, rows[i].limit).item;

        g_assert_cmpstr(item, ==, rows[i].item);
    }
    scratch_close(&scratch);
}

/* Bytes and texts go; what was decided, and on what, stays. */
static void
test_drop(void)
{
    g_autoptr(GError) error = NULL;

    scratch_open(&scratch);
    add_with_bytes("a", "owner");
    move(scratch.db, "a", STATE_HELD, STATE_REJECTED);
    const Kept kept = next(G_MAXINT64, 0);
    g_autofree char *ended = kept.item;
    g_assert_cmpstr(ended, ==, "a");
    g_assert_true(queue_drop_texts(scratch.db, "a", &error));
    g_assert_true(keep_drop(scratch.db, "owner", &kept, &error));
    g_assert_true(keep_drop(scratch.db, "owner", &kept, &error));
    g_assert_no_error(error);
    g_assert_cmpuint(sum("owner"), ==, 0);
    g_assert_null(next(G_MAXINT64, 0).item);

    g_autoptr(Item) item = load(scratch.db, "a");
    g_assert_cmpstr(item->extract->text, ==, "");
    g_assert_cmpstr(item->extract->subject, ==, "A word");
    g_assert_cmpuint(item->size, ==, SIZE);
    int fd = memfd_create("item", MFD_CLOEXEC);
    g_assert_false(queue_copy_bytes(scratch.db, "a", fd, &error));
    close(fd);
    scratch_close(&scratch);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/keep/sum", test_sum);
    g_test_add_func("/keep/next", test_next);
    g_test_add_func("/keep/drop", test_drop);
    return g_test_run();
}
