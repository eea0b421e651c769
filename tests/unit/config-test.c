/* exeat.conf: what it gives. */
#include "tests/unit/config-files.h"

#include "lib/error.h"

static void
test_defaults(void)
{
    g_autoptr(GError) error = NULL;
    Files files;

    files_begin(&files);
    g_autoptr(Config) config =
        read_text(&files, "# a comment; with # signs\n\n" GENERAL ACCOUNT, &error);
    g_assert_no_error(error);
    g_assert_cmpstr(config->path, ==, files.conf);
    g_assert_cmpstr(config->state, ==, LOCALSTATEDIR "/lib/exeat");
    g_assert_cmpstr(config->relay_socket, ==, RUNSTATEDIR "/exeat/relay.sock");
    g_assert_cmpstr(config->milter_socket, ==,
                    "unix:" RUNSTATEDIR "/exeat-milter/milter.sock");
    g_assert_cmpuint(config->milter_user, ==, 4001);
    g_assert_cmpstr(config->spool, ==, "/var/tmp");
    g_assert_cmpstr(config->hop.target, ==, "inet:127.0.0.1:10025");
    g_assert_true(config->hop.gated);
    g_assert_cmpint(config->expire, ==, 14 * 86400);
    g_assert_cmpint(config->approval_life, ==, 900);
    g_assert_cmpuint(config->size_limit, ==, 50 * 1024 * 1024);
    g_assert_cmpuint(config->hour_limit, ==, 300);
    g_assert_cmpuint(config->day_limit, ==, 1000);
    g_assert_cmpuint(config->record_limit, ==, 32 * 1024 * 1024);
    g_assert_cmpuint(config->refusal_limit, ==, 300);
    g_assert_cmpuint(config->waiting_limit, ==, 200);
    g_assert_cmpuint(config->hold_target, ==, 2);
    g_assert_cmpint(config->received_keep, ==, 90 * 24 * 3600);
    g_assert_cmpuint(config->received_limit, ==, 100000);

    const Account *account = config_account(config, "box");
    g_assert_nonnull(account);
    g_assert_cmpint(account->mode, ==, MODE_DRAFT); /* A37, E50 */
    g_assert_false(account->mark_automatic);
    g_assert_false(account->answer_later);
    g_assert_cmpuint(g_strv_length(account->senders), ==, 1);
    g_assert_cmpstr(account->senders[0], ==, "owner@example.com");
    g_assert_cmpuint(g_strv_length(account->human_logins), ==, 0);
    g_assert_true(g_str_has_prefix(config->notices_from, "exeat@"));
    g_assert_cmpstr(account->notices_to, ==, "");
    g_assert_cmpuint(g_strv_length(account->notify), ==, 0);
    g_assert_cmpuint(g_strv_length(account->notify_command), ==, 0);
    g_assert_false(account->heartbeat);
    g_assert_cmpstr(account->digest_to, ==, "");
    g_assert_nonnull(account->policy);
    g_assert_null(config_account(config, "Box"));
    files_end(&files);
}

