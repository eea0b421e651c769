#include "store/draft.h"

#include "store/draft-sql.h"

void
draft_free(Draft *draft)
{
    if (draft == NULL)
        return;
    g_free(draft->item);
    g_free(draft->message_id);
    g_free(draft->place);
    g_free(draft);
}

/* While it is being sent, too: it may come back. */
gboolean
draft_is_wanted(State state)
{
    return state == STATE_HELD || state == STATE_DRAFT || state == STATE_DELAYED ||
           state == STATE_APPROVED || state == STATE_SENDING;
}

static Draft *
read_row(Rows *rows)
{
    Draft *draft = g_new0(Draft, 1);
    const char *place = rows_text(rows, 5);

    draft->item = g_strdup(rows_text(rows, 0));
    state_find(rows_text(rows, 1), &draft->state);
    draft->message_id = g_strdup(rows_text(rows, 2));
    draft->created = rows_integer(rows, 3);
    draft->due = rows_integer(rows, 4);
    draft->place = g_strdup(place != NULL ? place : "");
    draft->validity = (guint32)rows_integer(rows, 6);
    draft->uid = (guint32)rows_integer(rows, 7);
    draft->put = rows_integer(rows, 8);
    return draft;
}

GPtrArray *
draft_list(Db *db, const char *account, GError **error)
{
    g_autoptr(GPtrArray) drafts = g_ptr_array_new_with_free_func((GDestroyNotify)draft_free);
    g_autoptr(Rows) rows = db_query(db, &draft_load, error, "s", account);

    while (rows_next(rows))
        g_ptr_array_add(drafts, read_row(rows));
    return rows_end(rows, error) ? g_steal_pointer(&drafts) : NULL;
}

gboolean
draft_find(Db *db, const char *item, Draft **draft_out, GError **error)
{
    g_autoptr(Rows) rows = db_query(db, &draft_of, error, "s", item);
    gboolean found = FALSE;

    if (!rows_one(rows, &found, error))
        return FALSE;
    *draft_out = found ? read_row(rows) : NULL;
    return TRUE;
}

gboolean
draft_keep(Db *db, const Draft *draft, GError **error)
{
    return db_run(db, &draft_write, error, "ssiii", draft->item, draft->place,
                  (gint64)draft->validity, (gint64)draft->uid, draft->put) >= 0;
}

gboolean
draft_drop(Db *db, const char *item, GError **error)
{
    return db_run(db, &draft_remove, error, "s", item) >= 0;
}
