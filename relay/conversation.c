#include "relay/conversation.h"

#include "store/history.h"

/* What ties items together. */
typedef struct {
    GHashTable *ids;     /* set of char * */
    GHashTable *numbers; /* set of gint64 *: conversations */
} Ties;

static void
ties_free(Ties *ties)
{
    g_hash_table_unref(ties->ids);
    g_hash_table_unref(ties->numbers);
    g_free(ties);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Ties, ties_free)

static Ties *
ties_new(void)
{
    Ties *ties = g_new0(Ties, 1);

    ties->ids = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    ties->numbers = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    return ties;
}

static void
add_number(Ties *ties, gint64 number)
{
    if (number != 0)
        g_hash_table_add(ties->numbers, g_memdup2(&number, sizeof number));
}

static gboolean
add_id(Db *db, const char *account, const char *id, Ties *ties, GError **error)
{
    gboolean automatic;
    gint64 number;

    if (*id == '\0')
        return TRUE;
    if (!history_trace(db, account, id, &number, &automatic, error))
        return FALSE;
    add_number(ties, number);
    g_hash_table_add(ties->ids, g_strdup(id));
    return TRUE;
}

static void
join_keys(GHashTable *set, GHashTable *more, gboolean strings)
{
    GHashTableIter iter;
    gpointer key;

    g_hash_table_iter_init(&iter, more);
    while (g_hash_table_iter_next(&iter, &key, NULL))
        g_hash_table_add(set,
                         strings ? (gpointer)g_strdup(key) : g_memdup2(key, sizeof(gint64)));
}

static void
join(Ties *ties, const Ties *more)
{
    join_keys(ties->ids, more->ids, TRUE);
    join_keys(ties->numbers, more->numbers, FALSE);
}

static gboolean
meet(GHashTable *set, GHashTable *other)
{
    GHashTableIter iter;
    gpointer key;

    g_hash_table_iter_init(&iter, other);
    while (g_hash_table_iter_next(&iter, &key, NULL))
        if (g_hash_table_contains(set, key))
            return TRUE;
    return FALSE;
}

static Ties *
find_ties(Db *db, const Item *item, GError **error)
{
    g_autoptr(Ties) own = ties_new(), named = ties_new();
    char *const *parents = item->extract->parents;

    add_number(own, item->conversation);
    if (!add_id(db, item->account, item->message_id, own, error))
        return NULL;
    for (guint i = 0; parents[i] != NULL && i < HISTORY_PARENTS_MAX; i++)
        if (!add_id(db, item->account, parents[i], named, error))
            return NULL;
    if (g_hash_table_size(named->numbers) <= 1)
        join(own, named);
    return g_steal_pointer(&own);
}

/* An item that waits, and may belong to the conversation. */
typedef struct {
    char *id;
    Ties *ties;
    gboolean found;
} Candidate;

static void
candidate_free(gpointer data)
{
    Candidate *candidate = data;

    g_free(candidate->id);
    if (candidate->ties != NULL)
        ties_free(candidate->ties);
    g_free(candidate);
}

static GPtrArray *
list_candidates(Db *db, const char *account, guint limit, GError **error)
{
    const char *const accounts[] = {account, NULL};
    g_autoptr(GPtrArray) ids = queue_agenda(db, accounts, G_MAXINT64, limit, error);
    g_autoptr(GPtrArray) candidates = g_ptr_array_new_with_free_func(candidate_free);

    for (guint i = 0; ids != NULL && i < ids->len; i++) {
        g_autoptr(Item) item = NULL;

        if (!queue_load_sound(db, g_ptr_array_index(ids, i), &item, error))
            return NULL;
        if (item == NULL)
            continue; /* it can be sent by nobody */
        Candidate *candidate = g_new0(Candidate, 1);
        g_ptr_array_add(candidates, candidate);
        candidate->id = g_strdup(item->id);
        candidate->ties = find_ties(db, item, error);
        if (candidate->ties == NULL)
            return NULL;
    }
    return ids != NULL ? g_steal_pointer(&candidates) : NULL;
}

