#include "store/queue.h"

#include <string.h>

#include "store/queue-sql.h"

/* An id beside its number in order of creation, for merging lists. */
typedef struct {
    gint64 seq;
    char *id;
} Listed;

static gboolean
find_one(Db *db, const Sql *sql, const char *account, const char *value, char **id_out,
         GError **error)
{
    g_autoptr(Rows) rows = db_query(db, sql, error, "ss", account, value);
    gboolean found = FALSE;

    if (rows == NULL || !rows_one(rows, &found, error))
        return FALSE;
    *id_out = found ? g_strdup(rows_text(rows, 0)) : NULL;
    return TRUE;
}

gboolean
queue_find_key(Db *db, const char *account, const char *key, char **id_out, GError **error)
{
    return find_one(db, &find_key, account, key, id_out, error);
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
    return find_one(db, &find_message, account, message_id, id_out, error);
}

gboolean
queue_find_latest(Db *db, const char *account, const char *message_id, char **id_out,
                  GError **error)
{
    return find_one(db, &find_latest, account, message_id, id_out, error);
}

/* Appends the ids of a query's first column to an array; takes the rows, which may be NULL. */
static gboolean
collect(Rows *taken, GPtrArray *ids, GError **error)
{
    g_autoptr(Rows) rows = taken;
    g_autoptr(GError) trouble = NULL;

    if (rows == NULL)
        return FALSE;
    while (rows_next(rows, &trouble))
        g_ptr_array_add(ids, g_strdup(rows_text(rows, 0)));
    if (trouble == NULL)
        return TRUE;
    g_propagate_error(error, g_steal_pointer(&trouble));
    return FALSE;
}

GPtrArray *
queue_due(Db *db, gint64 now, guint limit, GError **error)
{
    g_autoptr(GPtrArray) ids = g_ptr_array_new_with_free_func(g_free);

    if (!collect(db_query(db, &list_due, error, "ii", now, (gint64)limit), ids, error))
        return NULL;
    return g_steal_pointer(&ids);
}

GPtrArray *
queue_in_state(Db *db, State state, GError **error)
{
    g_autoptr(GPtrArray) ids = g_ptr_array_new_with_free_func(g_free);

    if (!collect(db_query(db, &list_state, error, "s", state_name(state)), ids, error))
        return NULL;
    return g_steal_pointer(&ids);
}

GPtrArray *
queue_conversation(Db *db, const char *account, gint64 conversation, guint limit,
                   GError **error)
{
    g_autoptr(GPtrArray) ids = g_ptr_array_new_with_free_func(g_free);

    if (!collect(db_query(db, &list_conversation, error, "sii", account, conversation,
                          (gint64)limit),
                 ids, error))
        return NULL;
    return g_steal_pointer(&ids);
}

gboolean
queue_put_aside(Db *db, const char *id, GError **error)
{
    return db_run(db, &timer_clear, error, "s", id) >= 0;
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
    gint64 first = ((const Listed *)a)->seq;
    gint64 second = ((const Listed *)b)->seq;

    return (first > second) - (first < second);
}

static gboolean
list_one(Db *db, const char *account, gboolean waiting, guint limit, GArray *listed,
         GError **error)
{
    const Sql *all = waiting ? &list_waiting : &list_all;
    const Sql *one = waiting ? &list_account_waiting : &list_account;
    g_autoptr(GError) trouble = NULL;
    g_autoptr(Rows) rows = account == NULL
                               ? db_query(db, all, error, "i", (gint64)limit)
                               : db_query(db, one, error, "si", account, (gint64)limit);

    if (rows == NULL)
        return FALSE;
    while (rows_next(rows, &trouble)) {
        Listed entry = {rows_integer(rows, 1), g_strdup(rows_text(rows, 0))};

        g_array_append_val(listed, entry);
    }
    if (trouble == NULL)
        return TRUE;
    g_propagate_error(error, g_steal_pointer(&trouble));
    return FALSE;
}

GPtrArray *
queue_list(Db *db, const char *const *accounts, gboolean waiting, guint limit, GError **error)
{
    g_autoptr(GArray) listed = g_array_new(FALSE, FALSE, sizeof(Listed));
    g_autoptr(GPtrArray) ids = g_ptr_array_new_with_free_func(g_free);

    g_array_set_clear_func(listed, listed_clear);
    if (accounts == NULL && !list_one(db, NULL, waiting, limit, listed, error))
        return NULL;
    for (guint i = 0; accounts != NULL && accounts[i] != NULL; i++) {
        if (!list_one(db, accounts[i], waiting, limit, listed, error))
            return NULL;
    }
    g_array_sort(listed, compare_listed);
    for (guint i = listed->len - MIN(listed->len, limit); i < listed->len; i++)
        g_ptr_array_add(ids, g_strdup(g_array_index(listed, Listed, i).id));
    return g_steal_pointer(&ids);
}

gboolean
queue_count(Db *db, const char *account, guint *counts_out, GError **error)
{
    g_autoptr(Rows) rows = db_query(db, &tally_load, error, "s", account);
    g_autoptr(GError) trouble = NULL;
    guint counts[STATE_COUNT] = {0};
    State state;

    if (rows == NULL)
        return FALSE;
    while (rows_next(rows, &trouble)) {
        if (state_find(rows_text(rows, 0), &state))
            counts[state] = rows_integer(rows, 1);
    }
    if (trouble != NULL) {
        g_propagate_error(error, g_steal_pointer(&trouble));
        return FALSE;
    }
    memcpy(counts_out, counts, sizeof counts);
    return TRUE;
}

gboolean
queue_count_automatic(Db *db, const char *account, gint64 since, gint64 conversation,
                      const char *recipient, const char *except, guint *count_out,
                      GError **error)
{
    const char *who = recipient != NULL ? recipient : "";
    const char *but = except != NULL ? except : "";
    gint64 count = 0;
    gboolean counted;

    if (conversation != 0)
        counted = db_integer(db, &automatic_in_conversation, 0, &count, error, "sissi",
                             account, since, but, who, conversation);
    else if (recipient != NULL)
        counted = db_integer(db, &automatic_to_address, 0, &count, error, "siss", account,
                             since, but, who);
    else
        counted = db_integer(db, &automatic_in_account, 0, &count, error, "sis", account,
                             since, but);
    if (counted)
        *count_out = (guint)count;
    return counted;
}

GHashTable *
queue_fanout(Db *db, const char *account, gint64 since, const char *except, GError **error)
{
    g_autoptr(GHashTable) set = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GError) trouble = NULL;
    const char *but = except != NULL ? except : "";
    g_autoptr(Rows) rows =
        db_query(db, &automatic_recipients, error, "sis", account, since, but);

    if (rows == NULL)
        return NULL;
    while (rows_next(rows, &trouble)) {
        const char *address = rows_text(rows, 0);
        if (!g_hash_table_contains(set, address))
            g_hash_table_add(set, g_strdup(address));
    }
    if (trouble == NULL)
        return g_steal_pointer(&set);
    g_propagate_error(error, g_steal_pointer(&trouble));
    return NULL;
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
