#include "store/approval.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "lib/error.h"
#include "store/approval-sql.h"

#define RANDOM_BYTES 16

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

gboolean
approval_grant(Db *db, const char *item, const char *account, const char *digest,
               const char *approver, gint64 now, gint64 expires, char **id_out, GError **error)
{
    g_autofree char *id = random_hex(error);

    if (id == NULL || db_run(db, &approval_add, error, "sssssii", id, item, account, digest,
                             approver, now, expires) < 0)
        return FALSE;
    *id_out = g_steal_pointer(&id);
    return TRUE;
}

gboolean
approval_stands(Db *db, const char *item, const char *digest, gint64 now, gboolean *stands_out,
                GError **error)
{
    gint64 count = 0;

    if (db_run(db, &approval_void_future, error, "si", item, now) < 0 ||
        !db_integer(db, &approval_find, 0, &count, error, "ssi", item, digest, now))
        return FALSE;
    *stands_out = count > 0;
    return TRUE;
}

gboolean
approval_consume(Db *db, const char *item, const char *account, const char *digest, gint64 now,
                 gboolean *used_out, GError **error)
{
    gint64 changed;

    if (db_run(db, &approval_void_future, error, "si", item, now) < 0)
        return FALSE;
    changed = db_run(db, &approval_use, error, "sssi", item, account, digest, now);
    if (changed < 0)
        return FALSE;
    *used_out = changed > 0;
    return TRUE;
}

gboolean
approval_void(Db *db, const char *item, gint64 now, GError **error)
{
    return db_run(db, &approval_void_all, error, "si", item, now) >= 0;
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
ticket_look_up(Db *db, const char *ticket, const char *digest, gint64 now,
               TicketState *state_out, char **item_out, GError **error)
{
    g_autoptr(Rows) rows = db_query(db, &ticket_find, error, "ssi", ticket, digest, now);
    TicketState state = TICKET_UNKNOWN;
    gboolean found = FALSE;

    if (rows == NULL || !rows_one(rows, &found, error))
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
