#include "store/lost.h"

#include "store/lost-sql.h"

gboolean
lost_add(Db *db, const char *digest, const char *item, GError **error)
{
    return db_run(db, &lost_insert, error, "ss", digest, item) >= 0;
}

gboolean
lost_find(Db *db, const char *digest, char **item_out, GError **error)
{
    g_autoptr(Rows) rows = db_query(db, &lost_look_up, error, "s", digest);
    gboolean found = FALSE;

    if (rows == NULL || !rows_one(rows, &found, error))
        return FALSE;
    *item_out = found ? g_strdup(rows_text(rows, 0)) : NULL;
    return TRUE;
}
