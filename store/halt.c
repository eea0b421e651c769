#include "store/halt.h"

#include "store/audit.h"
#include "store/halt-sql.h"

static const char *const names[] = {
    [HALT_STOPPED] = "stopped", [HALT_SUSPENDED] = "suspended", [HALT_REVOKED] = "revoked"};

void
halt_free(Halt *halt)
{
    if (halt == NULL)
        return;
    g_free(halt->account);
    g_free(halt->why);
    g_free(halt->who);
    g_free(halt);
}

const char *
halt_kind_name(HaltKind kind)
{
    return names[kind];
}

char *
halt_describe(const Halt *halt)
{
    return g_strdup_printf("%s: %s", names[halt->kind], halt->why);
}

static gboolean
record(Db *db, const char *kind, const char *account, const char *who, GVariant *details,
       gint64 now, GError **error)
{
    const AuditEntry entry = {
        .kind = kind, .account = account, .who = who, .details = details};

    return audit_append(db, &entry, now, error);
}

static GVariant *
describe(HaltKind kind, const char *why)
{
    GVariantDict details;

    g_variant_dict_init(&details, NULL);
    g_variant_dict_insert(&details, "halt", "s", names[kind]);
    if (why != NULL)
        g_variant_dict_insert(&details, "why", "s", why);
    return g_variant_dict_end(&details);
}

gboolean
halt_set(Db *db, const Halt *halt, gboolean *set_out, GError **error)
{
    gint64 added = db_run(db, &halt_add, error, "ssssi", halt->account, names[halt->kind],
                          halt->why, halt->who, halt->since);

    if (added < 0)
        return FALSE;
    if (added > 0 && !record(db, "halted", halt->account, halt->who,
                             describe(halt->kind, halt->why), halt->since, error))
        return FALSE;
    *set_out = added > 0;
    return TRUE;
}

gboolean
halt_lift(Db *db, HaltKind kind, const char *account, const char *who, gint64 now,
          gboolean *lifted_out, GError **error)
{
    gint64 removed = db_run(db, &halt_remove, error, "ss", account, names[kind]);

    if (removed < 0)
        return FALSE;
    if (removed > 0 && !record(db, "lifted", account, who, describe(kind, NULL), now, error))
        return FALSE;
    *lifted_out = removed > 0;
    return TRUE;
}

/* A kind that nobody knows was not written by us: the strictest is assumed. */
static HaltKind
read_kind(const char *name)
{
    for (HaltKind kind = HALT_STOPPED; kind < HALT_REVOKED; kind++)
        if (g_strcmp0(names[kind], name) == 0)
            return kind;
    return HALT_REVOKED;
}

/* Takes the rows, which may be NULL. */
static GPtrArray *
read_halts(Rows *taken, GError **error)
{
    g_autoptr(Rows) rows = taken;
    g_autoptr(GPtrArray) halts = g_ptr_array_new_with_free_func((GDestroyNotify)halt_free);

    while (rows_next(rows)) {
        Halt *halt = g_new0(Halt, 1);

        halt->account = g_strdup(rows_text(rows, 0));
        halt->kind = read_kind(rows_text(rows, 1));
        halt->why = g_strdup(rows_text(rows, 2));
        halt->who = g_strdup(rows_text(rows, 3));
        halt->since = rows_integer(rows, 4);
        g_ptr_array_add(halts, halt);
    }
    return rows_end(rows, error) ? g_steal_pointer(&halts) : NULL;
}

/* The strictest of an account, "" for everything, if it is stricter than *halt, which it then
 * replaces. */
static gboolean
tighten(Db *db, const char *account, Halt **halt, GError **error)
{
    g_autoptr(GPtrArray) halts =
        read_halts(db_query(db, &halt_load_account, error, "s", account), error);

    if (halts == NULL)
        return FALSE;
    while (halts->len > 0) {
        Halt *other = g_ptr_array_steal_index(halts, 0);
        gboolean stricter = *halt == NULL || other->kind > (*halt)->kind;

        halt_free(stricter ? *halt : other);
        if (stricter)
            *halt = other;
    }
    return TRUE;
}

/* Two looks at one place each: every submission asks, and most often there is nothing. */
gboolean
halt_find(Db *db, const char *account, Halt **halt_out, GError **error)
{
    g_autoptr(Halt) halt = NULL;

    if (!tighten(db, "", &halt, error) || !tighten(db, account, &halt, error))
        return FALSE;
    *halt_out = g_steal_pointer(&halt);
    return TRUE;
}

GPtrArray *
halt_list(Db *db, GError **error)
{
    return read_halts(db_query(db, &halt_load, error, ""), error);
}
