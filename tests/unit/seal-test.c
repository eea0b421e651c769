/* The relay's key and what is sealed with it. */
#include "lib/seal.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/error.h"
#include "lib/fields.h"

/* RFC 4231, test case 1, its key of 20 bytes filled up with zeros as HMAC does. */
static void
test_known_answer(void)
{
    guint8 key[SEAL_KEY_BYTES] = {0};
    g_autoptr(GByteArray) bytes = g_byte_array_new();

    memset(key, 0x0b, 20);
    g_autoptr(Seal) seal = seal_new(key);
    g_byte_array_append(bytes, (const guint8 *)"Hi There", 8);
    g_autofree char *made = seal_over(seal, bytes);
    g_assert_cmpstr(made, ==,
                    "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
}

static void
test_fits(void)
{
    static const guint8 key[SEAL_KEY_BYTES] = "key";
    g_autoptr(Seal) seal = seal_new(key);
    g_autoptr(GByteArray) fields = g_byte_array_new();

    fields_add_text(fields, "field");
    g_autofree char *made = seal_over(seal, fields);
    g_assert_true(seal_fits(seal, fields, made));
    for (guint i = 0; i < SEAL_LENGTH; i++) {
        made[i] ^= 1;
        g_assert_false(seal_fits(seal, fields, made));
        made[i] ^= 1;
    }
    made[SEAL_LENGTH - 1] = '\0';
    g_assert_false(seal_fits(seal, fields, made));
    g_assert_false(seal_fits(seal, fields, ""));
}

/* No two lists of fields give the same bytes (XC10). */
static void
test_fields(void)
{
    static const char *const lists[][3] = {
        {"a", "bc", NULL}, {"ab", "c", NULL}, {"abc", NULL},
        {"", "abc", NULL}, {"abc", "", NULL},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(lists); i++) {
        for (gsize j = 0; j < i; j++) {
            g_autoptr(GByteArray) first = g_byte_array_new();
            g_autoptr(GByteArray) second = g_byte_array_new();

            for (gsize k = 0; k < 3 && lists[i][k] != NULL; k++)
                fields_add_text(first, lists[i][k]);
            for (gsize k = 0; k < 3 && lists[j][k] != NULL; k++)
                fields_add_text(second, lists[j][k]);
            g_assert_false(first->len == second->len &&
                           memcmp(first->data, second->data, first->len) == 0);
        }
    }
}

static void
assert_refused(const char *path, int code)
{
    g_autoptr(GError) error = NULL;

    g_assert_null(seal_open(path, &error));
    g_assert_error(error, EXEAT_ERROR, code);
}

static void
test_key_file(void)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *folder = g_dir_make_tmp("exeat-test-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(folder, "key", NULL);
    g_autofree char *link = g_build_filename(folder, "link", NULL);
    g_autofree char *left = g_build_filename(folder, "key.new", NULL);
    struct stat status;

    assert_refused(path, ERROR_CONFIG);
    /* What a crash left while it was made is in nobody's way. */
    g_assert_true(g_file_set_contents(left, "half", -1, NULL));
    g_assert_true(seal_make_key(path, &error));
    g_assert_false(g_file_test(left, G_FILE_TEST_EXISTS));
    g_assert_cmpint(stat(path, &status), ==, 0);
    g_assert_cmpint(status.st_mode & 07777, ==, 0600);
    g_assert_cmpint(status.st_size, ==, SEAL_KEY_BYTES);
    seal_free(seal_open(path, &error));
    g_assert_no_error(error);
    /* It is made once, and never over another. */
    g_assert_false(seal_make_key(path, &error));
    g_assert_error(error, EXEAT_ERROR, ERROR_TEMP);

    for (guint bit = 01; bit <= 040; bit <<= 1) {
        g_assert_cmpint(chmod(path, 0600 | bit), ==, 0);
        assert_refused(path, ERROR_CONFIG);
    }
    g_assert_cmpint(chmod(path, 0600), ==, 0);
    g_assert_cmpint(symlink(path, link), ==, 0);
    assert_refused(link, ERROR_CONFIG);
    assert_refused(folder, ERROR_CONFIG);
    g_assert_cmpint(truncate(path, SEAL_KEY_BYTES - 1), ==, 0);
    assert_refused(path, ERROR_CONFIG);
    g_unlink(link);
    g_unlink(path);
    g_rmdir(folder);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/seal/known-answer", test_known_answer);
    g_test_add_func("/seal/fits", test_fits);
    g_test_add_func("/seal/fields/XC10", test_fields);
    g_test_add_func("/seal/key-file", test_key_file);
    return g_test_run();
}
