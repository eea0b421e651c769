#include "relay/export.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/error.h"
#include "relay/people.h"
#include "store/audit.h"

static gboolean
is_text(char *const *parameters)
{
    for (; *parameters != NULL; parameters++)
        if (!g_utf8_validate(*parameters, -1, NULL))
            return FALSE;
    return TRUE;
}

/* The file holds text: other bytes would not come back as they were. */
static gboolean
is_all_text(const Envelope *envelope)
{
    gboolean text =
        g_utf8_validate(envelope->sender, -1, NULL) && is_text(envelope->parameters);

    for (guint i = 0; text && i < envelope->recipients->len; i++) {
        const EnvelopeRecipient *recipient = g_ptr_array_index(envelope->recipients, i);

        text = g_utf8_validate(recipient->address, -1, NULL) && is_text(recipient->parameters);
    }
    return text;
}

static gboolean
may_export(const Item *item, GError **error)
{
    if (item->tier == TIER_RELEASE || item->tier == TIER_REFUSE)
        g_set_error(error, REQUEST_ERROR, REQUEST_CONFLICT, "the bytes of %s were not kept",
                    item->id);
    else if (!is_all_text(item->envelope))
        g_set_error(error, REQUEST_ERROR, REQUEST_CONFLICT,
                    "the envelope of %s has bytes that are no UTF-8", item->id);
    else
        return TRUE;
    return FALSE;
}

static GVariant *
view_recipients(const Envelope *envelope)
{
    GVariantBuilder builder;

    g_variant_builder_init(&builder, G_VARIANT_TYPE("aa{sv}"));
    for (guint i = 0; i < envelope->recipients->len; i++) {
        const EnvelopeRecipient *recipient = g_ptr_array_index(envelope->recipients, i);
        GVariantDict dict;

        g_variant_dict_init(&dict, NULL);
        g_variant_dict_insert(&dict, "address", "s", recipient->address);
        g_variant_dict_insert(&dict, "parameters", "^as", recipient->parameters);
        g_variant_builder_add_value(&builder, g_variant_dict_end(&dict));
    }
    return g_variant_builder_end(&builder);
}

static GVariant *
view_envelope(const Item *item)
{
    const Envelope *envelope = item->envelope;
    GVariantDict dict;

    g_variant_dict_init(&dict, NULL);
    g_variant_dict_insert(&dict, "account", "s", item->account);
    g_variant_dict_insert(&dict, "digest", "s", item->digest);
    g_variant_dict_insert(&dict, "sender", "s", envelope->sender);
    g_variant_dict_insert(&dict, "sender_parameters", "^as", envelope->parameters);
    g_variant_dict_insert_value(&dict, "recipients", view_recipients(envelope));
    return g_variant_dict_end(&dict);
}

/* The receiver may read it and nothing more. */
static gboolean
copy_bytes(Request *request, const Item *item, GError **error)
{
    request->reply_fd = memfd_create("item", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (request->reply_fd < 0) {
        g_set_error(error, EXEAT_ERROR, ERROR_TEMP, "no memory for %s: %s", item->id,
                    g_strerror(errno));
        return FALSE;
    }
    if (!queue_copy_bytes(request->relay->db, item->id, request->reply_fd, error))
        return FALSE;
    if (fcntl(request->reply_fd, F_ADD_SEALS,
              F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) == 0)
        return TRUE;
    g_set_error(error, EXEAT_ERROR, ERROR_TEMP, "%s: %s", item->id, g_strerror(errno));
    return FALSE;
}

gboolean
export_item(Request *request, GError **error)
{
    g_autoptr(Item) item = people_item(request, error);

    if (item == NULL || !may_export(item, error) || !copy_bytes(request, item, error))
        return FALSE;
    const AuditEntry entry = {
        .kind = "shown", .account = item->account, .item = item->id, .who = request->who};
    if (!audit_append(request->relay->db, &entry, request->now, error))
        return FALSE;
    request->reply = g_variant_ref_sink(view_envelope(item));
    return TRUE;
}
