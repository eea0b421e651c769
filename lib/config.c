#include <config.h>

#include "lib/config-private.h"

#include <stddef.h>
#include <string.h>

#include "lib/address.h"
#include "lib/error.h"
#include "lib/network.h"
#include "lib/policies.h"
#include "lib/setting.h"

#define NAME_LIMIT      64
#define RECIPIENTS_MOST 10000

/* As the file has it, and then no laxer than this build allows (B18). */
static gboolean
read_mode(const SettingPlace *place, const char *text, gpointer member, GError **error)
{
    Mode mode;

    if (!mode_find(text, &mode))
        return keyfile_fail(error, place->file, place->line, text, "draft, review or hybrid");
    if (mode > MODE_CEILING)
        return keyfile_fail(error, place->file, place->line, text,
                            "a mode no laxer than %s: this build was made with "
                            "--with-ceiling=%s, which no file can lift",
                            mode_name(MODE_CEILING), mode_name(MODE_CEILING));
    *(Mode *)member = mode;
    return TRUE;
}

/* What proves an approver besides the kernel's word on the user. */
static gboolean
read_confirm(const SettingPlace *place, const char *text, gpointer member, GError **error)
{
    *(gboolean *)member = g_str_equal(text, "password");
    return *(gboolean *)member || g_str_equal(text, "user") ||
           keyfile_fail(error, place->file, place->line, text, "user or password");
}

/* When a client hears what became of what is kept. */
static gboolean
read_answer(const SettingPlace *place, const char *text, gpointer member, GError **error)
{
    *(gboolean *)member = g_str_equal(text, "later");
    return *(gboolean *)member || g_str_equal(text, "now") ||
           keyfile_fail(error, place->file, place->line, text, "now or later");
}

/* More would not pass from the milter to the relay in one frame. */
static gboolean
read_recipients(const SettingPlace *place, const char *text, gpointer member, GError **error)
{
    guint64 number;

    if (!g_ascii_string_to_unsigned(text, 10, 1, RECIPIENTS_MOST, &number, NULL))
        return keyfile_fail(error, place->file, place->line, text, "a number from 1 to %d",
                            RECIPIENTS_MOST);
    *(guint *)member = (guint)number;
    return TRUE;
}

#define IN_CONFIG(member)  offsetof(Config, member)
#define IN_ACCOUNT(member) offsetof(Account, member)

static const Setting GENERAL[] = {
    {"state", setting_folder, IN_CONFIG(state), LOCALSTATEDIR "/lib/exeat"},
    {"relay-socket", setting_socket, IN_CONFIG(relay_socket), RUNSTATEDIR "/exeat/relay.sock"},
    {"milter-socket", setting_milter_socket, IN_CONFIG(milter_socket),
     "unix:" RUNSTATEDIR "/exeat-milter/milter.sock"},
    {"milter-user", setting_user, IN_CONFIG(milter_user), NULL},
    {"spool", setting_folder, IN_CONFIG(spool), "/var/tmp"},
    NEXTHOP_SETTINGS(Config, hop, NULL),
    {"inside", setting_networks, IN_CONFIG(inside), "127.0.0.0/8, ::1/128"},
    {"admins", setting_people, IN_CONFIG(admins), ""},
    {"expire", setting_duration, IN_CONFIG(expire), "14d"},
    {"approval-life", setting_duration, IN_CONFIG(approval_life), "15m"},
    {"audit-anchor", setting_command, IN_CONFIG(anchor), ""},
    {"reconcile-command", setting_command, IN_CONFIG(reconcile), ""},
    {"notices-from", setting_mail_address, IN_CONFIG(notices_from), ""},
    {"size-limit", setting_size, IN_CONFIG(size_limit), "50M"},
    {"header-limit", setting_size, IN_CONFIG(header_limit), "4M"},
    {"recipient-limit", read_recipients, IN_CONFIG(recipient_limit), "1000"},
    {"refusal-limit", setting_count, IN_CONFIG(refusal_limit), "300"},
    {"record-limit", setting_size, IN_CONFIG(record_limit), "32M"},
    {"hour-limit", setting_count, IN_CONFIG(hour_limit), "300"},
    {"day-limit", setting_count, IN_CONFIG(day_limit), "1000"},
    {"waiting-limit", setting_count, IN_CONFIG(waiting_limit), "200"},
    {"keep", setting_duration, IN_CONFIG(keep), "30d"},
    {"store-limit", setting_size, IN_CONFIG(store_limit), "1G"},
    {"hold-target", setting_count, IN_CONFIG(hold_target), "2"},
    {"received-keep", setting_duration, IN_CONFIG(received_keep), "90d"},
    {"received-limit", setting_count, IN_CONFIG(received_limit), "100000"},
    {"floor", setting_file, IN_CONFIG(floor_file), ""},
    {"approver-passwords", setting_file, IN_CONFIG(password_file), ""},
    {"aliases", setting_alias_files, IN_CONFIG(alias_files), ""},
    {NULL, NULL, 0, NULL},
};

