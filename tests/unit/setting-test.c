/* Values by kind: what each reader takes, and what it refuses when the file is read (XF10). */
#include "lib/setting.h"

#include <string.h>

#include "lib/error.h"
#include "lib/people.h"

#define A10  "aaaaaaaaaa"
#define A100 A10 A10 A10 A10 A10 A10 A10 A10 A10 A10

/* A reader, a text, and what stands behind "found “…”, expected". */
typedef struct {
    SettingReader read;
    const char *text;
    const char *expected;
} Refusal;

#define PATH      "a path that starts with /"
#define SOCKET    "a path that starts with /, of at most 107 bytes"
#define MILTER    "unix:/path of at most 107 bytes, inet:port@host or inet6:port@host"
#define NEXT_HOP  "unix:/path of at most 107 bytes or inet:host:port"
#define DURATION  "a time such as 90s, 15m, 6h or 14d"
#define SIZE      "a size in bytes, or such as 100K, 50M or 1G"
#define COUNT     "a number from 1 to 1000000"
#define NETWORK   "an address or a network such as 192.0.2.0/24 or 2001:db8::/32"
#define DOMAIN    "the exact name of a domain, without * or a leading dot"
#define ALIASES   "virtual:/path or aliases:/path"
#define COMMAND   "a program that starts with /, and its arguments"
#define USER      "a user of this machine"
#define PERSON    "a user or @group of this machine"
#define NO_QUOTES "entries with commas between them and no quotes"
#define NO_EMPTY  "no empty entry between the commas"
#define EACH_ONCE "each entry once"

static const Refusal REFUSALS[] = {
    {setting_folder, "var/lib", PATH},
    {setting_socket, "run/x", SOCKET},
    {setting_socket, "unix:/run/x", SOCKET},
    {setting_socket, "/" A100 "aaaaaaa", SOCKET},
    {setting_milter_socket, "/run/x", MILTER},
    {setting_milter_socket, "unix:run/x", MILTER},
    {setting_milter_socket, "unix:/" A100 "aaaaaaa", MILTER},
    {setting_milter_socket, "inet:8891", MILTER},
    {setting_milter_socket, "inet:8891@", MILTER},
    {setting_milter_socket, "inet:x@y", MILTER},
    {setting_next_hop, "127.0.0.1:25", NEXT_HOP},
    {setting_next_hop, "inet:host", NEXT_HOP},
    {setting_next_hop, "inet::25", NEXT_HOP},
    {setting_next_hop, "inet:host:0", NEXT_HOP},
    {setting_next_hop, "inet:host:65536", NEXT_HOP},
    {setting_alias_files, "/etc/aliases", ALIASES},
    {setting_alias_files, "hash:/etc/aliases", ALIASES},
    {setting_alias_files, "aliases:etc/aliases", ALIASES},
    {setting_command, "anchor", COMMAND},
    {setting_command, "./anchor /x", COMMAND},
    {setting_switch, "true", "yes or no"},
    {setting_switch, "Yes", "yes or no"},
    {setting_duration, "14", DURATION},
    {setting_duration, "0m", DURATION},
    {setting_duration, "-5m", DURATION},
    {setting_duration, "1d2h", DURATION},
    {setting_duration, "1D", DURATION},
    {setting_duration, "d", DURATION},
    {setting_duration, "9999999999d", DURATION},
    {setting_size, "50MB", SIZE},
    {setting_size, "0", SIZE},
    {setting_size, "1.5M", SIZE},
    {setting_count, "0", COUNT},
    {setting_count, "1000001", COUNT},
    {setting_count, "+1", COUNT},
    {setting_networks, "localhost", NETWORK},
    {setting_networks, "10.0.0.1/8", NETWORK},
    {setting_user, "no-such-user-here", USER},
    {setting_user, "4294967295", USER},
    {setting_people, "no-such-user-here", PERSON},
    {setting_people, "@no-such-group-here", PERSON},
    {setting_people, "@", PERSON},
    {setting_people, "4001, 4001", "each entry once"},
    {setting_people, "@4100, @4100", "each entry once"},
    {setting_people, "root, 0", "each entry once"},
    {setting_addresses, "owner", "an address"},
    {setting_logins, "a b", "a login without spaces"},
    {setting_logins, "a,,b", NO_EMPTY},
    {setting_logins, "a,", NO_EMPTY},
    {setting_logins, ",", NO_EMPTY},
    {setting_logins, "\"a,b\"", NO_QUOTES},
    /* XB29: no way to write a domain that covers more than its name */
    {setting_domains, "*", DOMAIN},
    {setting_domains, "*.example.com", DOMAIN},
    {setting_domains, ".example.com", DOMAIN},
    {setting_domains, "example..com", DOMAIN},
    {setting_domains, "example.com example.net", DOMAIN},
    {setting_domains, "owner@example.com", DOMAIN},
    {setting_domains, "\"example.com,example.net\"", NO_QUOTES},
    {setting_domains, "'example.com'", NO_QUOTES},
};

static void
test_refusals(void)
{
    g_autoptr(KeyFile) file = keyfile_parse("", "f", NULL);
    const SettingPlace place = {file, 7};

    for (gsize i = 0; i < G_N_ELEMENTS(REFUSALS); i++) {
        g_autoptr(GError) error = NULL;
        g_autofree char *expected = g_strconcat("”, expected ", REFUSALS[i].expected, NULL);
        g_auto(People)
            member; /* setting_people adds to it, the others refuse before they write */
        people_init(&member);
        g_assert_false(REFUSALS[i].read(&place, REFUSALS[i].text, &member, &error));
        g_assert_error(error, EXEAT_ERROR, ERROR_CONFIG);
        g_assert_true(g_str_has_prefix(error->message, "f:7: found “"));
        if (!g_str_has_suffix(error->message, expected))
            g_error("said “%s”, expected “%s”", error->message, REFUSALS[i].expected);
    }
}

