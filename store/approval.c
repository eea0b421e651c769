#include "store/approval.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "lib/error.h"
#include "lib/fields.h"
#include "store/approval-sql.h"
#include "store/audit.h"

#define RANDOM_BYTES 16
#define VERSION      "exeat-approval-1"

static char *
random_hex(GError **error)
{
    guint8 bytes[RANDOM_BYTES];
    GString *hex = NULL;

    if (getrandom(bytes, sizeof bytes, 0) != (gssize)sizeof bytes) {
        g_set_error(error, EXEAT_ERROR, ERROR_TEMP, "no random numbers: %s",
                    g_strerror(errno));
        return NULL;
    }
    hex = g_string_sized_new(2 * sizeof bytes);
    for (gsize i = 0; i < sizeof bytes; i++)
        g_string_append_printf(hex, "%02x", bytes[i]);
    explicit_bzero(bytes, sizeof bytes);
    return g_string_free(hex, FALSE);
}

void
approval_free(Approval *approval)
{
    if (approval == NULL)
        return;
    g_free(approval->id);
    g_free(approval->item);
    g_free(approval->account);
    g_free(approval->digest);
    g_free(approval->approver);
    g_free(approval->policy);
    g_free(approval);
}

/* Every field, so that none can be changed (XC9). used and voided: 0 while NULL. */
static GByteArray *
join(const Approval *approval, gint64 used, gint64 voided)
{
    GByteArray *fields = g_byte_array_new();

    fields_add_text(fields, VERSION);
    fields_add_text(fields, approval->id);
    fields_add_text(fields, approval->item);
    fields_add_text(fields, approval->account);
    fields_add_text(fields, approval->digest);
    fields_add_text(fields, approval->approver);
    fields_add_number(fields, (guint64)approval->uid);
    fields_add_number(fields, (guint64)approval->gid);
    fields_add_text(fields, approval->policy);
    fields_add_number(fields, (guint64)approval->created);
    fields_add_number(fields, (guint64)approval->expires);
    fields_add_number(fields, (guint64)used);
    fields_add_number(fields, (guint64)voided);
    return fields;
}

static char *
make_seal(Db *db, const Approval *approval, gint64 used, gint64 voided)
{
    g_autoptr(GByteArray) fields = join(approval, used, voided);

    return seal_over(db_seal(db), fields);
}

static gboolean
record_grant(Db *db, const Approval *approval, GError **error)
{
    GVariantDict details;

    g_variant_dict_init(&details, NULL);
    g_variant_dict_insert(&details, "approval", "s", approval->id);
    g_variant_dict_insert(&details, "digest", "s", approval->digest);
    g_variant_dict_insert(&details, "policy", "s", approval->policy);
    g_variant_dict_insert(&details, "expires", "x", approval->expires);
    const AuditEntry entry = {.kind = "approval",
                              .account = approval->account,
                              .item = approval->item,
                              .who = approval->approver,
                              .details = g_variant_dict_end(&details)};
    return audit_append(db, &entry, approval->created, error);
}

gboolean
approval_grant(Db *db, const Approval *approval, GError **error)
{
    g_autofree char *id = random_hex(error);
    Approval granted = *approval;

    if (id == NULL)
        return FALSE;
    granted.id = id;
    g_autofree char *seal = make_seal(db, &granted, 0, 0);
    return db_run(db, &approval_add, error, "sssssiisiis", id, granted.item, granted.account,
                  granted.digest, granted.approver, granted.uid, granted.gid, granted.policy,
                  granted.created, granted.expires, seal) >= 0 &&
           record_grant(db, &granted, error);
}

/* A row as it is stored, beside the seal that it claims. */
typedef struct {
    Approval *approval;
    char *seal;
} Stored;

static void
stored_clear(gpointer data)
{
    Stored *stored = data;

    approval_free(stored->approval);
    g_free(stored->seal);
}

static Stored
read_row(Rows *rows)
{
    Approval *approval = g_new0(Approval, 1);

    approval->id = g_strdup(rows_text(rows, 0));
    approval->item = g_strdup(rows_text(rows, 1));
    approval->account = g_strdup(rows_text(rows, 2));
    approval->digest = g_strdup(rows_text(rows, 3));
    approval->approver = g_strdup(rows_text(rows, 4));
    approval->uid = rows_integer(rows, 5);
    approval->gid = rows_integer(rows, 6);
    approval->policy = g_strdup(rows_text(rows, 7));
    approval->created = rows_integer(rows, 8);
    approval->expires = rows_integer(rows, 9);
    return (Stored){approval, g_strdup(rows_text(rows, 10))};
}

/* The rows of an item, or of all for NULL, that are neither used nor void; NULL on error. */
static GArray *
load_open(Db *db, const char *item, GError **error)
{
    g_autoptr(GArray) open = g_array_new(FALSE, FALSE, sizeof(Stored));
    g_autoptr(Rows) rows = item != NULL ? db_query(db, &approval_open, error, "s", item)
                                        : db_query(db, &approval_open_all, error, "");

    g_array_set_clear_func(open, stored_clear);
    while (rows_next(rows)) {
        Stored stored = read_row(rows);

        g_array_append_val(open, stored);
    }
    return rows_end(rows, error) ? g_steal_pointer(&open) : NULL;
}

static gboolean
void_one(Db *db, const Approval *approval, gint64 now, GError **error)
{
    g_autofree char *seal = make_seal(db, approval, 0, now);

    return db_run(db, &approval_void_one, error, "sis", approval->id, now, seal) >= 0;
}

