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
    return db_text(db, &lost_look_up, item_out, error, "s", digest);
}
