/* aliases-test - where an inside address leads, in the words of virtual(5) and aliases(5) */
#include "lib/aliases.h"

#include <string.h>
#include <sys/stat.h>

#include <glib/gstdio.h>

#include "lib/error.h"

#define INSIDE 0
#define OUT    1
#define MANY   2

typedef struct {
    char *folder;
    char *virtual_file;
    char *local_file;
    char *included;
} Files;

static void
write_file(const char *path, const char *text)
{
    g_autoptr(GError) error = NULL;

    g_file_set_contents(path, text, -1, &error);
    g_assert_no_error(error);
    g_assert_cmpint(g_chmod(path, 0644), ==, 0);
}

static void
files_begin(Files *files)
{
    g_autoptr(GError) error = NULL;

    files->folder = g_dir_make_tmp("exeat-aliases-XXXXXX", &error);
    g_assert_no_error(error);
    files->virtual_file = g_build_filename(files->folder, "virtual", NULL);
    files->local_file = g_build_filename(files->folder, "aliases", NULL);
    files->included = g_build_filename(files->folder, "included", NULL);
}

static void
files_end(Files *files)
{
    g_unlink(files->virtual_file);
    g_unlink(files->local_file);
    g_unlink(files->included);
    g_assert_cmpint(g_rmdir(files->folder), ==, 0);
    g_free(files->folder);
    g_free(files->virtual_file);
    g_free(files->local_file);
    g_free(files->included);
}

/* Both files; %INCLUDED% in the second is the path of the third. */
static Aliases *
read_files(const Files *files, const char *virtual_text, const char *local_text,
           GError **error)
{
    g_autoptr(GString) local = g_string_new(local_text);
    g_autofree char *first = g_strconcat("virtual:", files->virtual_file, NULL);
    g_autofree char *second = g_strconcat("aliases:", files->local_file, NULL);
    char *const names[] = {first, second, NULL};

    g_string_replace(local, "%INCLUDED%", files->included, 0);
    write_file(files->virtual_file, virtual_text);
    write_file(files->local_file, local->str);
    return aliases_read(names, error);
}

