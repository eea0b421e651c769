#include "store/queue.h"

#include <sys/random.h>

#include "lib/claims.h"

#define ID_LENGTH      12
#define ID_TIME_LENGTH 5 /* comes round after a year */

static void
recipient_free(gpointer data)
{
    ItemRecipient *recipient = data;

    g_free(recipient->normal);
    g_free(recipient);
}

Item *
item_new(void)
{
    Item *item = g_new0(Item, 1);

    item->id = g_strdup("");
    item->account = g_strdup("");
    item->login = g_strdup("");
    item->author = g_strdup("");
    item->key = g_strdup("");
    item->digest = g_strdup("");
    item->message_id = g_strdup("");
    item->approvals = 1;
    item->file = g_strdup("");
    item->reason = g_strdup("");
    item->lines = g_strdup("");
    item->policy = g_strdup("");
    item->why = g_strdup("");
    item->answer = g_strdup("");
    item->envelope = envelope_new();
    item->extract = extract_new();
    item->claims = claims_new();
    item->recipients = g_ptr_array_new_with_free_func(recipient_free);
    return item;
}

void
item_free(Item *item)
{
    if (item == NULL)
        return;
    g_free(item->id);
    g_free(item->account);
    g_free(item->login);
    g_free(item->author);
    g_free(item->key);
    g_free(item->digest);
    g_free(item->message_id);
    g_free(item->file);
    g_free(item->reason);
    g_free(item->lines);
    g_free(item->policy);
    g_free(item->why);
    g_free(item->answer);
    g_clear_pointer(&item->envelope, envelope_free);
    g_clear_pointer(&item->extract, extract_free);
    g_clear_pointer(&item->claims, g_hash_table_unref);
    g_clear_pointer(&item->recipients, g_ptr_array_unref);
    g_clear_pointer(&item->replies, g_variant_unref);
    g_free(item);
}

guint
item_reply(const Item *item, guint place, const char **text_out)
{
    guint code = 0;

    *text_out = "";
    if (item->replies != NULL && place < g_variant_n_children(item->replies))
        g_variant_get_child(item->replies, place, "(u&s)", &code, text_out);
    return code;
}

char *
item_new_id(gint64 now)
{
    /* 32 characters that nobody confuses: 5 bits each. */
    static const char alphabet[] = "0123456789abcdefghjkmnpqrstvwxyz";
    guint64 rest = (guint64)now;
    guint8 bytes[ID_LENGTH];
    char id[ID_LENGTH + 1] = "";

    /* So few bytes never come short once the system has started (getrandom(2)). */
    g_assert(getrandom(bytes, sizeof bytes, 0) == (gssize)sizeof bytes);
    for (guint i = ID_TIME_LENGTH; i > 0; i--, rest /= 32)
        id[i - 1] = alphabet[rest % 32];
    for (guint i = ID_TIME_LENGTH; i < ID_LENGTH; i++)
        id[i] = alphabet[bytes[i] % 32];
    return g_strdup(id);
}

void
item_set_line(Item *item, guint line, const char *file)
{
    item->line = line;
    g_free(item->file);
    item->file = g_strdup(file != NULL ? file : "");
}

ItemRecipient *
item_find_recipient(const Item *item, const char *normal)
{
    for (guint i = 0; i < item->recipients->len; i++) {
        ItemRecipient *recipient = g_ptr_array_index(item->recipients, i);

        if (g_str_equal(recipient->normal, normal))
            return recipient;
    }
    return NULL;
}
