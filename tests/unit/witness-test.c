/* What stands beside the database survives, and is read as strictly as it was written. */
#include "store/witness.h"

#include <glib/gstdio.h>
#include <string.h>

#include "lib/error.h"

#define SEAL "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

typedef struct {
    char *folder;
    char *head;
    char *log;
} Place;

static void
place_begin(Place *place)
{
    place->folder = g_dir_make_tmp("exeat-test-XXXXXX", NULL);
    place->head = g_build_filename(place->folder, "audit.head", NULL);
    place->log = g_build_filename(place->folder, "handovers.log", NULL);
}

static void
place_end(Place *place)
{
    g_unlink(place->head);
    g_unlink(place->log);
    g_assert_cmpint(g_rmdir(place->folder), ==, 0);
    g_free(place->folder);
    g_free(place->head);
    g_free(place->log);
}

static Witness *
open_witness(const Place *place)
{
    g_autoptr(GError) error = NULL;
    Witness *witness = witness_open(place->folder, &error);

    g_assert_no_error(error);
    return witness;
}

static void
test_head(void)
{
    const ChainHead first = {1, SEAL}, second = {G_MAXINT64, SEAL};
    g_autoptr(GError) error = NULL;
    Place place;

    place_begin(&place);
    Witness *witness = open_witness(&place);
    g_assert_cmpint(witness_head(witness)->seq, ==, 0);
    g_assert_cmpint(witness_seen(witness), ==, 0);
    g_assert_true(witness_write(witness, &second, G_MAXINT64, &error));
    g_assert_true(witness_write(witness, &first, 1000, &error));
    g_assert_true(witness_sync(witness, &error));
    witness_free(witness);
    witness = open_witness(&place);
    g_assert_cmpint(witness_head(witness)->seq, ==, 1);
    g_assert_cmpstr(witness_head(witness)->seal, ==, SEAL);
    g_assert_cmpint(witness_seen(witness), ==, 1000);
    witness_free(witness);
    place_end(&place);
}

static void
test_bad_head(void)
{
    static const char *const texts[] = {
        "1",
        "00000000000000000001 " SEAL " 0000000000000001000",
        "0000000000000000000x " SEAL " 00000000000000001000\n",
        "00000000000000000001 " SEAL " 00000000000000001000\nmore",
    };

    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
        g_autoptr(GError) error = NULL;
        Place place;

        g_test_message("%s", texts[i]);
        place_begin(&place);
        g_assert_true(g_file_set_contents(place.head, texts[i], -1, NULL));
        g_assert_null(witness_open(place.folder, &error));
        g_assert_error(error, EXEAT_ERROR, ERROR_INTEGRITY);
        place_end(&place);
    }
}

/* Lines stay, in whatever state a crash left the last one (XE8). */
static void
test_handovers(void)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *text = NULL;
    gsize length = 0;
    Place place;

    place_begin(&place);
    Witness *witness = open_witness(&place);
    g_assert_true(witness_hand_over(witness, "one", "d1", 9000, 1000, &error));
    g_assert_true(witness_hand_over(witness, "two", "d2", 9001, 1001, &error));
    witness_free(witness);
    g_assert_true(g_file_get_contents(place.log, &text, &length, NULL));
    g_assert_true(g_file_set_contents(place.log, text, (gssize)length - 2, NULL));
    witness = open_witness(&place);
    g_assert_true(witness_hand_over(witness, "three", "d3", 9002, 1002, &error));
    g_autoptr(GHashTable) items = witness_handed_over(witness, &error);
    g_assert_no_error(error);
    g_assert_true(g_hash_table_contains(items, "one"));
    g_assert_true(g_hash_table_contains(items, "three"));
    g_assert_false(g_hash_table_contains(items, "four"));
    witness_free(witness);
    place_end(&place);
}

/* What a power cut left of the head is not older than the last item that was handed on. */
static void
test_head_of_log(void)
{
    const ChainHead head = {7, SEAL};
    g_autoptr(GError) error = NULL;
    Place place;

    place_begin(&place);
    Witness *witness = open_witness(&place);
    g_assert_true(witness_hand_over(witness, "one", "d1", 9000, 1000, &error));
    g_assert_true(witness_write(witness, &head, 1000, &error));
    g_assert_true(witness_hand_over(witness, "two", "d2", 9000, 1000, &error));
    witness_free(witness);
    g_assert_cmpint(g_unlink(place.head), ==, 0);
    witness = open_witness(&place);
    g_assert_cmpint(witness_head(witness)->seq, ==, 7);
    g_assert_cmpstr(witness_head(witness)->seal, ==, SEAL);
    witness_free(witness);
    place_end(&place);
}

static guint
count_lines(const Place *place)
{
    g_autofree char *text = NULL;
    guint lines = 0;

    g_assert_true(g_file_get_contents(place->log, &text, NULL, NULL));
    for (const char *c = text; *c != '\0'; c++)
        lines += *c == '\n';
    return lines;
}

/* Items that expired are let go of, but not the newest line, which has the head; what a crash
 * left of a file that was to take the log's place is in nobody's way. */
static void
test_prune(void)
{
    const ChainHead head = {7, SEAL};
    g_autoptr(GError) error = NULL;
    Place place;

    place_begin(&place);
    g_autofree char *fresh = g_strconcat(place.log, ".new", NULL);
    Witness *witness = open_witness(&place);
    g_assert_true(witness_write(witness, &head, 1000, &error));
    for (guint i = 0; i < 100; i++) {
        g_autofree char *item = g_strdup_printf("item%u", i);
        g_assert_true(witness_hand_over(witness, item, "d", 2000 + i, 1000, &error));
    }
    g_assert_true(g_file_set_contents(fresh, "half a li", -1, NULL));
    g_assert_true(witness_prune(witness, 2000, &error));
    g_assert_cmpuint(count_lines(&place), ==, 100);
    g_assert_true(witness_prune(witness, 2060, &error));
    g_assert_cmpuint(count_lines(&place), ==, 40);
    g_assert_true(witness_hand_over(witness, "later", "d", 5000, 1000, &error));
    g_autoptr(GHashTable) items = witness_handed_over(witness, &error);
    g_assert_cmpuint(g_hash_table_size(items), ==, 41);
    g_assert_false(g_hash_table_contains(items, "item59"));
    g_assert_true(g_hash_table_contains(items, "item60"));
    g_assert_true(g_hash_table_contains(items, "later"));
    g_assert_true(witness_prune(witness, 9000, &error));
    g_assert_cmpuint(count_lines(&place), ==, 1);
    witness_free(witness);
    g_assert_cmpint(g_unlink(place.head), ==, 0);
    witness = open_witness(&place);
    g_assert_cmpint(witness_head(witness)->seq, ==, 7);
    witness_free(witness);
    place_end(&place);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/witness/head", test_head);
    g_test_add_func("/witness/bad-head", test_bad_head);
    g_test_add_func("/witness/handovers/XE8", test_handovers);
    g_test_add_func("/witness/head-of-log", test_head_of_log);
    g_test_add_func("/witness/prune", test_prune);
    return g_test_run();
}