static const Setting PER_ACCOUNT[] = {
    {"addresses", setting_addresses, IN_ACCOUNT(addresses), NULL},
    {"human-logins", setting_logins, IN_ACCOUNT(human_logins), ""},
    {"agent-logins", setting_logins, IN_ACCOUNT(agent_logins), NULL},
    {"reply-logins", setting_logins, IN_ACCOUNT(reply_logins), ""},
    {"agent-users", setting_people, IN_ACCOUNT(agent_users), ""},
    {"senders", setting_addresses, IN_ACCOUNT(senders), ""},
    {"internal-domains", setting_domains, IN_ACCOUNT(internal), NULL},
    {"lists", setting_addresses, IN_ACCOUNT(lists), ""},
    {"approvers", setting_people, IN_ACCOUNT(approvers), ""},
    {"approver-confirm", read_confirm, IN_ACCOUNT(confirm), "user"},
    {"stop-address", setting_addresses, IN_ACCOUNT(stop_addresses), ""},
    {"answer", read_answer, IN_ACCOUNT(answer_later), "now"},
    {"mark-automatic", setting_switch, IN_ACCOUNT(mark_automatic), "no"},
    {"mode", read_mode, IN_ACCOUNT(mode), "draft"},
    {"policy", setting_file, IN_ACCOUNT(policy_file), NULL},
    {"notices-to", setting_mail_address, IN_ACCOUNT(notices_to), ""},
    {"notify", setting_mail_addresses, IN_ACCOUNT(notify), ""},
    {"notify-command", setting_command, IN_ACCOUNT(notify_command), ""},
    {"notify-heartbeat", setting_switch, IN_ACCOUNT(heartbeat), "no"},
    {"digest-to", setting_mail_address, IN_ACCOUNT(digest_to), ""},
    NEXTHOP_SETTINGS(Account, hop, ""),
    DRAFTBOX_SETTINGS(Account, drafts),
    {NULL, NULL, 0, NULL},
};

static Account *
account_new(const char *name)
{
    Account *account = g_new0(Account, 1);

    account->name = g_strdup(name);
    people_init(&account->agent_users);
    people_init(&account->approvers);
    return account;
}

static void
account_free(Account *account)
{
    g_free(account->name);
    g_strfreev(account->addresses);
    g_strfreev(account->human_logins);
    g_strfreev(account->agent_logins);
    g_strfreev(account->reply_logins);
    g_strfreev(account->senders);
    g_strfreev(account->internal);
    g_strfreev(account->lists);
    g_strfreev(account->stop_addresses);
    g_free(account->notices_to);
    g_strfreev(account->notify);
    g_strfreev(account->notify_command);
    g_free(account->digest_to);
    people_clear(&account->agent_users);
    people_clear(&account->approvers);
    nexthop_clear(&account->hop);
    draftbox_clear(&account->drafts);
    g_free(account->policy_file);
    g_clear_pointer(&account->policy, policy_unref);
    g_free(account);
}

static Config *
config_new(const char *path)
{
    Config *config = g_atomic_rc_box_new0(Config);

    config->path = g_canonicalize_filename(path, NULL);
    people_init(&config->admins);
    config->accounts = g_ptr_array_new_with_free_func((GDestroyNotify)account_free);
    return config;
}

