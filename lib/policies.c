#include "lib/policies.h"

#include "lib/address.h"
#include "lib/error.h"
#include "lib/trusted.h"
#include "policy/check.h"

static char *
read_file(const char *path, G_GNUC_UNUSED gpointer data, GError **error)
{
    return trusted_read(path, error);
}

static char *
read_keeping(const char *path, gpointer data, GError **error)
{
    char *text = trusted_read(path, error);

    if (text)
        g_hash_table_insert(data, g_strdup(path), g_strdup(text));
    return text;
}

static char *
read_listing(const char *path, gpointer data, GError **error)
{
    g_ptr_array_add(data, g_strdup(path));
    return trusted_read(path, error);
}

static char *
read_kept(const char *path, gpointer data, GError **error)
{
    const char *text = g_hash_table_lookup(data, path);

    if (!text)
        g_set_error(error, EXEAT_ERROR, ERROR_CONFIG, "%s: found nothing, expected its text",
                    path);
    return g_strdup(text);
}

static char *
normalise(const char *entry, G_GNUC_UNUSED gpointer data)
{
    if (*entry != '@')
        return address_normalise(entry, NULL);
    g_autofree char *domain = address_domain_normalise(entry + 1);
    return domain ? g_strconcat("@", domain, NULL) : NULL;
}

static Policy *
parse(const char *path, const PolicyReader *reader, GError **error)
{
    g_autofree char *text = reader->read(path, reader->data, error);

    return text ? policy_parse(text, path, reader, error) : NULL;
}

Policy *
policies_parse(const char *path, GError **error)
{
    const PolicyReader reader = {read_file, normalise, NULL};

    return parse(path, &reader, error);
}

Policy *
policies_parse_keeping(const char *path, GHashTable *texts, GError **error)
{
    const PolicyReader reader = {read_keeping, normalise, texts};

    return parse(path, &reader, error);
}

void
policies_list(const char *path, GPtrArray *names)
{
    const PolicyReader reader = {read_listing, normalise, names};
    g_autoptr(Policy) policy = parse(path, &reader, NULL);
    (void)policy;
}

Policy *
policies_parse_texts(const char *path, GHashTable *texts, GError **error)
{
    const PolicyReader reader = {read_kept, normalise, texts};

    return parse(path, &reader, error);
}

Policy *
policies_read(const char *path, Policy *floor, GError **error)
{
    g_autoptr(Policy) policy = policies_parse(path, error);

    if (!policy || !check_policy(policy, error))
        return NULL;
    if (floor)
        policy_set_floor(policy, floor);
    return g_steal_pointer(&policy);
}
