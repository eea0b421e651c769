#include "store/notice.h"

#include "store/notice-sql.h"

static const char *const audiences[] = {
    [NOTICE_AGENT] = "agent",
    [NOTICE_APPROVER] = "approver",
};

static void
notice_free(gpointer data)
{
    Notice *notice = data;

    g_free(notice->item);
    g_free(notice);
}

static gboolean
add(Db *db, const char *account, Audience audience, const char *item, State state, gint64 now,
    GError **error)
{
    gint64 number = 0;

    return db_next_number(db, "notice", &number, error) &&
           db_run(db, &notice_add, error, "issssi", number, account, audiences[audience], item,
                  state_name(state), now) >= 0;
}

static gboolean
ends_it(State state)
{
    switch (state) {
    case STATE_RELEASED:
    case STATE_SENT:
    case STATE_FAILED:
    case STATE_REJECTED:
    case STATE_VETOED:
    case STATE_WITHDRAWN:
    case STATE_EXPIRED:
    case STATE_SUPERSEDED:
    case STATE_BY_HUMAN:
        return TRUE;
    case STATE_REFUSED: /* the agent has the mail server's answer */
    case STATE_HELD:
    case STATE_DRAFT:
    case STATE_DELAYED:
    case STATE_APPROVED:
    case STATE_SENDING:
    case STATE_COMMITTING:
    case STATE_UNCERTAIN:
    case STATE_COUNT:
        break;
    }
    return FALSE;
}

gboolean
notice_moved(Db *db, const char *account, const char *item, State state, gint64 now,
             GError **error)
{
    if (state == STATE_HELD || state == STATE_UNCERTAIN)
        return add(db, account, NOTICE_APPROVER, item, state, now, error);
    return !ends_it(state) || add(db, account, NOTICE_AGENT, item, state, now, error);
}

gboolean
notice_submitted(Db *db, const Item *item, gint64 now, GError **error)
{
    if (state_is_waiting(item->state) &&
        !add(db, item->account, NOTICE_AGENT, item->id, item->state, now, error))
        return FALSE;
    return notice_moved(db, item->account, item->id, item->state, now, error);
}

/* Rows of number, item, state and time. */
static GPtrArray *
read_rows(Rows *rows, GError **error)
{
    g_autoptr(GPtrArray) notices = g_ptr_array_new_with_free_func(notice_free);

    while (rows_next(rows)) {
        Notice *notice = g_new0(Notice, 1);

        notice->number = rows_integer(rows, 0);
        notice->item = g_strdup(rows_text(rows, 1));
        state_find(rows_text(rows, 2), &notice->state);
        notice->at = rows_integer(rows, 3);
        g_ptr_array_add(notices, notice);
    }
    return rows_end(rows, error) ? g_steal_pointer(&notices) : NULL;
}

GPtrArray *
notice_list(Db *db, const char *account, Audience audience, guint limit, GError **error)
{
    g_autoptr(Rows) rows =
        db_query(db, &notice_load, error, "ssi", account, audiences[audience], (gint64)limit);

    return rows != NULL ? read_rows(rows, error) : NULL;
}

GHashTable *
notice_accounts(Db *db, Audience audience, GError **error)
{
    g_autoptr(Rows) rows = db_query(db, &notice_accounts_of, error, "s", audiences[audience]);
    g_autoptr(GHashTable) accounts =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

    while (rows_next(rows))
        g_hash_table_add(accounts, g_strdup(rows_text(rows, 0)));
    return rows_end(rows, error) ? g_steal_pointer(&accounts) : NULL;
}

gboolean
notice_drop(Db *db, const char *account, Audience audience, gint64 number, GError **error)
{
    return db_run(db, &notice_drop_one, error, "ssi", account, audiences[audience], number) >=
           0;
}

gboolean
notice_drop_up_to(Db *db, const char *account, Audience audience, gint64 number,
                  GError **error)
{
    return db_run(db, &notice_drop_some, error, "ssi", account, audiences[audience], number) >=
           0;
}

gboolean
notice_drop_old(Db *db, const char *account, Audience audience, gint64 oldest,
                guint *dropped_out, GError **error)
{
    gint64 dropped =
        db_run(db, &notice_drop_before, error, "ssi", account, audiences[audience], oldest);

    if (dropped < 0)
        return FALSE;
    *dropped_out = (guint)dropped;
    return TRUE;
}

gboolean
told_load(Db *db, const char *account, const char *kind, gint64 *at_out, GError **error)
{
    return db_integer(db, &told_find, 0, at_out, error, "ss", account, kind);
}

gboolean
told_set(Db *db, const char *account, const char *kind, gint64 at, GError **error)
{
    return db_run(db, &told_write, error, "ssi", account, kind, at) >= 0;
}

GPtrArray *
notice_left(Db *db, const char *account, gint64 since, gint64 before, gint64 expire,
            guint limit, GError **error)
{
    g_autoptr(Rows) rows = db_query(db, &left_automatically, error, "siiii", account, since,
                                    before, since - expire, (gint64)limit);

    return rows != NULL ? read_rows(rows, error) : NULL;
}
