#include "store/owed.h"

#include "store/owed-sql.h"

gboolean
owed_add(Db *db, const Item *item, gboolean lasting, GError **error)
{
    return db_run(db, &owed_insert, error, "sssi", item->account, item->key, item->id,
                  (gint64)(lasting != FALSE)) >= 0;
}

gboolean
owed_find(Db *db, const char *account, const char *key, gint64 now, char **id_out,
          GError **error)
{
    return db_text(db, &owed_look_up, id_out, error, "ssi", account, key, now - OWED_AGAIN);
}

gboolean
owed_tell(Db *db, const char *id, gint64 now, gboolean *first_out, GError **error)
{
    gint64 noted = db_run(db, &owed_note, error, "si", id, now);

    if (noted < 0 || db_run(db, &owed_drop, error, "i", now - OWED_AGAIN) < 0)
        return FALSE;
    *first_out = noted > 0;
    return TRUE;
}