static void
test_values(void)
{
    g_autoptr(GError) error = NULL;
    Files files;

    files_begin(&files);
    g_autoptr(Config) config = read_text(
        &files,
        "[account box]\naddresses = Owner@Example.COM, <o2@example.com>\nagent-logins = "
        "Agent\n"
        "human-logins = Owner , own\nsenders = agent@example.com\ninternal-domains = "
        "Example.COM.\n"
        "lists = All@example.com\nstop-address = Panic@example.com\napprovers = 4003, "
        "@4100\nagent-users = 4002\n"
        "policy = box.policy\nnotices-to = Box@Example.com\nnotify = Boss@example.com, "
        "b@c.de\n"
        "notify-heartbeat = yes\ndigest-to = d@example.com\n"
        "[exeat]\nnotices-from = Gate@example.com\nmilter-user = root\nnext-hop = "
        "unix:/run/door\nnext-hop-gated = no\n"
        "state = /s\nspool = /t\nrelay-socket = /r\nmilter-socket = inet:8891@127.0.0.1\n"
        "inside = 10.0.0.0/8\nadmins = 4004\nexpire = 90s\napproval-life = 6h\nsize-limit = "
        "7K\n"
        "hour-limit = 5\nday-limit = 6\nrecord-limit = 8K\nrefusal-limit = 7\n"
        "waiting-limit = 3\nheader-limit = 1M\nrecipient-limit = 10000\naudit-anchor = "
        "/bin/anchor  --to here\n"
        "received-keep = 30d\nreceived-limit = 500\n",
        &error);
    g_assert_no_error(error);
    g_assert_cmpuint(config->milter_user, ==, 0);
    g_assert_cmpstr(config->hop.target, ==, "unix:/run/door");
    g_assert_false(config->hop.gated);
    g_assert_cmpint(config->expire, ==, 90);
    g_assert_cmpint(config->approval_life, ==, 6 * 3600);
    g_assert_cmpuint(config->size_limit, ==, 7 * 1024);
    g_assert_cmpuint(config->hour_limit, ==, 5);
    g_assert_cmpuint(config->day_limit, ==, 6);
    g_assert_cmpuint(config->record_limit, ==, 8 * 1024);
    g_assert_cmpuint(config->refusal_limit, ==, 7);
    g_assert_cmpuint(config->waiting_limit, ==, 3);
    g_assert_cmpuint(config->header_limit, ==, 1024 * 1024);
    g_assert_cmpuint(config->recipient_limit, ==, 10000);
    g_assert_cmpint(config->received_keep, ==, 30 * 24 * 3600);
    g_assert_cmpuint(config->received_limit, ==, 500);
    g_assert_cmpuint(g_strv_length(config->anchor), ==, 3);
    g_assert_cmpstr(config->anchor[1], ==, "--to");
    g_assert_true(people_include(&config->admins, 4004, 4004));
    g_assert_false(people_include(&config->admins, 4003, 4100));

    const Account *account = config_account(config, "box");
    g_assert_cmpstr(account->addresses[0], ==, "owner@example.com");
    g_assert_cmpstr(account->addresses[1], ==, "o2@example.com");
    g_assert_cmpstr(account->internal[0], ==, "example.com");
    g_assert_cmpstr(account->lists[0], ==, "all@example.com");
    g_assert_cmpstr(account->stop_addresses[0], ==, "panic@example.com");
    g_assert_cmpstr(account->notices_to, ==, "Box@Example.com");
    g_assert_cmpstr(account->notify[0], ==, "Boss@example.com");
    g_assert_cmpuint(g_strv_length(account->notify), ==, 2);
    g_assert_true(account->heartbeat);
    g_assert_cmpstr(account->digest_to, ==, "d@example.com");
    g_assert_cmpstr(config->notices_from, ==, "Gate@example.com");
    g_assert_true(people_include(&account->approvers, 4003, 1));
    g_assert_true(people_include(&account->approvers, 4999, 4100));
    g_assert_false(people_include(&account->approvers, 4002, 4002));
    files_end(&files);
}

static void
test_lookups(void)
{
    static const struct {
        const char *login;
        const char *account;
        Role role;
    } LOGINS[] = {
        {"Agent@example.com", "box", ROLE_AGENT},
        {"agent@EXAMPLE.COM", "box", ROLE_AGENT},
        {"owner", "box", ROLE_HUMAN},
        {"ÖWNER", "box", ROLE_HUMAN},
        {"TWO", "two", ROLE_AGENT},
        {"agent", NULL, ROLE_NONE},
        {"", NULL, ROLE_NONE},
        {"two\xff", NULL, ROLE_NONE},
    };
    g_autoptr(GError) error = NULL;
    Files files;

    files_begin(&files);
    g_autoptr(Config) config = read_text(&files,
                                         GENERAL ACCOUNT "human-logins = Owner, öwner\n" SECOND
                                                         "senders = bot@example.com\n",
                                         &error);
    g_assert_no_error(error);
    for (gsize i = 0; i < G_N_ELEMENTS(LOGINS); i++) { /* H5 */
        Role role;
        const Account *account = config_login(config, LOGINS[i].login, &role);
        g_assert_cmpstr(account != NULL ? account->name : NULL, ==, LOGINS[i].account);
        g_assert_cmpint(role, ==, LOGINS[i].role);
    }
    g_assert_cmpstr(config_address(config, "owner@example.com")->name, ==, "box");
    g_assert_cmpstr(config_address(config, "two@example.com")->name, ==, "two");
    g_assert_cmpstr(config_address(config, "bot@example.com")->name, ==, "two");
    g_assert_null(config_address(config, "mallory@example.com"));
    files_end(&files);
}

