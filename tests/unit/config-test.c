/* exeat.conf: what it gives, and above all what it refuses. */
#include <config.h>

#include "lib/config.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <grp.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/error.h"

#define POLICY  "hold \"all\" if recipients > 0\n"
#define GENERAL "[exeat]\nmilter-user = 4001\nnext-hop = inet:127.0.0.1:10025\n"
#define ACCOUNT                                                                               \
    "[account box]\naddresses = owner@example.com\nagent-logins = Agent@example.com\n"        \
    "internal-domains = example.com\npolicy = box.policy\n"
#define SECOND                                                                                \
    "[account two]\ninternal-domains = example.com\npolicy = box.policy\n"                    \
    "addresses = two@example.com\nagent-logins = two\n"

typedef struct {
    char *folder;
    char *conf;
    char *policy;
} Files;

static void
write_file(const char *path, const char *text, gsize length, mode_t mode)
{
    g_autoptr(GError) error = NULL;

    g_file_set_contents(path, text, (gssize)length, &error);
    g_assert_no_error(error);
    g_assert_cmpint(chmod(path, mode), ==, 0);
}

static void
files_begin(Files *files)
{
    g_autoptr(GError) error = NULL;

    files->folder = g_dir_make_tmp("exeat-config-XXXXXX", &error);
    g_assert_no_error(error);
    files->conf = g_build_filename(files->folder, "exeat.conf", NULL);
    files->policy = g_build_filename(files->folder, "box.policy", NULL);
    write_file(files->policy, POLICY, strlen(POLICY), 0600);
}

static void
files_end(Files *files)
{
    g_unlink(files->conf);
    g_unlink(files->policy);
    g_assert_cmpint(g_rmdir(files->folder), ==, 0);
    g_free(files->folder);
    g_free(files->conf);
    g_free(files->policy);
}

static Config *
read_text(const Files *files, const char *text, GError **error)
{
    write_file(files->conf, text, strlen(text), 0600);
    return config_read(files->conf, TRUE, error);
}

static void
assert_refused(const Files *files, const char *text, const char *expected)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(Config) config = read_text(files, text, &error);

    g_assert_null(config);
    g_assert_nonnull(error);
    if (strstr(error->message, expected) == NULL)
        g_error("said “%s”, expected “%s”", error->message, expected);
}

/* text: the whole file. expected: part of the message, after the file's name. */
typedef struct {
    const char *name;
    const char *text;
    const char *expected;
} Refusal;

