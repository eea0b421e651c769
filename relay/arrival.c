#include "relay/arrival.h"

#include <sys/stat.h>

#include "lib/claims.h"
#include "lib/digest.h"
#include "lib/error.h"
#include "lib/vardict.h"

/* An item is made with empty texts, never NULL ones. Takes text. */
static void
replace(char **member, char *text)
{
    g_free(*member);
    *member = text;
}

static gboolean
read_envelope(Item *item, GVariant *value, GError **error)
{
    g_clear_pointer(&item->envelope, envelope_free);
    item->envelope = envelope_from_variant(value, error);
    return item->envelope != NULL;
}

static gboolean
read_extract(Item *item, GVariant *value, GError **error)
{
    g_clear_pointer(&item->extract, extract_free);
    item->extract = extract_from_variant(value, error);
    return item->extract != NULL;
}

/* What is no such argument is left to those who ask for it. */
static gboolean
read_argument(Request *request, const char *key, GVariant *value, GError **error)
{
    Arrival *came = &request->came;
    const struct {
        const char *key;
        const char **text;
    } texts[] = {{"login", &came->login},
                 {"queue-id", &came->queue_id},
                 {"key", &came->key},
                 {"item", &came->item}};

    if (g_str_equal(key, "envelope"))
        return read_envelope(request->item, value, error);
    if (g_str_equal(key, "extract"))
        return read_extract(request->item, value, error);
    if (g_str_equal(key, "claims"))
        claims_from_variant(value, request->item->claims);
    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++)
        if (g_str_equal(key, texts[i].key))
            vardict_get_text(value, texts[i].text);
    return TRUE;
}

gboolean
arrival_read(Request *request, gboolean extract, GError **error)
{
    Item *item = request->item = item_new();

    request->came = (Arrival){"", "", "", ""};
    g_clear_pointer(&item->envelope, envelope_free);
    if (extract)
        g_clear_pointer(&item->extract, extract_free);
    for (gsize i = 0; i < g_variant_n_children(request->arguments); i++) {
        const char *key;
        g_autoptr(GVariant) value = vardict_member(request->arguments, i, &key);

        if (!read_argument(request, key, value, error))
            return FALSE;
    }
    if (item->envelope != NULL && item->extract != NULL)
        return TRUE;
    g_set_error(error, EXEAT_ERROR, ERROR_PROTOCOL, "a message without its %s",
                item->envelope == NULL ? "envelope" : "extract");
    return FALSE;
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

/* "" leaves a text out. */
static void
answer(Request *request, const char *action, const char *item, const char *status,
       const char *text, gboolean automatic)
{
    GVariantBuilder reply;

    g_variant_builder_init(&reply, G_VARIANT_TYPE_VARDICT);
    vardict_add_text(&reply, "action", action);
    vardict_add_text(&reply, "item", item);
    vardict_add_text(&reply, "status", status);
    vardict_add_text(&reply, "text", text);
    if (automatic)
        vardict_add(&reply, "automatic", g_variant_new_boolean(TRUE));
    request->reply = g_variant_ref_sink(g_variant_builder_end(&reply));
}

void
arrival_answer(Request *request, const char *action, const char *item, const char *text)
{
    answer(request, action, item, "", text, FALSE);
}

void
arrival_refuse(Request *request, const char *item, const char *status, const char *text)
{
    answer(request, "refuse", item, status, text, FALSE);
}

void
arrival_pass(Request *request, const Item *item)
{
    const Account *account = config_account(request->config, item->account);

    answer(request, "pass", item->id, "", "",
           item->automatic && account != NULL && account->mark_automatic);
}