static const struct {
    const char *name;
    const char *virtual_text;
    const char *local_text;
    const char *address;
    guint lead;
} rows[] = {
    {"no alias", "", "", "team@example.com", INSIDE},
    {"XA11 stranger", "team@example.com stranger@example.net\n", "", "team@example.com", OUT},
    {"other address", "team@example.com stranger@example.net\n", "", "dana@example.com",
     INSIDE},
    {"case", "TEAM@Example.COM stranger@example.net\n", "", "team@example.com", OUT},
    {"quotes", "\"team\"@example.com stranger@example.net\n", "", "team@example.com", OUT},
    {"tab and comma", "team@example.com\tdana@example.com,stranger@example.net\n", "",
     "team@example.com", OUT | MANY},
    {"colleagues", "team@example.com dana@example.com, lee@example.com\n", "",
     "team@example.com", MANY},
    {"one colleague", "team@example.com dana@example.com\n", "", "team@example.com", INSIDE},
    {"one colleague twice", "team@example.com dana@example.com, dana@example.com\n", "",
     "team@example.com", INSIDE},
    {"two steps", "a@example.com b@example.com\nb@example.com x@example.net\n", "",
     "a@example.com", OUT},
    {"loop", "a@example.com b@example.com\nb@example.com a@example.com\n", "", "a@example.com",
     INSIDE},
    {"itself", "a@example.com a@example.com\n", "", "a@example.com", INSIDE},
    {"itself and others", "a@example.com a@example.com x@example.net\n", "", "a@example.com",
     OUT | MANY},
    {"subdomain is outside", "a@example.com a@mail.example.com\n", "", "a@example.com", OUT},
    {"second internal domain", "a@example.com a@example.org\n", "", "a@example.com", INSIDE},
    {"catch-all", "@example.com stranger@example.net\n", "", "dana@example.com", OUT},
    {"catch-all, but known", "@example.com x@example.net\ndana@example.com dana\n", "",
     "dana@example.com", INSIDE},
    {"catch-all inside", "@example.com dana@example.com\n", "", "lee@example.com", INSIDE},
    {"whole domain moved", "@example.com @example.net\n", "", "dana@example.com", OUT},
    {"whole domain moved inside",
     "@example.com @example.org\ndana@example.org x@example.net\n", "", "dana@example.com",
     OUT},
    {"alias domain", "example.org anything\na@example.org dana@example.com\n", "",
     "a@example.org", INSIDE},
    {"name in any domain", "info stranger@example.net\n", "", "info@example.org", OUT},
    {"extension", "team@example.com x@example.net\n", "", "team+news@example.com", OUT},
    {"extension with a hyphen", "team@example.com x@example.net\n", "",
     "team-news@example.com", OUT},
    {"extension of its own", "team@example.com x@example.net\nteam+news@example.com dana\n",
     "", "team+news@example.com", INSIDE},
    {"extension or catch-all", "team@example.com dana\n@example.com x@example.net\n", "",
     "team+news@example.com", OUT | MANY},
    {"name without domain", "", "team: stranger@example.net\n", "team@example.com", OUT},
    {"no space", "", "team:stranger@example.net\n", "team@example.com", OUT},
    {"name in quotes", "", "\"team\" : \"stranger@example.net\"\n", "team@example.com", OUT},
    {"names", "", "team: dana, lee\n", "team@example.com", MANY},
    {"root", "", "postmaster: root\nroot: dana\n", "postmaster@example.com", INSIDE},
    {"root outside", "", "postmaster: root\nroot: x@example.net\n", "postmaster@example.com",
     OUT},
    {"mailbox of the same name", "", "dana: \\dana\n", "dana@example.com", INSIDE},
    {"mailbox and copy", "", "dana: \\dana, x@example.net\n", "dana@example.com", OUT | MANY},
    {"command", "", "bot: |/usr/bin/bot\n", "bot@example.com", OUT | MANY},
    {"command in quotes", "", "bot: \"|/usr/bin/bot -x, y\"\n", "bot@example.com", OUT | MANY},
    {"command, then quotes", "", "bot: |\"/usr/bin/bot -x\"\n", "bot@example.com", OUT | MANY},
    {"file", "", "log: /var/log/mail.txt\n", "log@example.com", INSIDE},
    {"file and mailbox", "", "dana: dana, \"/srv/copy\"\n", "dana@example.com", INSIDE},
    {"percent", "", "a: x%example.net\n", "a@example.com", OUT | MANY},
    {"bang", "", "a: example.net!x\n", "a@example.com", OUT | MANY},
    {"source route", "", "a: @example.com:x@example.net\n", "a@example.com", OUT | MANY},
    {"address literal", "", "a: x@[192.0.2.1]\n", "a@example.com", OUT},
    {"no address", "", "a: x@\n", "a@example.com", OUT | MANY},
    {"quote never closed", "", "a: \"x, dana\n", "a@example.com", OUT | MANY},
    {"included", "", "team: :include:%INCLUDED%\n", "team@example.com", OUT | MANY},
    {"included, quoted", "", "team: \":include:%INCLUDED%\"\n", "team@example.com",
     OUT | MANY},
    {"included file is missing", "", "team: :include:/nowhere/at/all\n", "team@example.com",
     OUT | MANY},
    {"virtual, then local", "team@example.com team\n", "team: x@example.net\n",
     "team@example.com", OUT},
    {"virtual, itself, then local", "team@example.com team@example.com\n",
     "team: x@example.net\n", "team@example.com", OUT},
    {"virtual instead of local", "team@example.com dana\n", "team: x@example.net\n",
     "team@example.com", INSIDE},
    {"name in the other domain", "team@example.com dana\ndana@example.org x@example.net\n", "",
     "team@example.com", OUT | MANY},
    {"local name, virtual again", "dana@example.com x@example.net\n", "team: dana\n",
     "team@example.com", OUT | MANY},
    {"comments and long lines",
     "# team@example.com a\n\n  # b\nteam@example.com\n  dana@example.com,\n# c\n\n"
     "\tstranger@example.net\n",
     "", "team@example.com", OUT | MANY},
    {"stands twice", "a@example.com dana@example.com\na@example.com x@example.net\n", "",
     "a@example.com", OUT | MANY},
    {"line ends of DOS", "team@example.com stranger@example.net\r\n", "", "team@example.com",
     OUT},
};

static void
test_row(gconstpointer data)
{
    gsize i = GPOINTER_TO_SIZE(data);
    char *const internal[] = {(char *)"example.com", (char *)"example.org", NULL};
    g_autoptr(GError) error = NULL;
    AliasLead lead = {0};
    Files files;

    files_begin(&files);
    write_file(files.included, "# staff\ndana@example.com\nlee, stranger@example.net\n");
    g_autoptr(Aliases) aliases =
        read_files(&files, rows[i].virtual_text, rows[i].local_text, &error);
    g_assert_no_error(error);
    aliases_follow(aliases, rows[i].address, internal, &lead);
    g_assert_cmpint(lead.outside, ==, (rows[i].lead & OUT) != 0);
    g_assert_cmpint(lead.many, ==, (rows[i].lead & MANY) != 0);
    files_end(&files);
}