static const Refusal REFUSALS[] = {
    {"no-exeat", ACCOUNT, "found no [exeat], expected one"},
    {"no-account", GENERAL, "found no [account NAME], expected one"},
    {"account-name", GENERAL "[account a b]\n", ":4: found “a b”, expected an account name"},
    {"account-no-name", GENERAL "[account ]\n", "expected an account name"},
    {"no-milter-user", "[exeat]\nnext-hop = inet:a:1\n" ACCOUNT,
     ":1: found “exeat”, expected the key “milter-user” in this group"},
    {"no-next-hop", "[exeat]\nmilter-user = 1\n" ACCOUNT, "the key “next-hop”"},
    {"aliases-missing XF10", GENERAL "aliases = virtual:/nowhere/at/all\n" ACCOUNT,
     "/nowhere/at/all: "},
    {"no-addresses XA20",
     GENERAL
     "[account b]\nagent-logins = b\ninternal-domains = example.com\npolicy = box.policy\n",
     ":4: found “account b”, expected the key “addresses”"},
    {"no-agent-logins", GENERAL "[account b]\naddresses = b@example.com\n",
     "the key “agent-logins”"},
    {"no-internal XA20",
     GENERAL "[account b]\naddresses = b@example.com\nagent-logins = b\npolicy = box.policy\n",
     "the key “internal-domains”"},
    {"no-policy",
     GENERAL "[account b]\naddresses = b@example.com\nagent-logins = b\ninternal-domains = "
             "example.com\n",
     "the key “policy”"},
    {"address", GENERAL "[account b]\naddresses = owner\n",
     "found “owner”, expected an address"},
    {"notices-from-account", GENERAL "notices-from = Owner@example.com\n" ACCOUNT,
     ":4: found “Owner@example.com”, expected an address that is no account's"},
    {"notices-to-utf8", GENERAL ACCOUNT "notices-to = b\xc3\xb6x@example.com\n",
     "expected an address of ASCII characters"},
    {"drafts-no-secret", GENERAL ACCOUNT "drafts = imaps://o@mx.test\n",
     ":9: found “drafts”, expected one of “drafts-password-file”"},
    {"drafts-two-secrets",
     GENERAL ACCOUNT "drafts = imaps://o@mx.test\ndrafts-password-file = box.policy\n"
                     "drafts-token-command = /bin/token\n",
     "found “drafts”, expected one of"},
    {"drafts-alone", GENERAL ACCOUNT "drafts-sent = Sent\n",
     "found “drafts-sent”, expected the key “drafts”"},
    {"drafts-password-in-it", GENERAL ACCOUNT "drafts = imaps://o:secret@mx.test\n",
     ":9: found a password in the address, expected imaps://"},
    {"drafts-no-file XF10",
     GENERAL ACCOUNT "drafts = imaps://o@mx.test\ndrafts-password-file = nowhere\n",
     "/nowhere"},
    {"reconcile-no-path", GENERAL "reconcile-command = look\n" ACCOUNT,
     "found “look”, expected"},
    {"notify-twice", GENERAL ACCOUNT "notify = a@example.com\nnotify-command = /bin/tell\n",
     ":10: found “notify-command”, expected no such key beside “notify”"},
    {"notify-no-path", GENERAL ACCOUNT "notify-command = tell\n",
     "expected a program that starts with /"},
    {"heartbeat-to-nobody A19", GENERAL ACCOUNT "notify-heartbeat = yes\n",
     ":9: found “notify-heartbeat”, expected the key “notify” or “notify-command”, too"},
    {"login-two-accounts H5", GENERAL ACCOUNT SECOND "human-logins = AGENT@example.com\n",
     "a login that has no other role and no other account"},
    {"address-two-accounts", GENERAL ACCOUNT SECOND "senders = Owner@example.com\n",
     "found “owner@example.com”, expected an address that belongs to no other account"},
    {"agent-approver-elsewhere XC1",
     GENERAL ACCOUNT "agent-users = 4002\n" SECOND "approvers = 4002\n", "found “user 4002”"},
    {"password-no-file", GENERAL ACCOUNT "approvers = 4002\napprover-confirm = password\n",
     ":10: found “password”, expected the key “approver-passwords” in [exeat] as well"},
    {"password-file-missing",
     GENERAL "approver-passwords = nowhere\n" ACCOUNT
             "approvers = 4002\napprover-confirm = password\n",
     "/nowhere: "},
    {"confirm-unknown", GENERAL ACCOUNT "approver-confirm = yes\n",
     ":9: found “yes”, expected user or password"},
    {"answer-unknown", GENERAL ACCOUNT "answer = 451\n",
     ":9: found “451”, expected now or later"},
    {"password-agent-admin XC1",
     GENERAL "admins = 4002\napprover-passwords = box.policy\n" ACCOUNT
             "agent-users = 4002\napprovers = 4002\napprover-confirm = password\n",
     "found “user 4002”, expected nobody who is an agent's user"},
    {"policy-missing",
     GENERAL "[account b]\naddresses = b@example.com\nagent-logins = b\ninternal-domains = "
             "example.com\npolicy = other.policy\n",
     ":8: "},
};

/* Lines more in the general group, from line 4, or in the account's, from line 10. */
typedef struct {
    const char *name;
    const char *general;
    const char *account;
    const char *expected;
} LineRefusal;