static void
config_clear(gpointer data)
{
    Config *config = data;

    g_free(config->path);
    g_free(config->state);
    g_free(config->relay_socket);
    g_free(config->milter_socket);
    g_free(config->spool);
    nexthop_clear(&config->hop);
    g_strfreev(config->inside);
    g_strfreev(config->anchor);
    g_strfreev(config->reconcile);
    g_free(config->notices_from);
    g_strfreev(config->alias_files);
    g_clear_pointer(&config->aliases, aliases_free);
    people_clear(&config->admins);
    g_free(config->floor_file);
    g_free(config->password_file);
    g_clear_pointer(&config->passwords, g_array_unref);
    g_clear_pointer(&config->floor, policy_unref);
    g_ptr_array_unref(config->accounts);
}

Config *
config_ref(Config *config)
{
    return g_atomic_rc_box_acquire(config);
}

void
config_unref(Config *config)
{
    g_atomic_rc_box_release_full(config, config_clear);
}

static gboolean
is_name(const char *text)
{
    gsize length = strspn(text, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "-_.");

    return length > 0 && length <= NAME_LIMIT && text[length] == '\0';
}

static gboolean
read_account(Config *config, const KeyFile *file, const KeyGroup *group, GError **error)
{
    const char *name = group->name + strlen(ACCOUNT_PREFIX);

    if (!is_name(name))
        return keyfile_fail(error, file, group->line, name,
                            "an account name of at most %d letters, digits, -, _ and .",
                            NAME_LIMIT);

    Account *account = account_new(name);
    g_ptr_array_add(config->accounts, account);
    if (!setting_read_group(PER_ACCOUNT, file, group, account, error))
        return FALSE;
    if (account->approvers.uids->len + account->approvers.gids->len == 0 &&
        account->mode != MODE_DRAFT)
        return keyfile_fail(error, file, group->line, group->name,
                            "the key “approvers” in this group, or mode = draft");
    if (account->notify[0] != NULL && account->notify_command[0] != NULL)
        return keyfile_fail(error, file, keygroup_line(group, "notify-command")->line,
                            "notify-command", "no such key beside “notify”");
    if (account->heartbeat && account->notify[0] == NULL && account->notify_command[0] == NULL)
        return keyfile_fail(error, file, keygroup_line(group, "notify-heartbeat")->line,
                            "notify-heartbeat", "the key “notify” or “notify-command”, too");
    if (account->senders[0] == NULL) {
        g_strfreev(account->senders);
        account->senders = g_strdupv(account->addresses);
    }
    return TRUE;
}

static gboolean
read_groups(Config *config, const KeyFile *file, GError **error)
{
    for (guint i = 0; i < file->groups->len; i++) {
        const KeyGroup *group = g_ptr_array_index(file->groups, i);
        gboolean good;
        if (g_str_equal(group->name, "exeat"))
            good = setting_read_group(GENERAL, file, group, config, error);
        else if (g_str_has_prefix(group->name, ACCOUNT_PREFIX))
            good = read_account(config, file, group, error);
        else
            good = keyfile_fail(error, file, group->line, group->name,
                                "[exeat] or [account NAME]");
        if (!good)
            return FALSE;
    }
    const char *missing = keyfile_group(file, "exeat") == NULL ? "[exeat]"
                          : config->accounts->len == 0         ? "[account NAME]"
                                                               : NULL;
    if (missing == NULL)
        return TRUE;
    g_set_error(error, EXEAT_ERROR, ERROR_CONFIG, "%s: found no %s, expected one", file->path,
                missing);
    return FALSE;
}

guint
config_line(const KeyFile *file, const Account *account, const char *key)
{
    g_autofree char *name = g_strconcat(ACCOUNT_PREFIX, account->name, NULL);
    const KeyGroup *group = keyfile_group(file, name);
    const KeyLine *line = keygroup_line(group, key);

    return line != NULL ? line->line : group->line;
}

/* A mistake in the policy has its own file and line; that it cannot be read at all is told
 * with the line that names it. */
static Policy *
read_policy(const Config *config, const char *path, const KeyFile *file, guint line,
            GError **error)
{
    g_autoptr(GError) trouble = NULL;
    Policy *policy = policies_read(path, config->floor, &trouble);

    if (policy != NULL)
        return policy;
    if (trouble->domain == EXEAT_ERROR)
        g_prefix_error(&trouble, "%s:%u: ", file->path, line);
    g_propagate_error(error, g_steal_pointer(&trouble));
    return NULL;
}