/* An included file that somebody else may write says nothing, and one inside it neither. */
static void
test_included(void)
{
    char *const internal[] = {(char *)"example.com", NULL};
    g_autoptr(GError) error = NULL;
    AliasLead lead = {0};
    Files files;

    files_begin(&files);
    write_file(files.included, "dana\n");
    g_autoptr(Aliases) trusted = read_files(&files, "", "a: :include:%INCLUDED%\n", &error);
    aliases_follow(trusted, "a@example.com", internal, &lead);
    g_assert_false(lead.outside || lead.many);

    g_assert_cmpint(g_chmod(files.included, 0666), ==, 0);
    g_autoptr(Aliases) open = read_files(&files, "", "a: :include:%INCLUDED%\n", &error);
    aliases_follow(open, "a@example.com", internal, &lead);
    g_assert_true(lead.outside && lead.many);

    g_autofree char *itself = g_strdup_printf(":include:%s\n", files.included);
    write_file(files.included, itself);
    g_autoptr(Aliases) nested = read_files(&files, "", "a: :include:%INCLUDED%\n", &error);
    g_assert_no_error(error);
    aliases_follow(nested, "a@example.com", internal, &lead);
    g_assert_true(lead.outside && lead.many);
    files_end(&files);
}

/* So long that nobody follows it to its end. */
static void
test_long_chain(void)
{
    char *const internal[] = {(char *)"example.com", NULL};
    g_autoptr(GString) chain = g_string_new(NULL);
    g_autoptr(GError) error = NULL;
    AliasLead lead = {0};
    Files files;

    files_begin(&files);
    for (guint i = 0; i < 5000; i++)
        g_string_append_printf(chain, "a%u: a%u\n", i, i + 1);
    g_autoptr(Aliases) aliases = read_files(&files, "", chain->str, &error);
    g_assert_no_error(error);
    aliases_follow(aliases, "a3000@example.com", internal, &lead);
    g_assert_true(lead.outside);
    aliases_follow(aliases, "a4900@example.com", internal, &lead);
    g_assert_false(lead.outside);
    files_end(&files);
}

/* The table of a place with many: more than a file of ours may have. */
static void
test_large(void)
{
    char *const internal[] = {(char *)"example.com", NULL};
    g_autoptr(GString) table = g_string_new(NULL);
    g_autoptr(GError) error = NULL;
    AliasLead lead = {0};
    Files files;

    files_begin(&files);
    for (guint i = 0; i < 60000; i++)
        g_string_append_printf(table, "list%u@example.com  dana@example.com\n", i);
    g_string_append(table, "last@example.com  stranger@example.net\n");
    g_autoptr(Aliases) aliases = read_files(&files, table->str, "", &error);
    g_assert_no_error(error);
    aliases_follow(aliases, "last@example.com", internal, &lead);
    g_assert_true(lead.outside);
    files_end(&files);
}

static const struct {
    const char *virtual_text;
    const char *local_text;
    const char *expected; /* in the message */
} refusals[] = {
    {"team@example.com\n", "", "/virtual:1: found “team@example.com”, expected an address"},
    {"# a\n\n  team\n", "", "/virtual:3: found “team”, expected a line that does not begin"},
    {"a b\n/^team@/ x@example.net\n", "", "/virtual:2: found “/^team@/ x@example.net”"},
    {"a@b@c x\n", "", "/virtual:1: found “a@b@c x”"},
    {"", "team stranger@example.net\n", "/aliases:1: found “team stranger@example.net”"},
    {"", "team@example.com: x\n", "/aliases:1: found “team@example.com: x”, expected a name"},
    {"", "ok: x\nteam:\n", "/aliases:2: found “team:”"},
    {"", ": x\n", "/aliases:1: found “: x”"},
};

/* XF10: all or nothing. */
static void
test_refusals(void)
{
    Files files;

    files_begin(&files);
    for (gsize i = 0; i < G_N_ELEMENTS(refusals); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(Aliases) aliases =
            read_files(&files, refusals[i].virtual_text, refusals[i].local_text, &error);
        g_assert_null(aliases);
        g_assert_error(error, EXEAT_ERROR, ERROR_CONFIG);
        if (strstr(error->message, refusals[i].expected) == NULL)
            g_error("said “%s”, expected “%s”", error->message, refusals[i].expected);
    }
    files_end(&files);
}

/* XF16: as with a policy. */
static void
test_untrusted(void)
{
    g_autoptr(GError) error = NULL;
    Files files;

    files_begin(&files);
    write_file(files.local_file, "a: b\n");
    g_assert_cmpint(g_chmod(files.local_file, 0664), ==, 0);
    g_autofree char *name = g_strconcat("aliases:", files.local_file, NULL);
    char *const names[] = {name, NULL};
    g_assert_null(aliases_read(names, &error));
    g_assert_error(error, EXEAT_ERROR, ERROR_CONFIG);
    files_end(&files);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *path = g_strconcat("/aliases/lead/", rows[i].name, NULL);
        g_test_add_data_func(path, GSIZE_TO_POINTER(i), test_row);
    }
    g_test_add_func("/aliases/included", test_included);
    g_test_add_func("/aliases/long chain", test_long_chain);
    g_test_add_func("/aliases/large", test_large);
    g_test_add_func("/aliases/refusals XF10", test_refusals);
    g_test_add_func("/aliases/untrusted XF16", test_untrusted);
    return g_test_run();
}
