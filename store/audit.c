#include "store/audit.h"

#include "lib/error.h"
#include "lib/vardict.h"
#include "store/audit-sql.h"

gboolean
audit_head(Db *db, ChainHead *head_out, gint64 *at_out, GError **error)
{
    g_autoptr(Rows) rows = db_query(db, &audit_newest, error, "");
    ChainHead head = {0};
    gboolean found = FALSE;

    if (!rows_one(rows, &found, error))
        return FALSE;
    if (found) {
        head.seq = rows_integer(rows, 0);
        g_strlcpy(head.seal, rows_text(rows, 1), sizeof head.seal);
    }
    *at_out = found ? rows_integer(rows, 2) : 0;
    *head_out = head;
    return TRUE;
}

/* With types, so that it reads back; control characters come out escaped (XE1). */
static char *
print_details(const AuditEntry *entry)
{
    if (entry->printed != NULL)
        return g_strdup(entry->printed);
    if (entry->details == NULL)
        return vardict_print_end(g_string_new(NULL));
    g_autoptr(GVariant) details = g_variant_ref_sink(entry->details);
    return vardict_print(details);
}

/* Adds an entry and moves head to it. */
static gboolean
add(Db *db, ChainHead *head, const AuditEntry *entry, gint64 now, GError **error)
{
    g_autofree char *details = print_details(entry);
    const ChainEntry next = {
        .seq = head->seq + 1,
        .at = now,
        .kind = entry->kind,
        .account = entry->account ? entry->account : "",
        .item = entry->item ? entry->item : "",
        .who = entry->who,
        .details = details,
    };
    g_autofree char *seal = chain_seal(db_seal(db), head, &next);

    if (db_run(db, &audit_add, error, "iissssss", next.seq, next.at, next.kind, next.account,
               next.item, next.who, next.details, seal) < 0)
        return FALSE;
    head->seq = next.seq;
    g_strlcpy(head->seal, seal, sizeof head->seal);
    return TRUE;
}

static gboolean
add_clock(Db *db, ChainHead *head, gint64 at, gint64 now, GError **error)
{
    GVariantDict details;

    g_variant_dict_init(&details, NULL);
    g_variant_dict_insert(&details, "from", "x", at);
    g_variant_dict_insert(&details, "to", "x", now);
    const AuditEntry entry = {
        .kind = "clock", .who = "relay", .details = g_variant_dict_end(&details)};
    return add(db, head, &entry, now, error);
}

gboolean
audit_append(Db *db, const AuditEntry *entry, gint64 now, GError **error)
{
    ChainHead head;
    gint64 at;

    if (!audit_head(db, &head, &at, error))
        return FALSE;
    if (now < at - AUDIT_JITTER && !add_clock(db, &head, at, now, error))
        return FALSE;
    return add(db, &head, entry, now, error);
}

gboolean
audit_append_after(Db *db, const ChainHead *head, const AuditEntry *entry, gint64 now,
                   GError **error)
{
    ChainHead last = *head;

    return add(db, &last, entry, now, error);
}

/* "" for an entry that is not there. */
static gboolean
find_seal(Db *db, gint64 seq, char seal_out[SEAL_LENGTH + 1], GError **error)
{
    g_autoptr(Rows) rows = db_query(db, &audit_seal_at, error, "i", seq);
    gboolean found = FALSE;

    if (!rows_one(rows, &found, error))
        return FALSE;
    g_strlcpy(seal_out, found ? rows_text(rows, 0) : "", SEAL_LENGTH + 1);
    return TRUE;
}

gboolean
audit_seal(Db *db, ChainHead *head, GError **error)
{
    if (!find_seal(db, head->seq, head->seal, error))
        return FALSE;
    if (head->seal[0] != '\0')
        return TRUE;
    g_set_error(error, EXEAT_ERROR, ERROR_TEMP, "there is no audit entry %" G_GINT64_FORMAT,
                head->seq);
    return FALSE;
}

gboolean
audit_has(Db *db, const ChainHead *head, gboolean *has_out, GError **error)
{
    char seal[SEAL_LENGTH + 1];

    if (!find_seal(db, head->seq, seal, error))
        return FALSE;
    *has_out = head->seq == 0 || g_str_equal(seal, head->seal);
    return TRUE;
}

/* Takes the rows, which may be NULL. */
static gboolean
visit_rows(Rows *taken, AuditVisit visit, gpointer data, GError **error)
{
    g_autoptr(Rows) rows = taken;

    while (rows_next(rows)) {
        const ChainEntry entry = {
            .seq = rows_integer(rows, 0),
            .at = rows_integer(rows, 1),
            .kind = rows_text(rows, 2),
            .account = rows_text(rows, 3),
            .item = rows_text(rows, 4),
            .who = rows_text(rows, 5),
            .details = rows_text(rows, 6),
        };
        if (!visit(&entry, rows_text(rows, 7), data))
            break;
    }
    return rows_end(rows, error);
}

gboolean
audit_walk(Db *db, gint64 after, guint limit, AuditVisit visit, gpointer data, GError **error)
{
    return visit_rows(db_query(db, &audit_page, error, "ii", after, (gint64)limit), visit,
                      data, error);
}

gboolean
audit_walk_item(Db *db, const char *item, guint limit, AuditVisit visit, gpointer data,
                GError **error)
{
    return visit_rows(db_query(db, &audit_of_item, error, "si", item, (gint64)limit), visit,
                      data, error);
}
