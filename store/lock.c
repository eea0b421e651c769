#include "store/lock.h"

#include <string.h>

#include "store/audit.h"
#include "store/history.h"
#include "store/lock-sql.h"

/* What a message is called, and what it names. */
#define IDS_MAX (1 + HISTORY_PARENTS_MAX)

/* The lock that an id is under; 0: none. */
static gboolean
find_by_id(Db *db, const char *account, const char *id, gint64 *number_out, GError **error)
{
    return db_integer(db, &lock_find, 0, number_out, error, "ss", account, id);
}

static gboolean
find(Db *db, const char *account, const char *const *ids, gint64 *number_out, GError **error)
{
    gint64 number = 0;

    for (guint i = 0; ids[i] != NULL && i < IDS_MAX && number == 0; i++) {
        if (!find_by_id(db, account, ids[i], &number, error))
            return FALSE;
    }
    *number_out = number;
    return TRUE;
}

static gboolean
record(Db *db, const char *kind, const char *account, const char *item, const char *who,
       gint64 now, GError **error)
{
    const AuditEntry entry = {.kind = kind, .account = account, .item = item, .who = who};

    return audit_append(db, &entry, now, error);
}

gboolean
lock_holds(Db *db, const char *account, const char *const *ids, gboolean *holds_out,
           GError **error)
{
    gint64 number;

    if (!find(db, account, ids, &number, error))
        return FALSE;
    *holds_out = number != 0;
    return TRUE;
}

gboolean
lock_set(Db *db, const char *account, const char *const *ids, const char *item,
         const char *who, gint64 now, gboolean *new_out, GError **error)
{
    gint64 number;

    if (!find(db, account, ids, &number, error))
        return FALSE;
    gboolean is_new = number == 0;
    if (is_new && (!db_next_number(db, "lock", &number, error) ||
                   !record(db, "locked", account, item, who, now, error)))
        return FALSE;
    for (guint i = 0; ids[i] != NULL && i < IDS_MAX; i++) {
        if (*ids[i] != '\0' && strlen(ids[i]) <= HISTORY_ID_BYTES_MAX &&
            (db_run(db, &lock_id, error, "ssi", account, ids[i], number) < 0 ||
             db_run(db, &lock_conversation, error, "ssi", account, ids[i], number) < 0))
            return FALSE;
    }
    *new_out = is_new;
    return TRUE;
}

/* Locks that touch are two until they end together. */
gboolean
lock_lift(Db *db, const char *account, const char *const *ids, const char *item,
          const char *who, gint64 now, gboolean *was_out, GError **error)
{
    gboolean was = FALSE;
    gint64 number;

    for (;;) {
        if (!find(db, account, ids, &number, error))
            return FALSE;
        if (number == 0)
            break;
        if (db_run(db, &lock_remove, error, "si", account, number) < 0)
            return FALSE;
        was = TRUE;
    }
    *was_out = was;
    return !was || record(db, "unlocked", account, item, who, now, error);
}
