#include "relay/likeness.h"

#include "lib/address.h"
#include "lib/lookalike.h"
#include "store/history.h"

/* One of the human's own addresses; NULL when none looks the same. */
static const char *
find_own(const Account *account, const char *address)
{
    g_autofree char *skeleton = lookalike_address(address);

    for (guint i = 0; account->addresses[i] != NULL; i++) {
        g_autofree char *own = lookalike_address(account->addresses[i]);

        if (g_str_equal(own, skeleton))
            return account->addresses[i];
    }
    return NULL;
}

static const char *
find_internal(const Account *account, const char *domain)
{
    for (guint i = 0; account->internal[i] != NULL; i++)
        if (lookalike_domain(domain, account->internal[i]))
            return account->internal[i];
    return NULL;
}

gboolean
likeness_find(Db *db, const Account *account, const char *address, char **like_out,
              GError **error)
{
    const char *domain = address_domain(address);

    if (g_strv_contains((const char *const *)account->addresses, address) ||
        g_strv_contains((const char *const *)account->internal, domain)) {
        *like_out = NULL;
        return TRUE;
    }
    g_autofree char *like = g_strdup(find_own(account, address));
    if (like == NULL && !history_find_like(db, account->name, address, &like, error))
        return FALSE;
    *like_out =
        like != NULL ? g_steal_pointer(&like) : g_strdup(find_internal(account, domain));
    return TRUE;
}
