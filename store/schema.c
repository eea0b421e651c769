#include "store/schema.h"

#include "lib/error.h"
#include "store/schema-sql.h"

/* In the order of their version, from 1. */
static const Sql *const migrations[] = {&schema_1, &schema_2, &schema_3};

static gboolean
migrate_from(Db *db, gint64 version, GError **error)
{
    if (version < 0 || version > (gint64)G_N_ELEMENTS(migrations)) {
        g_set_error(error, EXEAT_ERROR, ERROR_INTEGRITY,
                    "the database has version %" G_GINT64_FORMAT
                    ", this program knows versions up to %u",
                    version, (guint)G_N_ELEMENTS(migrations));
        return FALSE;
    }
    for (gsize i = version; i < G_N_ELEMENTS(migrations); i++) {
        if (!db_execute(db, migrations[i], error) ||
            db_run(db, &version_write, error, "i", (gint64)i + 1) < 0)
            return FALSE;
    }
    return TRUE;
}

static gboolean
migrate(Db *db, GError **error)
{
    gint64 version = 0;

    return db_execute(db, &version_table, error) &&
           db_integer(db, &version_read, 0, &version, error, "") &&
           migrate_from(db, version, error);
}

gboolean
schema_migrate(Db *db, GError **error)
{
    if (!db_begin(db, error))
        return FALSE;
    if (migrate(db, error))
        return db_commit(db, error);
    db_rollback(db);
    return FALSE;
}