/* The files that only a judge needs. */
static gboolean
read_policies(Config *config, const KeyFile *file, GError **error)
{
    const KeyLine *floor = keygroup_line(keyfile_group(file, "exeat"), "floor");

    config->aliases = aliases_read(config->alias_files, error);
    if (config->aliases == NULL)
        return FALSE;
    if (floor != NULL) {
        config->floor = read_policy(config, config->floor_file, file, floor->line, error);
        if (config->floor == NULL)
            return FALSE;
    }
    for (guint i = 0; i < config->accounts->len; i++) {
        Account *account = g_ptr_array_index(config->accounts, i);
        account->policy = read_policy(config, account->policy_file, file,
                                      config_line(file, account, "policy"), error);
        if (account->policy == NULL)
            return FALSE;
    }
    return TRUE;
}

static gboolean
read_passwords(Config *config, GError **error)
{
    if (*config->password_file == '\0')
        return TRUE;
    config->passwords = passwords_read(config->password_file, error);
    return config->passwords != NULL;
}

/* A mistake in them would only show when something is to be sent or shown. */
static gboolean
check_server_files(const Config *config, GError **error)
{
    if (!nexthop_check_files(&config->hop, error))
        return FALSE;
    for (guint i = 0; i < config->accounts->len; i++) {
        const Account *account = g_ptr_array_index(config->accounts, i);
        if (!nexthop_check_files(&account->hop, error) ||
            !draftbox_check_files(&account->drafts, error))
            return FALSE;
    }
    return TRUE;
}

Config *
config_read(const char *path, gboolean with_policies, GError **error)
{
    g_autoptr(KeyFile) file = keyfile_read(path, error);

    if (file == NULL)
        return NULL;
    g_autoptr(Config) config = config_new(path);
    if (!read_groups(config, file, error) || !config_check(config, file, error))
        return NULL;
    if (with_policies &&
        (!read_policies(config, file, error) || !read_passwords(config, error) ||
         !check_server_files(config, error)))
        return NULL;
    return g_steal_pointer(&config);
}

const Account *
config_login(const Config *config, const char *login, Role *role_out)
{
    g_autofree char *folded = setting_fold_login(login);

    for (guint i = 0; i < config->accounts->len; i++) {
        const Account *account = g_ptr_array_index(config->accounts, i);
        gboolean agent = g_strv_contains((const char *const *)account->agent_logins, folded);
        if (agent || g_strv_contains((const char *const *)account->human_logins, folded)) {
            *role_out = agent ? ROLE_AGENT : ROLE_HUMAN;
            return account;
        }
    }
    *role_out = ROLE_NONE;
    return NULL;
}

gboolean
config_only_replies(const Account *account, const char *login)
{
    g_autofree char *folded = setting_fold_login(login);

    return g_strv_contains((const char *const *)account->reply_logins, folded);
}

const Account *
config_account(const Config *config, const char *name)
{
    for (guint i = 0; i < config->accounts->len; i++) {
        const Account *account = g_ptr_array_index(config->accounts, i);
        if (g_str_equal(account->name, name))
            return account;
    }
    return NULL;
}

const NextHop *
config_next_hop(const Config *config, const char *account)
{
    const Account *found = config_account(config, account);

    return found != NULL && *found->hop.target != '\0' ? &found->hop : &config->hop;
}

const Account *
config_address(const Config *config, const char *normal)
{
    for (guint i = 0; i < config->accounts->len; i++) {
        const Account *account = g_ptr_array_index(config->accounts, i);
        if (g_strv_contains((const char *const *)account->addresses, normal) ||
            g_strv_contains((const char *const *)account->senders, normal))
            return account;
    }
    return NULL;
}

gboolean
config_is_agent_user(const Config *config, uid_t uid, gid_t gid)
{
    for (guint i = 0; i < config->accounts->len; i++) {
        const Account *account = g_ptr_array_index(config->accounts, i);

        if (people_include(&account->agent_users, uid, gid))
            return TRUE;
    }
    return FALSE;
}

gboolean
config_is_inside(const Config *config, const char *ip)
{
    /* The relay's own way to the door, whatever the file says. */
    if (network_includes("127.0.0.1", ip) || network_includes("::1", ip))
        return TRUE;
    for (char **network = config->inside; *network != NULL; network++)
        if (network_includes(*network, ip))
            return TRUE;
    return FALSE;
}
