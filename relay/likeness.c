#include "relay/likeness.h"

#include "lib/address.h"
#include "lib/lookalike.h"
#include "store/history.h"

struct _Likeness {
    Db *db;
    const Account *account;
    GPtrArray *own; /* what the human's own addresses look like, in their order */
    /* Domain to the account's internal one that it looks like, or NULL. */
    GHashTable *internal;
    GHashTable *domains; /* as history_find_like() keeps them */
};

Likeness *
likeness_new(Db *db, const Account *account)
{
    Likeness *likeness = g_new0(Likeness, 1);

    likeness->db = db;
    likeness->account = account;
    return likeness;
}

/* Most messages go to nobody who has to be looked at. */
static void
make_tables(Likeness *likeness)
{
    const Account *account = likeness->account;

    if (likeness->own != NULL)
        return;
    likeness->own = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; account->addresses[i] != NULL; i++)
        g_ptr_array_add(likeness->own, lookalike_address(account->addresses[i]));
    likeness->internal = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    likeness->domains = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
}

void
likeness_free(Likeness *likeness)
{
    if (likeness == NULL)
        return;
    g_clear_pointer(&likeness->own, g_ptr_array_unref);
    g_clear_pointer(&likeness->internal, g_hash_table_unref);
    g_clear_pointer(&likeness->domains, g_hash_table_unref);
    g_free(likeness);
}

/* One of the human's own addresses; NULL when none looks the same. */
static const char *
find_own(const Likeness *likeness, const char *address)
{
    g_autofree char *skeleton = lookalike_address(address);

    for (guint i = 0; i < likeness->own->len; i++)
        if (g_str_equal(g_ptr_array_index(likeness->own, i), skeleton))
            return likeness->account->addresses[i];
    return NULL;
}

static const char *
look_for_internal(const Account *account, const char *domain)
{
    for (guint i = 0; account->internal[i] != NULL; i++)
        if (lookalike_domain(domain, account->internal[i]))
            return account->internal[i];
    return NULL;
}

static const char *
find_internal(Likeness *likeness, const char *domain)
{
    gpointer found;

    if (g_hash_table_lookup_extended(likeness->internal, domain, NULL, &found))
        return found;
    const char *like = look_for_internal(likeness->account, domain);
    g_hash_table_insert(likeness->internal, g_strdup(domain), (gpointer)like);
    return like;
}

gboolean
likeness_find(Likeness *likeness, const char *address, char **like_out, GError **error)
{
    const Account *account = likeness->account;
    const char *domain = address_domain(address);

    if (g_strv_contains((const char *const *)account->addresses, address) ||
        g_strv_contains((const char *const *)account->internal, domain)) {
        *like_out = NULL;
        return TRUE;
    }
    make_tables(likeness);
    g_autofree char *like = g_strdup(find_own(likeness, address));
    if (like == NULL && !history_find_like(likeness->db, account->name, address,
                                           likeness->domains, &like, error))
        return FALSE;
    *like_out =
        like != NULL ? g_steal_pointer(&like) : g_strdup(find_internal(likeness, domain));
    return TRUE;
}
