#include "store/audit.h"

#include "store/audit-sql.h"

gboolean
audit_append(Db *db, const AuditEntry *entry, gint64 now, GError **error)
{
    g_autoptr(GVariant) details = NULL;
    g_autofree char *text = NULL;

    if (entry->details != NULL) {
        details = g_variant_ref_sink(entry->details);
        /* With types, so that it reads back; control characters come out escaped (XE1). */
        text = g_variant_print(details, TRUE);
    }
    return db_run(db, &audit_add, error, "isssss", now, entry->kind, entry->account,
                  entry->item, entry->who, text != NULL ? text : "") >= 0;
}
