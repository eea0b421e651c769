/* observe.h - messages for history tests, in a line each */
#pragma once

#include "store/history.h"
#include "tests/unit/scratch.h"

#define ME   "owner"
#define NORA "nora@example.org"
#define LEE  "lee@example.net"
#define EVIL "mallory@example.net"

/* The human writes to one address. parent: the id it answers, or NULL. */
static inline void
observe_human(Db *db, const char *id, const char *parent, const char *to, gint64 now)
{
    g_autoptr(GError) error = NULL;
    const char *const parents[] = {parent, NULL};
    const char *const recipients[] = {to, NULL};
    const Observation observation = {.kind = OBSERVED_HUMAN,
                                     .account = ME,
                                     .message_id = id,
                                     .parents = parents,
                                     .recipients = recipients};

    history_observe(db, &observation, now, &error);
    g_assert_no_error(error);
}

/* Somebody writes, and names one address in the text, or none. */
static inline void
observe_received(Db *db, const char *id, const char *parent, const char *from,
                 const char *mentioned, gint64 now)
{
    g_autoptr(GError) error = NULL;
    const char *const parents[] = {parent, NULL};
    const char *const own[] = {from, NULL};
    const char *const named[] = {mentioned, NULL};
    const Observation observation = {.kind = OBSERVED_RECEIVED,
                                     .account = ME,
                                     .message_id = id,
                                     .parents = parents,
                                     .sender = from,
                                     .correspondents = own,
                                     .mentioned = named};

    history_observe(db, &observation, now, &error);
    g_assert_no_error(error);
}

static inline HistoryAddress
look_up(Db *db, const char *address)
{
    g_autoptr(GError) error = NULL;
    HistoryAddress found = {0};

    history_look_up(db, ME, address, 0, &found, &error);
    g_assert_no_error(error);
    return found;
}
