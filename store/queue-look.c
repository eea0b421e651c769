#include "store/queue.h"

#include <string.h>

#include "store/queue-sql.h"
#include "store/sent.h"

/* An id with what it is sorted by, for merging lists: urgency, when it leaves, and its number
 * in order of creation. */
typedef struct {
    char *id;
    gint64 order[3];
} Listed;

gboolean
queue_find_key(Db *db, const char *account, const char *key, char **id_out, GError **error)
{
    return db_text(db, &find_key, id_out, error, "ss", account, key);
}

gboolean
queue_find_message(Db *db, const char *account, const char *message_id, char **id_out,
                   GError **error)
{
    /* Messages without an id are no versions of each other. */
    if (message_id == NULL || message_id[0] == '\0') {
        *id_out = NULL;
        return TRUE;
    }
    return db_text(db, &find_message, id_out, error, "ss", account, message_id);
}

gboolean
queue_find_latest(Db *db, const char *account, const char *message_id, char **id_out,
                  GError **error)
{
    return db_text(db, &find_latest, id_out, error, "ss", account, message_id);
}

/* Appends the ids of a query's first column to an array; takes the rows, which may be NULL. */
static gboolean
collect(Rows *taken, GPtrArray *ids, GError **error)
{
    g_autoptr(Rows) rows = taken;

    while (rows_next(rows))
        g_ptr_array_add(ids, g_strdup(rows_text(rows, 0)));
    return rows_end(rows, error);
}

GPtrArray *
queue_due(Db *db, gint64 now, guint limit, QueueChoice wanted, gpointer data, GError **error)
{
    g_autoptr(GPtrArray) ids = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(Rows) rows = db_query(db, &list_due, error, "i", now);

    while (ids->len < limit && rows_next(rows))
        if (wanted == NULL || wanted(rows_text(rows, 0), rows_text(rows, 1), data))
            g_ptr_array_add(ids, g_strdup(rows_text(rows, 0)));
    return rows_end(rows, error) ? g_steal_pointer(&ids) : NULL;
}

GPtrArray *
queue_since(Db *db, const char *account, gint64 since, const char *after, guint limit,
            GError **error)
{
    g_autoptr(GPtrArray) ids = g_ptr_array_new_with_free_func(g_free);

    if (!collect(
            db_query(db, &list_since, error, "sisi", account, since, after, (gint64)limit),
            ids, error))
        return NULL;
    return g_steal_pointer(&ids);
}

GPtrArray *
queue_in_state(Db *db, State state, GError **error)
{
    g_autoptr(GPtrArray) ids = g_ptr_array_new_with_free_func(g_free);

    g_assert(state_is_waiting(state));
    if (!collect(db_query(db, &list_state, error, "s", state_name(state)), ids, error))
        return NULL;
    return g_steal_pointer(&ids);
}

GPtrArray *
queue_with_message(Db *db, const char *account, const char *message_id, guint limit,
                   GError **error)
{
    g_autoptr(GPtrArray) ids = g_ptr_array_new_with_free_func(g_free);

    if (!collect(db_query(db, &list_message, error, "ssi", account, message_id, (gint64)limit),
                 ids, error))
        return NULL;
    return g_steal_pointer(&ids);
}

GPtrArray *
queue_delayed_in(Db *db, const char *account, gint64 conversation, GError **error)
{
    g_autoptr(GPtrArray) ids = g_ptr_array_new_with_free_func(g_free);

    if (!collect(db_query(db, &delayed_in_conversation, error, "si", account, conversation),
                 ids, error))
        return NULL;
    return g_steal_pointer(&ids);
}

GPtrArray *
queue_delayed_to(Db *db, const char *account, const char *recipient, GError **error)
{
    g_autoptr(GPtrArray) ids = g_ptr_array_new_with_free_func(g_free);

    if (!collect(db_query(db, &delayed_to_address, error, "ss", account, recipient), ids,
                 error))
        return NULL;
    return g_steal_pointer(&ids);
}

GPtrArray *
queue_delayed_after(Db *db, const char *after, guint limit, GError **error)
{
    g_autoptr(GPtrArray) ids = g_ptr_array_new_with_free_func(g_free);

    if (!collect(db_query(db, &delayed_after, error, "si", after, (gint64)limit), ids, error))
        return NULL;
    return g_steal_pointer(&ids);
}

gboolean
queue_put_aside(Db *db, const char *id, GError **error)
{
    return db_run(db, &item_set_aside, error, "s", id) >= 0;
}

gboolean
queue_next_due(Db *db, gint64 *when_out, GError **error)
{
    return db_integer(db, &next_due, G_MAXINT64, when_out, error, "");
}

static void
listed_clear(gpointer data)
{
    g_free(((Listed *)data)->id);
}

static gint
compare_listed(gconstpointer a, gconstpointer b)
{
    const gint64 *first = ((const Listed *)a)->order, *second = ((const Listed *)b)->order;
    gint result = 0;

    for (guint i = 0; i < G_N_ELEMENTS(((Listed *)0)->order) && result == 0; i++)
        result = (first[i] > second[i]) - (first[i] < second[i]);
    return result;
}

static GArray *
listed_new(void)
{
    GArray *listed = g_array_new(FALSE, FALSE, sizeof(Listed));

    g_array_set_clear_func(listed, listed_clear);
    return listed;
}

