/* exeat.conf and the file of passwords. Beside an input lie a policy and an alias file, p and
 * a. */
#include "tests/fuzz/fuzz.h"

#include "lib/config.h"

static char *path;

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    g_autofree char *policy = fuzz_path("p"), *alias = fuzz_path("a");

    fuzz_begin();
    umask(077);
    path = fuzz_path("exeat.conf");
    fuzz_write(policy, "draft \"x\"\n", 10);
    fuzz_write(alias, "a: b\n", 5);
    return 0;
}

static void
use(const Config *config)
{
    Role role;

    g_assert(config->accounts->len > 0);
    for (guint i = 0; i < config->accounts->len; i++) {
        const Account *account = g_ptr_array_index(config->accounts, i);

        g_assert(config_account(config, account->name) == account);
        g_assert(config_address(config, account->addresses[0]) == account);
        g_assert(config_login(config, account->agent_logins[0], &role) == account);
        g_assert(role == ROLE_AGENT);
    }
    g_assert(!config_is_agent_user(config, 0, 0));
    g_assert(config_is_inside(config, "127.0.0.1"));
    config_is_inside(config, "IPv6:2001:db8::1");
}

int
LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
    g_autoptr(GError) error = NULL, password_error = NULL;

    fuzz_write(path, data, size);
    g_autoptr(Config) full = config_read(path, TRUE, &error);

    g_assert((full == NULL) == (error != NULL));
    if (full != NULL)
        use(full);
    else
        g_assert(g_utf8_validate(error->message, -1, NULL));
    /* What the relay takes, the milter takes. */
    g_autoptr(Config) lean = config_read(path, FALSE, NULL);
    g_assert(full == NULL || lean != NULL);

    g_autoptr(GArray) passwords = passwords_read(path, &password_error);
    g_assert((passwords == NULL) == (password_error != NULL));
    return 0;
}