/* The milter reads no policies; everybody else gets the policy's own message. */
static void
test_policies(void)
{
    g_autoptr(GError) error = NULL;
    Files files;

    files_begin(&files);
    write_file(files.policy, "perhaps\n", 8, 0600);
    write_file(files.conf, GENERAL ACCOUNT, strlen(GENERAL ACCOUNT), 0600);
    g_autoptr(Config) config = config_read(files.conf, FALSE, &error);
    g_assert_no_error(error);
    g_assert_null(config_account(config, "box")->policy);
    g_assert_null(config_read(files.conf, TRUE, &error));
    g_assert_error(error, POLICY_ERROR, POLICY_ERROR_SYNTAX);
    g_assert_nonnull(strstr(error->message, files.policy));
    files_end(&files);
}

/* The agent may run as the approver's user where a password tells them apart. */
static void
test_passwords(void)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *zeros = g_strnfill(96, '0');
    g_autofree char *line = g_strdup_printf("4002:%.32s:%.64s\n", zeros, zeros + 32);
    Files files;

    files_begin(&files);
    g_autofree char *path = g_build_filename(files.folder, "passwords", NULL);
    write_file(path, line, strlen(line), 0600);
    g_autoptr(Config) config = read_text(&files,
                                         GENERAL "approver-passwords = passwords\n" ACCOUNT
                                                 "agent-users = 4002\napprovers = 4002\n"
                                                 "approver-confirm = password\n",
                                         &error);
    g_assert_no_error(error);
    g_assert_true(config_account(config, "box")->confirm);
    g_assert_nonnull(passwords_find(config->passwords, 4002));
    g_unlink(path);
    files_end(&files);
}

/* A password that others may read is told as such, in whichever group it stands. */
static void
test_secrets(void)
{
    static const struct {
        const char *group, *key;
        mode_t mode;
        const char *expected; /* NULL: it is taken */
    } cases[] = {
        {GENERAL, "password", 0600, NULL},
        {GENERAL, "password", 0640,
         "found mode 0640, expected a file that only its owner may read"},
        {GENERAL, "token", 0604,
         "found mode 0604, expected a file that only its owner may read"},
        {"", "password", 0600, NULL},
        {"", "password", 0660,
         "found mode 0660, expected a file that only its owner may read"},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        g_autofree char *keys =
            g_strdup_printf("next-hop = inet:mx.test:465\nnext-hop-gated = no\n"
                            "next-hop-tls = implicit\nnext-hop-user = me\n"
                            "next-hop-%s-file = secret\n",
                            cases[i].key);
        gboolean general = *cases[i].group != '\0';
        g_autofree char *text = g_strconcat("[exeat]\nmilter-user = 4001\n",
                                            general ? keys : "next-hop = unix:/door\n",
                                            ACCOUNT, general ? "" : keys, NULL);
        Files files;

        files_begin(&files);
        g_autofree char *secret = g_build_filename(files.folder, "secret", NULL);
        write_file(secret, "pass\n", 5, cases[i].mode);
        g_autoptr(Config) config = read_text(&files, text, &error);
        if (cases[i].expected == NULL) {
            g_assert_no_error(error);
            const NextHop *hop = config_next_hop(config, "box");
            g_assert_true(hop ==
                          (general ? &config->hop : &config_account(config, "box")->hop));
            g_assert_cmpstr(hop->target, ==, "inet:mx.test:465");
            g_assert_cmpint(hop->tls, ==, SMTP_TLS_IMPLICIT);
            g_assert_cmpstr(hop->secret.password_file, ==, secret);
            g_assert_false(hop->gated);
            g_assert_true(config_next_hop(config, "nobody") == &config->hop);
        } else {
            g_assert_error(error, EXEAT_ERROR, ERROR_CONFIG);
            g_assert_nonnull(strstr(error->message, secret));
            g_assert_nonnull(strstr(error->message, cases[i].expected));
        }
        g_unlink(secret);
        files_end(&files);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/config/defaults A37 E21", test_defaults);
    g_test_add_func("/config/values", test_values);
    g_test_add_func("/config/lookups H5", test_lookups);
    g_test_add_func("/config/policies", test_policies);
    g_test_add_func("/config/passwords", test_passwords);
    g_test_add_func("/config/next-hop-secrets", test_secrets);
    return g_test_run();
}