/* Joins the ties of candidates that meet them. */
static void
follow_waiting(GPtrArray *candidates, Ties *ties)
{
    for (guint i = 0; i < candidates->len; i++) {
        Candidate *candidate = g_ptr_array_index(candidates, i);

        if (candidate->found || (!meet(ties->ids, candidate->ties->ids) &&
                                 !meet(ties->numbers, candidate->ties->numbers)))
            continue;
        join(ties, candidate->ties);
        candidate->found = TRUE;
    }
}

/* Joins those of the items that have one of the ids, also when they wait no more. */
static gboolean
follow_ids(Db *db, const char *account, guint limit, Ties *ties, GError **error)
{
    g_autofree gpointer *ids = g_hash_table_get_keys_as_array(ties->ids, NULL);

    for (guint i = 0; ids[i] != NULL; i++) {
        g_autofree char *id = NULL;
        g_autoptr(Item) item = NULL;

        if (!queue_find_latest(db, account, ids[i], &id, error) ||
            (id != NULL && !queue_load_sound(db, id, &item, error)))
            return FALSE;
        g_autoptr(Ties) more = item != NULL ? find_ties(db, item, error) : ties_new();
        if (more == NULL)
            return FALSE;
        if (g_hash_table_size(ties->ids) < limit)
            join(ties, more);
    }
    return TRUE;
}

/* Each item that is found may lead to others. */
static gboolean
follow(Db *db, const char *account, guint limit, GPtrArray *candidates, Ties *ties,
       GError **error)
{
    guint before = 0;

    for (guint now = 1; now != before;) {
        before = now;
        follow_waiting(candidates, ties);
        if (!follow_ids(db, account, limit, ties, error))
            return FALSE;
        now = g_hash_table_size(ties->ids) + g_hash_table_size(ties->numbers);
    }
    return TRUE;
}

typedef struct {
    GHashTable *seen;
    GPtrArray *ids;
    guint limit;
} List;

/* Takes the ids, which may be NULL. */
static gboolean
add_all(List *list, GPtrArray *taken)
{
    g_autoptr(GPtrArray) ids = taken;

    for (guint i = 0; ids != NULL && i < ids->len; i++) {
        const char *id = g_ptr_array_index(ids, i);

        if (list->ids->len < list->limit && g_hash_table_add(list->seen, g_strdup(id)))
            g_ptr_array_add(list->ids, g_strdup(id));
    }
    return ids != NULL;
}

static gboolean
list_rest(Db *db, const char *account, const Ties *ties, List *list, GError **error)
{
    GHashTableIter iter;
    gpointer key;

    g_hash_table_iter_init(&iter, ties->numbers);
    while (g_hash_table_iter_next(&iter, &key, NULL))
        if (!add_all(list,
                     queue_conversation(db, account, *(gint64 *)key, list->limit, error)))
            return FALSE;
    g_hash_table_iter_init(&iter, ties->ids);
    while (g_hash_table_iter_next(&iter, &key, NULL))
        if (!add_all(list, queue_with_message(db, account, key, list->limit, error)))
            return FALSE;
    return TRUE;
}

GPtrArray *
conversation_items(Db *db, const Item *item, guint limit, GError **error)
{
    g_autoptr(Ties) ties = find_ties(db, item, error);
    g_autoptr(GPtrArray) candidates =
        ties ? list_candidates(db, item->account, limit, error) : NULL;
    g_autoptr(GPtrArray) ids = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    List list = {seen, ids, limit};

    if (candidates == NULL || !follow(db, item->account, limit, candidates, ties, error))
        return NULL;
    for (guint i = 0; i < candidates->len; i++) {
        const Candidate *candidate = g_ptr_array_index(candidates, i);

        if (candidate->found && g_hash_table_add(seen, g_strdup(candidate->id)))
            g_ptr_array_add(ids, g_strdup(candidate->id));
    }
    if (g_hash_table_add(seen, g_strdup(item->id)))
        g_ptr_array_add(ids, g_strdup(item->id));
    return list_rest(db, item->account, ties, &list, error) ? g_steal_pointer(&ids) : NULL;
}
