#include "lib/policies.h"

#include "lib/address.h"
#include "lib/trusted.h"
#include "policy/check.h"

static char *
read_file(const char *path, G_GNUC_UNUSED gpointer data, GError **error)
{
    return trusted_read(path, error);
}

static char *
normalise(const char *entry, G_GNUC_UNUSED gpointer data)
{
    if (*entry != '@')
        return address_normalise(entry, NULL);
    g_autofree char *domain = address_domain_normalise(entry + 1);
    return domain ? g_strconcat("@", domain, NULL) : NULL;
}

Policy *
policies_parse(const char *path, GError **error)
{
    static const PolicyReader reader = {read_file, normalise, NULL};
    g_autofree char *text = trusted_read(path, error);

    return text ? policy_parse(text, path, &reader, error) : NULL;
}

Policy *
policies_read(const char *folder, const char *file, Policy *floor, GError **error)
{
    g_autofree char *path = g_canonicalize_filename(file, folder);
    g_autoptr(Policy) policy = policies_parse(path, error);

    if (!policy || !check_policy(policy, error))
        return NULL;
    if (floor)
        policy_set_floor(policy, floor);
    return g_steal_pointer(&policy);
}
