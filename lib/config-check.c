/* What must hold between the keys of exeat.conf. */
#include "lib/config-private.h"

#include "lib/address.h"

/* Notes the owner of each word; refuses one that has another owner. owners: word to owner. */
static gboolean
claim(GHashTable *owners, char **words, gpointer owner, const KeyFile *file, guint line,
      const char *expected, GError **error)
{
    for (; *words != NULL; words++) {
        gpointer earlier = g_hash_table_lookup(owners, *words);
        if (earlier != NULL && earlier != owner)
            return keyfile_fail(error, file, line, *words, "%s", expected);
        g_hash_table_insert(owners, *words, owner);
    }
    return TRUE;
}

static gboolean
check_reply_logins(const Account *account, const KeyFile *file, GError **error)
{
    for (char **login = account->reply_logins; *login != NULL; login++)
        if (!g_strv_contains((const char *const *)account->agent_logins, *login))
            return keyfile_fail(error, file, config_line(file, account, "reply-logins"),
                                *login, "one of the account's agent-logins");
    return TRUE;
}

/* A login has one role in one account, an address one account. */
static gboolean
check_owners(const Config *config, const KeyFile *file, GError **error)
{
    g_autoptr(GHashTable) logins = g_hash_table_new(g_str_hash, g_str_equal);
    g_autoptr(GHashTable) addresses = g_hash_table_new(g_str_hash, g_str_equal);
    const char *one_role = "a login that has no other role and no other account";
    const char *one_account = "an address that belongs to no other account";

    for (guint i = 0; i < config->accounts->len; i++) {
        Account *account = g_ptr_array_index(config->accounts, i);
        if (!check_reply_logins(account, file, error) ||
            !claim(logins, account->human_logins, account->human_logins, file,
                   config_line(file, account, "human-logins"), one_role, error) ||
            !claim(logins, account->agent_logins, account->agent_logins, file,
                   config_line(file, account, "agent-logins"), one_role, error) ||
            !claim(addresses, account->addresses, account, file,
                   config_line(file, account, "addresses"), one_account, error) ||
            !claim(addresses, account->senders, account, file,
                   config_line(file, account, "senders"), one_account, error))
            return FALSE;
    }
    return TRUE;
}

/* Refuses somebody who is in both lists. */
static gboolean
keep_apart(const KeyFile *file, guint line, const People *people, const People *others,
           const char *others_name, GError **error)
{
    g_autofree char *who = NULL;

    if (!people_overlap(people, others, &who, error))
        return FALSE;
    return who == NULL ||
           keyfile_fail(error, file, line, who, "nobody who is %s", others_name);
}

/* What the gate writes itself is nobody's mail: in an account's name it would be refused at
 * the door, and taken for a person's where it arrives. */
static gboolean
check_notices(Config *config, const KeyFile *file, GError **error)
{
    const KeyLine *line = keygroup_line(keyfile_group(file, "exeat"), "notices-from");

    if (*config->notices_from == '\0') {
        g_free(config->notices_from);
        config->notices_from = g_strdup_printf("exeat@%s", g_get_host_name());
    }
    g_autofree char *normal = address_normalise(config->notices_from, NULL);
    return normal == NULL || config_address(config, normal) == NULL || line == NULL ||
           keyfile_fail(error, file, line->line, line->text,
                        "an address that is no account's");
}

/* Whoever can act for an agent or for the milter can never decide (section 7 of the design,
 * XC1). proven: each decision takes a proof that an agent of the same user has not. */
static gboolean
check_deciders(const Config *config, const KeyFile *file, guint line, const People *deciders,
               gboolean proven, GError **error)
{
    g_auto(People) milter;

    people_init(&milter);
    g_array_append_val(milter.uids, config->milter_user);
    if (!keep_apart(file, line, deciders, &milter, "the milter-user", error))
        return FALSE;
    for (guint i = 0; i < config->accounts->len && !proven; i++) {
        const Account *account = g_ptr_array_index(config->accounts, i);
        if (!keep_apart(file, line, deciders, &account->agent_users, "an agent's user", error))
            return FALSE;
    }
    return TRUE;
}

/* An agent that is root, or the user whose word about a message the relay takes, has no gate.
 */
static gboolean
check_agents(const Config *config, const KeyFile *file, const Account *account, GError **error)
{
    const uid_t root = 0;
    g_auto(People) strong;

    people_init(&strong);
    g_array_append_val(strong.uids, root);
    g_array_append_val(strong.uids, config->milter_user);
    return keep_apart(file, config_line(file, account, "agent-users"), &account->agent_users,
                      &strong, "root or the milter-user", error);
}

static gboolean
check_approvers(const Config *config, const KeyFile *file, const Account *account,
                GError **error)
{
    if (account->confirm && *config->password_file == '\0')
        return keyfile_fail(error, file, config_line(file, account, "approver-confirm"),
                            "password", "the key “approver-passwords” in [exeat] as well");
    return check_deciders(config, file, config_line(file, account, "approvers"),
                          &account->approvers, account->confirm, error);
}

static gboolean
check_people(const Config *config, const KeyFile *file, GError **error)
{
    const KeyGroup *general = keyfile_group(file, "exeat");
    const KeyLine *admins = keygroup_line(general, "admins");
    guint line = admins != NULL ? admins->line : general->line;

    if (!check_deciders(config, file, line, &config->admins, FALSE, error))
        return FALSE;
    for (guint i = 0; i < config->accounts->len; i++) {
        const Account *account = g_ptr_array_index(config->accounts, i);
        if (!check_agents(config, file, account, error) ||
            !check_approvers(config, file, account, error))
            return FALSE;
    }
    return TRUE;
}

/* Names of files are relative to the folder of exeat.conf. */
static void
place_files(Config *config)
{
    g_autofree char *folder = g_path_get_dirname(config->path);

    setting_place_file(&config->floor_file, folder);
    setting_place_file(&config->password_file, folder);
    for (guint i = 0; i < config->accounts->len; i++)
        setting_place_file(&((Account *)config->accounts->pdata[i])->policy_file, folder);
}

static gboolean
check_servers(Config *config, const KeyFile *file, GError **error)
{
    g_autofree char *folder = g_path_get_dirname(config->path);

    if (!nexthop_check(&config->hop, folder, file, keyfile_group(file, "exeat"), error))
        return FALSE;
    for (guint i = 0; i < config->accounts->len; i++) {
        Account *account = g_ptr_array_index(config->accounts, i);
        g_autofree char *name = g_strconcat(ACCOUNT_PREFIX, account->name, NULL);
        const KeyGroup *group = keyfile_group(file, name);
        if (!nexthop_check(&account->hop, folder, file, group, error) ||
            !draftbox_check(&account->drafts, folder, file, group, error))
            return FALSE;
    }
    return TRUE;
}

gboolean
config_check(Config *config, const KeyFile *file, GError **error)
{
    place_files(config);
    return check_owners(config, file, error) && check_notices(config, file, error) &&
           check_servers(config, file, error) && check_people(config, file, error);
}
