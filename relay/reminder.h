/* reminder.h - what approvers and owners hear of the gate
 *
 * Writer jobs that look whether something is to be told now, and put it into words. No text of
 * a message, no link and nothing that decides is in them (XC3, XD15): who decides is known
 * from the user who asks, so ids and digests help nobody else. Errors: ERROR_TEMP. */
#pragma once

#include "lib/config.h"
#include "store/notice.h"

typedef struct {
    const char *kind; /* the key of exeat.conf; its time is told_set to at once it was sent */
    gint64 at;
    gint64 mark;  /* the same until then, whenever it is tried: for the Message-ID */
    gint64 taken; /* number of the last notice in it; 0: none */
    char *subject;
    char *text;
} Reminder;

void reminder_free(Reminder *reminder);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Reminder, reminder_free)

/* The three look alike: *reminder_out NULL when nothing is to be told now. */
typedef gboolean (*ReminderLook)(Db *db, const Config *config, const Account *account,
                                 gint64 now, Reminder **reminder_out, GError **error);

/* What is held or uncertain since approvers were told last, at most every quarter of an hour.
 * The account names somebody to be told. */
gboolean reminder_of_waiting(Db *db, const Config *config, const Account *account, gint64 now,
                             Reminder **reminder_out, GError **error);

/* How many wait, once a day, be it none: who hears nothing knows that something is wrong. */
gboolean reminder_of_life(Db *db, const Config *config, const Account *account, gint64 now,
                          Reminder **reminder_out, GError **error);

/* What left without a person, once a day, if anything did (D28). */
gboolean reminder_of_leaving(Db *db, const Config *config, const Account *account, gint64 now,
                             Reminder **reminder_out, GError **error);
