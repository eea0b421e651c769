#include "store/queue.h"

#include "lib/claims.h"
#include "lib/error.h"
#include "store/queue-sql.h"

/* The value packed in a blob; copied, because a row's bytes have no alignment. */
static GVariant *
unpack(Rows *rows, int column)
{
    gsize length = 0;
    gconstpointer bytes = rows_blob(rows, column, &length);
    g_autoptr(GBytes) copy = g_bytes_new(bytes, length);
    g_autoptr(GVariant) packed =
        g_variant_ref_sink(g_variant_new_from_bytes(G_VARIANT_TYPE_VARIANT, copy, FALSE));

    return g_variant_get_variant(packed);
}

static void
set_text(char **member, Rows *rows, int column)
{
    g_free(*member);
    *member = g_strdup(rows_text(rows, column));
}

/* The members that any value fits. Columns as in item_load. */
static void
read_plain(Item *item, Rows *rows)
{
    set_text(&item->id, rows, 0);
    set_text(&item->account, rows, 1);
    set_text(&item->login, rows, 2);
    set_text(&item->key, rows, 3);
    set_text(&item->digest, rows, 4);
    set_text(&item->message_id, rows, 5);
    item->conversation = rows_integer(rows, 6);
    item->line = rows_integer(rows, 9);
    set_text(&item->reason, rows, 10);
    set_text(&item->policy, rows, 11);
    set_text(&item->why, rows, 12);
    set_text(&item->answer, rows, 13);
    item->automatic = rows_integer(rows, 14) != 0;
    item->created = rows_integer(rows, 15);
    item->due = rows_integer(rows, 16);
    item->expires = rows_integer(rows, 17);
    item->retry = rows_integer(rows, 18);
    item->attempts = rows_integer(rows, 19);
    item->size = rows_integer(rows, 20);
    item->approvals = rows_integer(rows, 25);
    set_text(&item->author, rows, 26);
    set_text(&item->file, rows, 27);
}

/* The members that must be read back; what we cannot read was not written by us. */
static gboolean
read_formed(Item *item, Rows *rows, GError **error)
{
    g_autoptr(GVariant) envelope = unpack(rows, 22);
    g_autoptr(GVariant) extract = unpack(rows, 23);
    g_autoptr(GVariant) claims = unpack(rows, 24);

    g_clear_pointer(&item->envelope, envelope_free);
    g_clear_pointer(&item->extract, extract_free);
    item->envelope = envelope_from_variant(envelope, NULL);
    item->extract = extract_from_variant(extract, NULL);
    if (item->envelope == NULL || item->extract == NULL ||
        !claims_from_variant(claims, item->claims) ||
        !state_find(rows_text(rows, 7), &item->state) ||
        !tier_find(rows_text(rows, 8), &item->tier) ||
        !facts_parse(rows_text(rows, 21), &item->facts)) {
        g_set_error(error, EXEAT_ERROR, ERROR_INTEGRITY, "item %s: its record is damaged",
                    item->id);
        return FALSE;
    }
    return TRUE;
}

/* A column that holds nothing is no damage. */
static gboolean
read_replies(Item *item, Rows *rows, GError **error)
{
    gsize length;

    (void)rows_blob(rows, 28, &length);
    if (length == 0)
        return TRUE;
    item->replies = unpack(rows, 28);
    if (item->replies != NULL && g_variant_is_of_type(item->replies, G_VARIANT_TYPE("a(us)")))
        return TRUE;
    g_set_error(error, EXEAT_ERROR, ERROR_INTEGRITY, "item %s: its record is damaged",
                item->id);
    return FALSE;
}

static gboolean
load_recipients(Db *db, Item *item, GError **error)
{
    g_autoptr(Rows) rows = db_query(db, &recipient_load, error, "s", item->id);

    while (rows_next(rows)) {
        ItemRecipient *recipient = g_new0(ItemRecipient, 1);

        recipient->normal = g_strdup(rows_text(rows, 0));
        recipient->external = rows_integer(rows, 1) != 0;
        recipient->known = rows_integer(rows, 2) != 0;
        recipient->mentioned = rows_integer(rows, 3) != 0;
        recipient->outside = rows_integer(rows, 4) != 0;
        g_ptr_array_add(item->recipients, recipient);
    }
    return rows_end(rows, error);
}

gboolean
queue_load(Db *db, const char *id, Item **item_out, GError **error)
{
    g_autoptr(Rows) rows = db_query(db, &item_load, error, "s", id);
    g_autoptr(Item) item = NULL;
    gboolean found = FALSE;

    if (!rows_one(rows, &found, error))
        return FALSE;
    if (found) {
        item = item_new();
        read_plain(item, rows);
        if (!read_formed(item, rows, error) || !read_replies(item, rows, error) ||
            !load_recipients(db, item, error))
            return FALSE;
    }
    *item_out = g_steal_pointer(&item);
    return TRUE;
}

gboolean
queue_load_sound(Db *db, const char *id, Item **item_out, GError **error)
{
    g_autoptr(GError) trouble = NULL;

    if (queue_load(db, id, item_out, &trouble))
        return TRUE;
    *item_out = NULL;
    if (g_error_matches(trouble, EXEAT_ERROR, ERROR_INTEGRITY))
        return TRUE;
    g_propagate_error(error, g_steal_pointer(&trouble));
    return FALSE;
}
