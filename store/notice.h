/* notice.h - what agents and approvers are still to be told
 *
 * A notice is written in the transaction of the move it tells of, by queue.c alone, and goes
 * when it was sent: none is lost, and a crash in between sends one more at most. Whether the
 * account wants it is not looked at here. Writer's thread only. Errors: ERROR_TEMP. */
#pragma once

#include "store/queue.h"

typedef enum { NOTICE_AGENT, NOTICE_APPROVER } Audience;

typedef struct {
    gint64 number; /* in order of the moves; never used twice */
    char *item;
    State state; /* what it became */
    gint64 at;
} Notice;

/* An item is in a state now: as it was submitted, or by a move. Agents are told once that
 * something waits, whichever way (XF21), and how it ends; approvers of what is held or
 * uncertain, which only a person can end, and of nothing else (D15). */
gboolean notice_submitted(Db *db, const Item *item, gint64 now, GError **error);
gboolean notice_moved(Db *db, const char *account, const char *item, State state, gint64 now,
                      GError **error);

/* The oldest notices, at most limit. Array of Notice *, its free function set. */
GPtrArray *notice_list(Db *db, const char *account, Audience audience, guint limit,
                       GError **error);

/* The names of the accounts that have some: a set of char *, its free function set. */
GHashTable *notice_accounts(Db *db, Audience audience, GError **error);

/* One was sent, or is not wanted. */
gboolean notice_drop(Db *db, const char *account, Audience audience, gint64 number,
                     GError **error);

/* The same of all up to a number; G_MAXINT64 for all. */
gboolean notice_drop_up_to(Db *db, const char *account, Audience audience, gint64 number,
                           GError **error);

/* Gives up those older than a time. *dropped_out: how many. */
gboolean notice_drop_old(Db *db, const char *account, Audience audience, gint64 oldest,
                         guint *dropped_out, GError **error);

/* When the account was last told something of a kind, and that it was now; *at_out 0: never.
 */
gboolean told_load(Db *db, const char *account, const char *kind, gint64 *at_out,
                   GError **error);
gboolean told_set(Db *db, const char *account, const char *kind, gint64 at, GError **error);

/* What left without a person from since on and before a time, in that order: item and at,
 * number 0. expire: seconds after which an item leaves no more. */
GPtrArray *notice_left(Db *db, const char *account, gint64 since, gint64 before, gint64 expire,
                       guint limit, GError **error);
