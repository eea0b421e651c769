/* exeat.conf: what it refuses. */
#include <config.h>

#include "tests/unit/config-files.h"

#include <grp.h>
#include <pwd.h>

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

/* B18, B29: what was compiled in, no file lifts. */
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
    g_test_add_func("/config/modes XF16", test_modes);
    g_test_add_func("/config/ceiling B18", test_ceiling);
    g_test_add_func("/config/group-members XC1", test_group_members);
    return g_test_run();
}