/* Each entry once, however it is spelled. */
static void
test_repeated(void)
{
    static const struct {
        SettingReader read;
        const char *text;
    } ROWS[] = {
        {setting_addresses, "a@example.com, A@Example.COM."},
        {setting_domains, "example.com,EXAMPLE.com"},
        {setting_logins, "agent, Agent"},
        {setting_networks, "::1/128, ::1/128"},
    };
    g_autoptr(KeyFile) file = keyfile_parse("", "f", NULL);
    const SettingPlace place = {file, 7};

    for (gsize i = 0; i < G_N_ELEMENTS(ROWS); i++) {
        g_autoptr(GError) error = NULL;
        char **member = NULL;
        g_assert_false(ROWS[i].read(&place, ROWS[i].text, &member, &error));
        g_assert_true(g_str_has_suffix(error->message, "”, expected each entry once"));
        g_assert_null(member);
    }
}

static void
test_amounts(void)
{
    static const struct {
        SettingReader read;
        const char *text;
        gint64 number;
    } ROWS[] = {
        {setting_duration, "90s", 90},
        {setting_duration, "15m", 900},
        {setting_duration, "6h", 21600},
        {setting_duration, "14d", 1209600},
        {setting_duration, "999999999d", G_GINT64_CONSTANT(86399999913600)},
        {setting_size, "1", 1},
        {setting_size, "100K", 102400},
        {setting_size, "50M", 52428800},
        {setting_size, "999999999G", G_GINT64_CONSTANT(1073741822926258176)},
    };
    g_autoptr(KeyFile) file = keyfile_parse("", "f", NULL);
    const SettingPlace place = {file, 7};

    for (gsize i = 0; i < G_N_ELEMENTS(ROWS); i++) {
        gint64 number = 0;
        g_assert_true(ROWS[i].read(&place, ROWS[i].text, &number, NULL));
        g_assert_cmpint(number, ==, ROWS[i].number);
    }
}

static void
test_texts(void)
{
    static const struct {
        SettingReader read;
        const char *text;
    } ROWS[] = {
        {setting_folder, "/var/lib/exeat"},
        {setting_file, "box.policy"},
        {setting_socket, "/" A100 "aaaaaa"},
        {setting_milter_socket, "unix:/run/exeat-milter/milter.sock"},
        {setting_milter_socket, "inet:8891@127.0.0.1"},
        {setting_milter_socket, "inet6:8891@[::1]"},
        {setting_next_hop, "unix:/var/spool/postfix/public/door"},
        {setting_next_hop, "inet:127.0.0.1:10025"},
        {setting_next_hop, "inet:[::1]:10025"},
    };
    g_autoptr(KeyFile) file = keyfile_parse("", "f", NULL);
    const SettingPlace place = {file, 7};

    for (gsize i = 0; i < G_N_ELEMENTS(ROWS); i++) {
        g_autofree char *text = NULL;
        g_assert_true(ROWS[i].read(&place, ROWS[i].text, &text, NULL));
        g_assert_cmpstr(text, ==, ROWS[i].text);
    }
}

static void
test_lists(void)
{
    static const struct {
        SettingReader read;
        const char *text;
        const char *joined;
    } ROWS[] = {
        {setting_addresses, "", ""},
        {setting_addresses, "Owner@Example.COM., <b@example.com>",
         "owner@example.com b@example.com"},
        {setting_domains, "Example.COM. ,bücher.example", "example.com xn--bcher-kva.example"},
        {setting_logins, "Agent, ÄGENT", "agent ägent"}, /* H5 */
        {setting_networks, "127.0.0.0/8, ::1", "127.0.0.0/8 ::1"},
    };
    g_autoptr(KeyFile) file = keyfile_parse("", "f", NULL);
    const SettingPlace place = {file, 7};

    for (gsize i = 0; i < G_N_ELEMENTS(ROWS); i++) {
        g_auto(GStrv) list = NULL;
        g_assert_true(ROWS[i].read(&place, ROWS[i].text, &list, NULL));
        g_autofree char *joined = g_strjoinv(" ", list);
        g_assert_cmpstr(joined, ==, ROWS[i].joined);
    }
}

static void
test_people(void)
{
    g_autoptr(KeyFile) file = keyfile_parse("", "f", NULL);
    const SettingPlace place = {file, 7};
    g_auto(People) people;
    uid_t uid = 1;

    people_init(&people);
    g_assert_true(setting_people(&place, "root, 4001, @4100", &people, NULL));
    g_assert_true(people_include(&people, 0, 4999));
    g_assert_true(people_include(&people, 4001, 4999));
    g_assert_true(people_include(&people, 4999, 4100));
    g_assert_false(people_include(&people, 4100, 4001));
    g_assert_true(setting_user(&place, "root", &uid, NULL));
    g_assert_cmpuint(uid, ==, 0);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/setting/refusals XB29", test_refusals);
    g_test_add_func("/setting/repeated", test_repeated);
    g_test_add_func("/setting/amounts", test_amounts);
    g_test_add_func("/setting/texts", test_texts);
    g_test_add_func("/setting/lists H5", test_lists);
    g_test_add_func("/setting/people", test_people);
    return g_test_run();
}
