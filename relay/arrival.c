#include "relay/arrival.h"

#include <sys/stat.h>

#include "lib/claims.h"
#include "lib/digest.h"
#include "lib/error.h"

const char *
arrival_text(const Request *request, const char *name)
{
    const char *text = "";

    g_variant_lookup(request->arguments, name, "&s", &text);
    return text;
}

/* An item is made with empty texts, never NULL ones. Takes text. */
static void
replace(char **member, char *text)
{
    g_free(*member);
    *member = text;
}

gboolean
arrival_read_envelope(Request *request, GError **error)
{
    g_autoptr(GVariant) variant = g_variant_lookup_value(request->arguments, "envelope", NULL);

    if (variant == NULL) {
        g_set_error(error, EXEAT_ERROR, ERROR_PROTOCOL, "a message without its envelope");
        return FALSE;
    }
    g_clear_pointer(&request->item->envelope, envelope_free);
    request->item->envelope = envelope_from_variant(variant, error);
    return request->item->envelope != NULL;
}

gboolean
arrival_read_extract(Request *request, GError **error)
{
    g_autoptr(GVariant) variant =
        g_variant_lookup_value(request->arguments, "extract", G_VARIANT_TYPE_VARDICT);

    if (variant == NULL) {
        g_set_error(error, EXEAT_ERROR, ERROR_PROTOCOL, "a message without its extract");
        return FALSE;
    }
    g_clear_pointer(&request->item->extract, extract_free);
    request->item->extract = extract_from_variant(variant, error);
    return request->item->extract != NULL;
}

gboolean
arrival_read_bytes(Request *request, const char *account, GError **error)
{
    struct stat status;

    if (request->fd < 0 || fstat(request->fd, &status) != 0 || !S_ISREG(status.st_mode)) {
        g_set_error(error, EXEAT_ERROR, ERROR_PROTOCOL, "a message without its bytes");
        return FALSE;
    }
    Item *item = request->item;
    item->size = (guint64)status.st_size;
    replace(&item->account, g_strdup(account));
    replace(&item->digest, digest_action(account, item->envelope, request->fd, error));
    return item->digest != NULL;
}

void
arrival_read_claims(Request *request)
{
    g_autoptr(GVariant) claims =
        g_variant_lookup_value(request->arguments, "claims", G_VARIANT_TYPE("a{ss}"));

    g_clear_pointer(&request->item->claims, g_hash_table_unref);
    request->item->claims = claims_new();
    if (claims != NULL)
        claims_from_variant(claims, request->item->claims);
}

void
arrival_answer(Request *request, const char *action, const char *item, const char *text)
{
    GVariantDict dict;

    g_variant_dict_init(&dict, NULL);
    g_variant_dict_insert(&dict, "action", "s", action);
    g_variant_dict_insert(&dict, "item", "s", item);
    g_variant_dict_insert(&dict, "text", "s", text);
    request->reply = g_variant_ref_sink(g_variant_dict_end(&dict));
}

void
arrival_refuse(Request *request, const char *item, const char *status, const char *text)
{
    GVariantDict dict;

    g_variant_dict_init(&dict, NULL);
    g_variant_dict_insert(&dict, "action", "s", "refuse");
    g_variant_dict_insert(&dict, "item", "s", item);
    g_variant_dict_insert(&dict, "status", "s", status);
    g_variant_dict_insert(&dict, "text", "s", text);
    request->reply = g_variant_ref_sink(g_variant_dict_end(&dict));
}

/* It may go on. What no person approved says so where the account wants that. */
void
arrival_pass(Request *request, const Item *item)
{
    const Account *account = config_account(request->config, item->account);
    GVariantDict dict;

    g_variant_dict_init(&dict, NULL);
    g_variant_dict_insert(&dict, "action", "s", "pass");
    g_variant_dict_insert(&dict, "item", "s", item->id);
    g_variant_dict_insert(&dict, "automatic", "b",
                          item->automatic && account != NULL && account->mark_automatic);
    request->reply = g_variant_ref_sink(g_variant_dict_end(&dict));
}
