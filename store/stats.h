/* stats.h - what became of an account's items over some weeks
 *
 * Whether the rules still fit: who is written to changes (A35), and who is asked too often
 * reads no more (A33). Weeks are spans of seven days that end now. Only items submitted in
 * them count. Writer's thread only. Errors: ERROR_TEMP. */
#pragma once

#include "policy/rules.h"
#include "store/db.h"

#define STATS_WEEK      (7 * 24 * 60 * 60) /* seconds */
#define STATS_WEEKS_MAX 520
#define STATS_TIERS     (TIER_REFUSE + 1)

/* Nobody reads a text faster: seconds for any, and characters in a second. */
#define STATS_GLANCE  2
#define STATS_READING 50

typedef struct {
    guint tiers[STATS_TIERS]; /* items by Tier */
    guint recipients;         /* of all items together */
    guint novel;              /* of these, whom the human had not written to */
} StatsWeek;

typedef struct {
    char *who;
    guint *decisions; /* approved or rejected, by week */
} StatsApprover;

typedef struct {
    char *file;
    guint line;
    char *reason; /* of the verdict */
    guint items;
} StatsFired;

typedef struct {
    guint weeks;
    StatsWeek *week;           /* oldest first */
    gint64 waits[STATS_TIERS]; /* median seconds until sent or rejected; -1: none was */
    GPtrArray *approvers;      /* of StatsApprover * */
    guint approvals;
    guint hurried;    /* of these, given before the text can have been read, or unseen */
    GPtrArray *fired; /* of StatsFired *: lines that decided under one policy */
} Stats;

/* weeks: 1 to STATS_WEEKS_MAX. policy: the version whose lines are counted. */
Stats *stats_collect(Db *db, const char *account, gint64 now, guint weeks, const char *policy,
                     GError **error);
void stats_free(Stats *stats);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Stats, stats_free)

/* How many items of the last week were held. */
gboolean stats_count_held(Db *db, const char *account, gint64 now, guint *held_out,
                          GError **error);