static const LineRefusal LINES[] = {
    {"unknown-group", "", "[acount x]", ":10: found “acount x”, expected [exeat] or"},
    {"account-twice", "", "[account box]", "it began in line 5"},
    {"key-case", "State = /a", "",
     "found “State”, expected a key of [exeat] (did you mean “state”?)"},
    {"key-unknown", "aprovers = root", "", ":4: found “aprovers”"},
    {"tls-unknown", "next-hop-tls = tls", "",
     "found “tls”, expected none, starttls or implicit"},
    {"auth-unknown", "next-hop-auth = NTLM", "",
     ":4: found “NTLM”, expected automatic, SCRAM"},
    {"ca-without-tls", "next-hop-ca = /ca", "",
     ":4: found “next-hop-ca”, expected the key “next"},
    {"certificate-without-key", "next-hop-tls = implicit\nnext-hop-certificate = c", "",
     ":5: found “next-hop-certificate”, expected the key “next-hop-key”"},
    {"key-without-certificate", "next-hop-tls = implicit\nnext-hop-key = k", "",
     ":5: found “next-hop-key”, expected the key “next-hop-certificate”"},
    {"user-without-secret", "next-hop-tls = implicit\nnext-hop-user = u", "",
     ":5: found “next-hop-user”, expected one of “next-hop-password-file”"},
    {"two-secrets",
     "next-hop-tls = implicit\nnext-hop-user = u\nnext-hop-token-file = t\n"
     "next-hop-token-command = /bin/t",
     "", ":5: found “next-hop-user”, expected one of"},
    {"secret-without-user", "next-hop-password-file = p", "",
     ":4: found “next-hop-password-file”, expected the key “next-hop-user”"},
    {"secret-in-the-clear", "next-hop-user = u\nnext-hop-password-file = p", "",
     ":4: found “next-hop-user”, expected the key “next-hop-tls” in this group, too: no "
     "password"},
    {"auth-for-a-token",
     "next-hop-tls = implicit\nnext-hop-user = u\nnext-hop-token-file = t\n"
     "next-hop-auth = PLAIN",
     "", ":7: found “next-hop-auth”, expected OAUTHBEARER or XOAUTH2 with a token"},
    {"token-command", "next-hop-token-command = token", "", "a program that starts with /"},
    {"account-without-hop", "", "next-hop-tls = implicit",
     "found “next-hop-tls”, expected the key “next-hop” in this group, too"},
    {"account-tls-on-socket", "", "next-hop = unix:/s\nnext-hop-tls = implicit",
     "found “next-hop-tls”, expected none for a unix socket"},
    {"password-missing",
     "next-hop-tls = implicit\nnext-hop-user = u\nnext-hop-password-file = none", "",
     "/none: No such file"},
    {"floor-missing", "floor = none", "", "/exeat.conf:4: "},
    {"not-utf8", "state = /\xff", "", ":4: found a byte that is not UTF-8"},
    {"no-approvers", "", "mode = review",
     ":5: found “account box”, expected the key “approvers” in this group, or mode = draft"},
    {"user", "admins = no-such-user-here", "",
     ":4: found “no-such-user-here”, expected a user or @group"},
    {"mode", "", "mode = auto", "found “auto”, expected draft, review or hybrid"},
    {"login-two-roles", "", "human-logins = agent@EXAMPLE.com",
     ":7: found “agent@example.com”, expected a login that has no other role"},
    {"reply-login-of-nobody", "", "reply-logins = other@example.com",
     "found “other@example.com”, expected one of the account's agent-logins"},
    {"approver-twice", "", "approvers = 4003, 4003",
     ":10: found “4003”, expected each entry once"},
    {"agent-root", "", "agent-users = 0",
     "found “user 0”, expected nobody who is root or the milter-user"},
    {"agent-milter", "", "agent-users = 4001",
     "expected nobody who is root or the milter-user"},
    {"agent-approver XC1", "", "agent-users = 4002\napprovers = 4003, 4002",
     ":11: found “user 4002”, expected nobody who is an agent's user"},
    {"agent-admin XC1", "admins = 4002", "agent-users = 4002", ":4: found “user 4002”"},
    {"agent-group-approver XC1", "", "agent-users = @4100\napprovers = @4100",
     "found “group 4100”"},
    {"milter-approver", "", "approvers = 4001", "expected nobody who is the milter-user"},
    {"milter-admin", "admins = 4001", "", "expected nobody who is the milter-user"},
};

static void
test_refusal(gconstpointer data)
{
    const Refusal *row = data;
    Files files;

    files_begin(&files);
    assert_refused(&files, row->text, row->expected);
    files_end(&files);
}

