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
    g_assert_true(witness_hand_over(witness, "one", "d1", 1000, &error));
    g_assert_true(witness_hand_over(witness, "two", "d2", 1001, &error));
    witness_free(witness);
    g_assert_true(g_file_get_contents(place.log, &text, &length, NULL));
    g_assert_true(g_file_set_contents(place.log, text, (gssize)length - 2, NULL));
    witness = open_witness(&place);
    g_assert_true(witness_hand_over(witness, "three", "d3", 1002, &error));
    g_autoptr(GHashTable) items = witness_handed_over(witness, &error);
    g_assert_no_error(error);
    g_assert_true(g_hash_table_contains(items, "one"));
    g_assert_true(g_hash_table_contains(items, "three"));
    g_assert_false(g_hash_table_contains(items, "four"));
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
    return g_test_run();
}
