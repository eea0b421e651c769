#include "store/draft.h"

#include <string.h>

#include "store/draft-sql.h"

#define AT      " at "
#define NO_PORT ":0"

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

char *
draft_describe_place(const Draft *draft)
{
    const char *host = strstr(draft->place, AT);
    const char *end = host != NULL ? strchr(host, '/') : NULL;
    gsize length = end != NULL ? (gsize)(end - draft->place) : 0;

    if (length < strlen(NO_PORT) ||
        strncmp(end - strlen(NO_PORT), NO_PORT, strlen(NO_PORT)) != 0)
        return g_strdup(draft->place);
    return g_strdup_printf("%.*s%s", (int)(length - strlen(NO_PORT)), draft->place, end);
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