static void
test_line_refusal(gconstpointer data)
{
    const LineRefusal *row = data;
    g_autofree char *text =
        g_strconcat(GENERAL, row->general, "\n" ACCOUNT, row->account, "\n", NULL);
    const Refusal refusal = {row->name, text, row->expected};

    test_refusal(&refusal);
}

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
        "hour-limit = 5\nday-limit = 6\n"
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

/* XF16: both the file and the policies are read as trusted files only. */
static void
test_modes(void)
{
    g_autoptr(GError) error = NULL;
    Files files;

    files_begin(&files);
    write_file(files.conf, GENERAL ACCOUNT, strlen(GENERAL ACCOUNT), 0660);
    g_assert_null(config_read(files.conf, TRUE, &error));
    g_assert_true(g_str_has_suffix(error->message, "a file that only its owner may write"));
    g_assert_cmpint(chmod(files.policy, 0606), ==, 0);
    assert_refused(&files, GENERAL ACCOUNT, "box.policy: found mode 0606");
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

/* B18: what was compiled in, no file lifts. */
static void
test_ceiling(void)
{
    static const Mode MODES[] = {MODE_DRAFT, MODE_REVIEW, MODE_HYBRID};
    Files files;

    files_begin(&files);
    for (gsize i = 0; i < G_N_ELEMENTS(MODES); i++) {
        g_autofree char *text = g_strconcat(
            GENERAL ACCOUNT "approvers = 4003\nmode = ", mode_name(MODES[i]), "\n", NULL);
        if (MODES[i] > MODE_CEILING) {
            assert_refused(&files, text, "which no file can lift");
            continue;
        }
        g_autoptr(Config) config = read_text(&files, text, NULL);
        g_assert_nonnull(config);
        g_assert_cmpint(config_account(config, "box")->mode, ==, MODES[i]);
    }
    files_end(&files);
}

/* A user that is member of a group on this machine, as the group's member list tells. */
static gboolean
find_member(uid_t *uid_out, gid_t *gid_out)
{
    const struct group *group;
    gboolean found = FALSE;

    setgrent();
    while (!found && (group = getgrent()) != NULL) {
        const struct passwd *user =
            group->gr_mem[0] != NULL ? getpwnam(group->gr_mem[0]) : NULL;
        if (user == NULL || user->pw_uid == 0)
            continue;
        *uid_out = user->pw_uid;
        *gid_out = group->gr_gid;
        found = TRUE;
    }
    endgrent();
    return found;
}

/* XC1: the agent is an approver through a group, in either direction. */
static void
test_group_members(void)
{
    Files files;
    uid_t uid;
    gid_t gid;

    if (!find_member(&uid, &gid)) {
        g_test_skip("no group of this machine has a member");
        return;
    }
    files_begin(&files);
    g_autofree char *user_agent = g_strdup_printf(
        GENERAL ACCOUNT "agent-users = %u\napprovers = @%u\n", (guint)uid, (guint)gid);
    g_autofree char *group_agent = g_strdup_printf(
        GENERAL ACCOUNT "agent-users = @%u\napprovers = %u\n", (guint)gid, (guint)uid);
    assert_refused(&files, user_agent, "expected nobody who is an agent's user");
    assert_refused(&files, group_agent, "expected nobody who is an agent's user");
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
    for (gsize i = 0; i < G_N_ELEMENTS(REFUSALS); i++) {
        g_autofree char *path = g_strconcat("/config/refuses/", REFUSALS[i].name, NULL);
        g_test_add_data_func(path, &REFUSALS[i], test_refusal);
    }
    for (gsize i = 0; i < G_N_ELEMENTS(LINES); i++) {
        g_autofree char *path = g_strconcat("/config/refuses/", LINES[i].name, NULL);
        g_test_add_data_func(path, &LINES[i], test_line_refusal);
    }
    g_test_add_func("/config/defaults A37", test_defaults);
    g_test_add_func("/config/values", test_values);
    g_test_add_func("/config/lookups H5", test_lookups);
    g_test_add_func("/config/modes XF16", test_modes);
    g_test_add_func("/config/policies", test_policies);
    g_test_add_func("/config/ceiling B18", test_ceiling);
    g_test_add_func("/config/group-members XC1", test_group_members);
    g_test_add_func("/config/passwords", test_passwords);
    g_test_add_func("/config/next-hop-secrets", test_secrets);
    return g_test_run();
}
