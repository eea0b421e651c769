#include "store/history.h"

#include <string.h>

#include "lib/address.h"
#include "lib/lookalike.h"
#include "store/history-sql.h"

#define ALIKE_MAX 100 /* domains looked at for one key */

/* The first correspondent with the skeleton of the address; NULL when there is none. */
static gboolean
find_address(Db *db, const char *account, const char *address, char **like_out, GError **error)
{
    g_autofree char *skeleton = lookalike_address(address);

    return db_text(db, &correspondent_like, like_out, error, "sss", account, skeleton,
                   address);
}

/* The first domain filed under the key that the domain really looks like. */
static gboolean
find_by_key(Db *db, const char *account, const char *domain, const char *key, char **like_out,
            GError **error)
{
    g_autoptr(Rows) rows =
        db_query(db, &domain_key_find, error, "ssi", account, key, (gint64)ALIKE_MAX);

    while (*like_out == NULL && rows_next(rows)) {
        if (lookalike_domain(domain, rows_text(rows, 0)))
            *like_out = g_strdup(rows_text(rows, 0));
    }
    return rows_end(rows, error);
}

static gboolean
find_by_keys(Db *db, const char *account, const char *domain, char **like_out, GError **error)
{
    g_autoptr(GPtrArray) keys = lookalike_find_keys(domain);
    g_autofree char *like = NULL;

    for (guint i = 0; like == NULL && i < keys->len; i++) {
        if (!find_by_key(db, account, domain, g_ptr_array_index(keys, i), &like, error))
            return FALSE;
    }
    *like_out = g_steal_pointer(&like);
    return TRUE;
}

/* A domain that the human writes to looks like nothing but itself. */
static gboolean
find_domain(Db *db, const char *account, const char *domain, GHashTable *domains,
            char **like_out, GError **error)
{
    g_autofree char *like = NULL;
    gint64 correspondents = 0;
    gpointer found;

    if (g_hash_table_lookup_extended(domains, domain, NULL, &found)) {
        *like_out = g_strdup(found);
        return TRUE;
    }
    if (!db_integer(db, &domain_find, 0, &correspondents, error, "ss", account, domain) ||
        (correspondents == 0 && !find_by_keys(db, account, domain, &like, error)))
        return FALSE;
    g_hash_table_insert(domains, g_strdup(domain), g_strdup(like));
    *like_out = g_steal_pointer(&like);
    return TRUE;
}

/* Of the domain, the correspondent with the same local part, when there is one. */
static gboolean
prefer_address(Db *db, const char *account, const char *address, char **like, GError **error)
{
    gsize local = strlen(address) - strlen(address_domain(address));
    g_autofree char *same = g_strdup_printf("%.*s%s", (int)local, address, *like);
    gint64 times = 0;

    if (!db_integer(db, &correspondent_exists, 0, &times, error, "ss", account, same))
        return FALSE;
    if (times > 0) {
        g_free(*like);
        *like = g_steal_pointer(&same);
    }
    return TRUE;
}

gboolean
history_find_like(Db *db, const char *account, const char *address, GHashTable *domains,
                  char **like_out, GError **error)
{
    g_autofree char *like = NULL;

    if (!find_address(db, account, address, &like, error) ||
        (like == NULL &&
         (!find_domain(db, account, address_domain(address), domains, &like, error) ||
          (like != NULL && !prefer_address(db, account, address, &like, error)))))
        return FALSE;
    *like_out = g_steal_pointer(&like);
    return TRUE;
}