/* Takes the rows, which may be NULL. */
static gboolean
add_listed(Rows *taken, GArray *listed, GError **error)
{
    g_autoptr(Rows) rows = taken;

    while (rows_next(rows)) {
        Listed entry = {g_strdup(rows_text(rows, 0)),
                        {rows_integer(rows, 1), rows_integer(rows, 2), rows_integer(rows, 3)}};

        g_array_append_val(listed, entry);
    }
    return rows_end(rows, error);
}

static GPtrArray *
ids_of(const GArray *listed, guint from, guint to)
{
    GPtrArray *ids = g_ptr_array_new_with_free_func(g_free);

    for (guint i = from; i < to; i++)
        g_ptr_array_add(ids, g_strdup(g_array_index(listed, Listed, i).id));
    return ids;
}

GPtrArray *
queue_list(Db *db, const char *const *accounts, guint limit, GError **error)
{
    g_autoptr(GArray) listed = listed_new();

    if (accounts == NULL &&
        !add_listed(db_query(db, &list_all, error, "i", (gint64)limit), listed, error))
        return NULL;
    for (guint i = 0; accounts != NULL && accounts[i] != NULL; i++)
        if (!add_listed(db_query(db, &list_account, error, "si", accounts[i], (gint64)limit),
                        listed, error))
            return NULL;
    g_array_sort(listed, compare_listed);
    return ids_of(listed, listed->len - MIN(listed->len, limit), listed->len);
}

GPtrArray *
queue_agenda(Db *db, const char *const *accounts, gint64 failed_since, guint limit,
             GError **error)
{
    g_autoptr(GArray) listed = listed_new();

    for (guint i = 0; accounts[i] != NULL; i++)
        if (!add_listed(db_query(db, &list_agenda, error, "si", accounts[i], failed_since),
                        listed, error))
            return NULL;
    g_array_sort(listed, compare_listed);
    return ids_of(listed, 0, MIN(listed->len, limit));
}

GPtrArray *
queue_conversation(Db *db, const char *account, gint64 conversation, guint limit,
                   GError **error)
{
    g_autoptr(GArray) listed = listed_new();

    if (!add_listed(db_query(db, &list_conversation, error, "si", account, conversation),
                    listed, error))
        return NULL;
    g_array_sort(listed, compare_listed);
    return ids_of(listed, 0, MIN(listed->len, limit));
}

gboolean
queue_count(Db *db, const char *account, guint *counts_out, GError **error)
{
    g_autoptr(Rows) rows = db_query(db, &tally_load, error, "s", account);
    guint counts[STATE_COUNT] = {0};
    State state;

    while (rows_next(rows)) {
        if (state_find(rows_text(rows, 0), &state))
            counts[state] = rows_integer(rows, 1);
    }
    if (!rows_end(rows, error))
        return FALSE;
    memcpy(counts_out, counts, sizeof counts);
    return TRUE;
}

/* Those of all conversations, but for the item itself. */
static gboolean
count_sent(Db *db, const char *account, gint64 since, const char *recipient,
           const char *except, guint *count_out, GError **error)
{
    gint64 itself = 0;
    guint count;

    if (!sent_count(db, account, recipient, since, &count, error))
        return FALSE;
    if (count > 0 && !db_integer(db, &automatic_itself, 0, &itself, error, "ssis", except,
                                 account, since, recipient != NULL ? recipient : ""))
        return FALSE;
    *count_out = count - (guint)itself;
    return TRUE;
}

gboolean
queue_join(Db *db, const char *id, gint64 conversation, GError **error)
{
    return db_run(db, &item_join, error, "si", id, conversation) >= 0;
}

gboolean
queue_count_automatic(Db *db, const char *account, gint64 since, gint64 conversation,
                      const char *recipient, const char *except, guint *count_out,
                      GError **error)
{
    const char *but = except != NULL ? except : "";
    gint64 count = 0;

    g_assert(conversation == 0 || recipient == NULL);
    if (conversation == 0)
        return count_sent(db, account, since, recipient, but, count_out, error);
    if (!db_integer(db, &automatic_in_conversation, 0, &count, error, "sisi", account, since,
                    but, conversation))
        return FALSE;
    *count_out = (guint)count;
    return TRUE;
}

gboolean
queue_count_reached(Db *db, const Item *item, gint64 since, guint *count_out, GError **error)
{
    guint count;

    if (!sent_count_reached(db, item->account, since, &count, error))
        return FALSE;
    for (guint i = 0; i < item->recipients->len; i++) {
        const ItemRecipient *recipient = item->recipients->pdata[i];
        gboolean reached;

        if (!sent_reached(db, item->account, recipient->normal, since, &reached, error))
            return FALSE;
        count += !reached;
    }
    *count_out = count;
    return TRUE;
}

gboolean
queue_has_pending(Db *db, const char *account, gint64 conversation, const char *except,
                  gboolean *pending_out, GError **error)
{
    gint64 found = 0;

    if (conversation != 0 && !db_integer(db, &pending_find, 0, &found, error, "sis", account,
                                         conversation, except != NULL ? except : ""))
        return FALSE;
    *pending_out = found != 0;
    return TRUE;
}