static gboolean
record_void(Db *db, const Approval *approval, const char *why, gint64 now, GError **error)
{
    GVariantDict details;

    g_variant_dict_init(&details, NULL);
    g_variant_dict_insert(&details, "approval", "s", approval->id);
    g_variant_dict_insert(&details, "why", "s", why);
    const AuditEntry entry = {.kind = "approval-void",
                              .account = approval->account,
                              .item = approval->item,
                              .who = "relay",
                              .details = g_variant_dict_end(&details)};
    return audit_append(db, &entry, now, error);
}

/* Why a stored approval may not count, now or ever; NULL when it may. */
static const char *
find_flaw(Db *db, const Stored *stored, gint64 now)
{
    g_autoptr(GByteArray) fields = join(stored->approval, 0, 0);

    if (!seal_fits(db_seal(db), fields, stored->seal))
        return "its seal is wrong: it was made or changed outside the relay";
    if (stored->approval->created > now)
        return "the clock went back behind its creation";
    return NULL;
}

GPtrArray *
approval_find(Db *db, const char *item, const char *account, const char *digest, gint64 now,
              GError **error)
{
    g_autoptr(GArray) open = load_open(db, item, error);
    g_autoptr(GPtrArray) found = g_ptr_array_new_with_free_func((GDestroyNotify)approval_free);

    for (guint i = 0; open != NULL && i < open->len; i++) {
        Stored *stored = &g_array_index(open, Stored, i);
        const Approval *approval = stored->approval;
        const char *flaw = find_flaw(db, stored, now);

        if (flaw != NULL && (!void_one(db, approval, now, error) ||
                             !record_void(db, approval, flaw, now, error)))
            return NULL;
        if (flaw == NULL && approval->expires > now &&
            g_str_equal(approval->account, account) && g_str_equal(approval->digest, digest))
            g_ptr_array_add(found, g_steal_pointer(&stored->approval));
    }
    return open != NULL ? g_steal_pointer(&found) : NULL;
}

gboolean
approval_consume(Db *db, const char *item, const char *account, const char *digest, gint64 now,
                 gboolean *used_out, GError **error)
{
    g_autoptr(GPtrArray) found = approval_find(db, item, account, digest, now, error);
    gint64 changed = 0;

    if (found == NULL)
        return FALSE;
    for (guint i = 0; i < found->len; i++) {
        const Approval *approval = g_ptr_array_index(found, i);
        g_autofree char *seal = make_seal(db, approval, now, 0);
        gint64 rows = db_run(db, &approval_use, error, "ssssis", approval->id, item, account,
                             digest, now, seal);

        if (rows < 0)
            return FALSE;
        changed += rows;
    }
    *used_out = changed > 0;
    return TRUE;
}

gboolean
approval_void(Db *db, const char *item, gint64 now, GError **error)
{
    g_autoptr(GArray) open = load_open(db, item, error);

    for (guint i = 0; open != NULL && i < open->len; i++)
        if (!void_one(db, g_array_index(open, Stored, i).approval, now, error))
            return FALSE;
    return open != NULL;
}

gboolean
ticket_mint(Db *db, const char *item, const char *digest, gint64 now, gint64 expires,
            char **ticket_out, GError **error)
{
    g_autofree char *ticket = random_hex(error);

    if (ticket == NULL || db_run(db, &ticket_void_unused, error, "s", item) < 0 ||
        db_run(db, &ticket_add, error, "sssii", ticket, item, digest, now, expires) < 0)
        return FALSE;
    *ticket_out = g_steal_pointer(&ticket);
    return TRUE;
}

gboolean
ticket_narrow(Db *db, const char *ticket, const char *digest, gboolean *done_out,
              GError **error)
{
    gint64 changed = db_run(db, &ticket_change_digest, error, "ss", ticket, digest);

    if (changed < 0)
        return FALSE;
    *done_out = changed == 1;
    return TRUE;
}

gboolean
ticket_look_up(Db *db, const char *ticket, const char *digest, gint64 now,
               TicketState *state_out, char **item_out, GError **error)
{
    g_autoptr(Rows) rows = db_query(db, &ticket_find, error, "ssi", ticket, digest, now);
    TicketState state = TICKET_UNKNOWN;
    gboolean found = FALSE;

    if (!rows_one(rows, &found, error))
        return FALSE;
    if (found && rows_integer(rows, 1) != 0)
        state = TICKET_USED;
    else if (found && rows_integer(rows, 2) != 0)
        state = TICKET_GOOD;
    *item_out = state != TICKET_UNKNOWN ? g_strdup(rows_text(rows, 0)) : NULL;
    *state_out = state;
    return TRUE;
}

gboolean
ticket_redeem(Db *db, const char *ticket, const char *digest, gint64 now, gboolean *used_out,
              GError **error)
{
    gint64 changed = db_run(db, &ticket_use, error, "ssi", ticket, digest, now);

    if (changed < 0)
        return FALSE;
    *used_out = changed == 1;
    return TRUE;
}

gboolean
ticket_end(Db *db, const char *item, gboolean *used_out, GError **error)
{
    gint64 used = 0;

    if (db_run(db, &ticket_void_unused, error, "s", item) < 0 ||
        !db_integer(db, &ticket_count_used, 0, &used, error, "s", item))
        return FALSE;
    *used_out = used > 0;
    return TRUE;
}
