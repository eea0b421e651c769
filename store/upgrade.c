#include "store/upgrade.h"

#include "store/upgrade-sql.h"

gboolean
upgrade_note(Db *db, const char *version, char **before_out, GError **error)
{
    g_autofree char *before = NULL;

    *before_out = NULL;
    if (!db_text(db, &upgrade_read, &before, error, ""))
        return FALSE;
    if (g_strcmp0(before, version) == 0)
        return TRUE;
    if (db_run(db, &upgrade_write, error, "s", version) < 0)
        return FALSE;
    *before_out = g_steal_pointer(&before);
    return TRUE;
}
