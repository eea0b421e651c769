/* Policies from files: trusted ones only, with what they include and list. */
#include "lib/policies.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>

#include "policy/verdict.h"

typedef struct {
    char *folder;
} Files;

static void
write_file(const Files *files, const char *name, const char *text, mode_t mode)
{
    g_autofree char *path = g_build_filename(files->folder, name, NULL);
    g_autoptr(GError) error = NULL;

    g_file_set_contents(path, text, -1, &error);
    g_assert_no_error(error);
    g_assert_cmpint(chmod(path, mode), ==, 0);
}

static void
files_begin(Files *files, G_GNUC_UNUSED gconstpointer data)
{
    g_autoptr(GError) error = NULL;

    files->folder = g_dir_make_tmp("exeat-policies-XXXXXX", &error);
    g_assert_no_error(error);
    write_file(files, "main",
               "include other\nrelease \"friends\" if all recipients in friends\n", 0600);
    write_file(files, "other", "hold \"file\" if attachments > 0\n", 0644);
    write_file(files, "friends", "Ann@Example.ORG.\n@münchen.example\n", 0600);
}

static void
files_end(Files *files, G_GNUC_UNUSED gconstpointer data)
{
    g_autoptr(GDir) dir = g_dir_open(files->folder, 0, NULL);
    const char *name;

    while ((name = g_dir_read_name(dir)) != NULL) {
        g_autofree char *path = g_build_filename(files->folder, name, NULL);
        g_unlink(path);
    }
    g_assert_cmpint(g_rmdir(files->folder), ==, 0);
    g_free(files->folder);
}

static Policy *
read_policy(const Files *files, const char *name, Policy *floor, GError **error)
{
    g_autofree char *path = g_build_filename(files->folder, name, NULL);

    return policies_read(path, floor, error);
}

static void
assert_refused(const Files *files, const char *name, const char *message)
{
    g_autoptr(GError) error = NULL;

    g_assert_null(read_policy(files, name, NULL, &error));
    if (!strstr(error->message, message))
        g_test_fail_printf("expected “%s”, found “%s”", message, error->message);
}

/* Entries of a list are spelt as recipients are (XB10): case, final dot, IDN. */
static void
test_read(Files *files, G_GNUC_UNUSED gconstpointer data)
{
    static const char *const rows[][2] = {{"ann@example.org", "release"},
                                          {"x@xn--mnchen-3ya.example", "release"},
                                          {"x@example.org", "hold"}};
    g_autoptr(GError) error = NULL;
    g_autoptr(Policy) policy = read_policy(files, "main", NULL, &error);

    g_assert_no_error(error);
    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        const char *const recipients[] = {rows[i][0], NULL};
        Facts facts = {.recipients = recipients};
        facts_set(&facts, FACT_ATTACHMENTS, 0);
        facts_set(&facts, FACT_LOCKED, 0);
        g_autoptr(Verdict) verdict = policy_judge(policy, &facts, MODE_HYBRID, 0);
        g_assert_cmpstr(tier_name(verdict->tier), ==, rows[i][1]);
    }
}

/* XF16: who may write a file that a policy names may write the policy. */
static void
test_modes(Files *files, G_GNUC_UNUSED gconstpointer data)
{
    static const char *const names[] = {"main", "other", "friends"};
    g_autofree char *missing = g_build_filename(files->folder, "other", NULL);

    for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autofree char *path = g_build_filename(files->folder, names[i], NULL);
        g_assert_cmpint(chmod(path, 0620), ==, 0);
        assert_refused(files, "main", "found mode 0620, expected a file that only its owner");
        g_assert_cmpint(chmod(path, 0600), ==, 0);
    }
    g_unlink(missing);
    assert_refused(files, "main", "/main:1: ");
}

/* What can be read but is no good is refused, too (XF10). */
static void
test_checked(Files *files, G_GNUC_UNUSED gconstpointer data)
{
    write_file(files, "lax", "release \"r\" if novel > 0\n", 0600);
    write_file(files, "wrong", "hold \"h\"\nexpect release\n", 0600);
    write_file(files, "list", "hold \"h\" if any recipient in numbers\n", 0600);
    write_file(files, "numbers", "ann@example.org\nann@a_b@c\n", 0600);
    assert_refused(files, "lax", "lax:1: found release (line 1) for novel=1");
    assert_refused(files, "wrong", "wrong:2: found hold (line 1: h), expected release");
    assert_refused(files, "list", "numbers:2:1: found another line, expected an address or @");
}

static void
test_floor(Files *files, G_GNUC_UNUSED gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    const Facts facts = {0};

    write_file(files, "floor", "hold \"floor\"\n", 0600);
    write_file(files, "open", "release \"open\"\n", 0600);
    g_autoptr(Policy) floor = read_policy(files, "floor", NULL, &error);
    g_autoptr(Policy) policy = read_policy(files, "open", floor, &error);
    g_assert_no_error(error);
    g_autoptr(Verdict) verdict = policy_judge(policy, &facts, MODE_HYBRID, 0);
    g_assert_cmpstr(verdict->reason, ==, "floor");
}

/* The same policy from texts alone, for who cannot open the files; none is opened then. */
static void
test_texts(Files *files, G_GNUC_UNUSED gconstpointer data)
{
    g_autoptr(GError) error = NULL, missing = NULL;
    g_autoptr(GHashTable) texts =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    g_autofree char *path = g_build_filename(files->folder, "main", NULL);
    g_autofree char *list = g_build_filename(files->folder, "friends", NULL);

    g_autoptr(Policy) policy = policies_parse_keeping(path, texts, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(g_hash_table_size(texts), ==, 3);
    write_file(files, "friends", "nobody@example.org\n", 0600);
    g_autoptr(Policy) again = policies_parse_texts(path, texts, &error);
    g_assert_no_error(error);
    g_assert_cmpstr(policy_version(again), ==, policy_version(policy));
    g_hash_table_remove(texts, list);
    g_assert_null(policies_parse_texts(path, texts, &missing));
    g_assert_nonnull(strstr(missing->message, "friends"));
}

#define ADD(name, test)                                                                       \
    g_test_add("/policies/" name, Files, NULL, files_begin, test, files_end)

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    ADD("read (XB10)", test_read);
    ADD("modes (XF16)", test_modes);
    ADD("checked (XF10)", test_checked);
    ADD("floor", test_floor);
    ADD("texts", test_texts);
    return g_test_run();
}
