#include "relay/history.h"

#include <string.h>

#include "lib/address.h"
#include "relay/people.h"
#include "relay/reasons.h"
#include "relay/views.h"
#include "store/audit.h"

/* The address asked about as a normal form, NULL with error when it is none. */
static char *
read_address(const Request *request, GError **error)
{
    const char *written = request_text(request, "address", error);

    if (written == NULL)
        return NULL;
    char *address = address_normalise(written, NULL);
    if (address == NULL)
        g_set_error(error, REQUEST_ERROR, REQUEST_USAGE, "this is no mail address");
    return address;
}

/* The account named; "" when none is. */
static const char *
read_account(const Request *request)
{
    const char *name = "";

    g_variant_lookup(request->arguments, "account", "&s", &name);
    return name;
}

/* Nobody learns which accounts there are besides. */
static gboolean
no_account(const char *name, GError **error)
{
    g_set_error(error, REQUEST_ERROR, REQUEST_NOT_FOUND, "there is no account %s", name);
    return FALSE;
}

static gboolean
add_entry(const Request *request, const Account *account, const char *address,
          GVariantBuilder *entries, char **like_out, GError **error)
{
    g_autoptr(Reason) reason = NULL;

    if (!reason_find(request->relay->db, request->config, account, address, &reason, error))
        return FALSE;
    g_variant_builder_add_value(entries, view_history(account->name, address, reason));
    *like_out = g_steal_pointer(&reason->like);
    return TRUE;
}

/* An entry for the address, and one for the address it could be taken for. */
static gboolean
add_entries(const Request *request, const Account *account, const char *address,
            GVariantBuilder *entries, GError **error)
{
    g_autofree char *like = NULL, *unused = NULL;

    if (!add_entry(request, account, address, entries, &like, error))
        return FALSE;
    return like == NULL || strchr(like, '@') == NULL ||
           add_entry(request, account, like, entries, &unused, error);
}

gboolean
history_ask(Request *request, GError **error)
{
    g_autofree char *address = read_address(request, error);
    const char *only = read_account(request);
    GVariantBuilder entries;

    if (address == NULL)
        return FALSE;
    if (*only != '\0' &&
        (config_account(request->config, only) == NULL || !people_may_know(request, only)))
        return no_account(only, error);
    g_variant_builder_init(&entries, G_VARIANT_TYPE("aa{sv}"));
    for (guint i = 0; i < request->config->accounts->len; i++) {
        const Account *account = g_ptr_array_index(request->config->accounts, i);

        if (!people_may_know(request, account->name) ||
            (*only != '\0' && !g_str_equal(only, account->name)))
            continue;
        if (!add_entries(request, account, address, &entries, error)) {
            g_variant_builder_clear(&entries);
            return FALSE;
        }
    }
    GVariantDict dict;
    g_variant_dict_init(&dict, NULL);
    g_variant_dict_insert_value(&dict, "entries", g_variant_builder_end(&entries));
    request->reply = g_variant_ref_sink(g_variant_dict_end(&dict));
    return TRUE;
}

const Account *
history_account(const Request *request, GError **error)
{
    const char *name = read_account(request);
    const GPtrArray *accounts = request->config->accounts;
    const Account *account =
        *name != '\0' ? config_account(request->config, name) : g_ptr_array_index(accounts, 0);

    if (account == NULL)
        no_account(name, error);
    if (*name == '\0' && accounts->len > 1) {
        g_set_error(error, REQUEST_ERROR, REQUEST_USAGE,
                    "there are %u accounts: name one with --account", accounts->len);
        return NULL;
    }
    return account;
}

/* Writes the audit entry of the given kind, and the answer. */
static gboolean
conclude(Request *request, const char *kind, const Account *account, const char *address,
         GError **error)
{
    g_autofree char *valid = g_utf8_make_valid(address, -1);
    GVariantDict details, answer;

    g_variant_dict_init(&details, NULL);
    g_variant_dict_insert(&details, "address", "s", valid);
    const AuditEntry entry = {.kind = kind,
                              .account = account->name,
                              .who = request->who,
                              .details = g_variant_dict_end(&details)};
    if (!audit_append(request->relay->db, &entry, request->now, error))
        return FALSE;
    g_variant_dict_init(&answer, NULL);
    g_variant_dict_insert(&answer, "account", "s", account->name);
    g_variant_dict_insert(&answer, "address", "s", valid);
    request->reply = g_variant_ref_sink(g_variant_dict_end(&answer));
    return TRUE;
}

gboolean
history_ask_vouch(Request *request, GError **error)
{
    g_autofree char *address = read_address(request, error);
    const Account *account = address ? history_account(request, error) : NULL;

    return account != NULL &&
           history_vouch(request->relay->db, account->name, address, request->who,
                         request->now, error) &&
           conclude(request, "vouched", account, address, error);
}

gboolean
history_ask_forget(Request *request, GError **error)
{
    g_autofree char *address = read_address(request, error);
    const Account *account = address ? history_account(request, error) : NULL;
    gboolean known = FALSE;

    if (account == NULL || !history_forget(request->relay->db, account->name, address,
                                           request->who, request->now, &known, error))
        return FALSE;
    if (!known) {
        g_set_error(error, REQUEST_ERROR, REQUEST_NOT_FOUND, "account %s knows nothing of %s",
                    account->name, address);
        return FALSE;
    }
    return conclude(request, "forgotten", account, address, error);
}

GHashTable *
history_reasons(Request *request, const Item *item, GError **error)
{
    const Account *account = config_account(request->config, item->account);
    g_autoptr(GHashTable) reasons =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)reason_free);

    for (guint i = 0; account != NULL && i < item->recipients->len; i++) {
        const ItemRecipient *recipient = g_ptr_array_index(item->recipients, i);
        Reason *reason = NULL;

        if (!reason_find(request->relay->db, request->config, account, recipient->normal,
                         &reason, error))
            return NULL;
        g_hash_table_insert(reasons, g_strdup(recipient->normal), reason);
    }
    return g_steal_pointer(&reasons);
}
