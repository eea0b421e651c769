/* items.h - short ways to make, store and read items for the tests of the queue */
#pragma once

#include <glib.h>

#include "store/queue.h"

#define NOW 1000

static inline void
set(char **member, const char *text)
{
    g_free(*member);
    *member = g_strdup(text);
}

static inline void
add_recipient(Item *item, const char *normal)
{
    ItemRecipient *recipient = g_new0(ItemRecipient, 1);

    recipient->normal = g_strdup(normal);
    g_ptr_array_add(item->recipients, recipient);
}

static inline Item *
make_item(const char *id, const char *account, State state)
{
    Item *item = item_new();

    set(&item->id, id);
    set(&item->account, account);
    set(&item->login, "agent@example.com");
    item->state = state;
    item->created = NOW;
    return item;
}

static inline void
add(Db *db, const Item *item)
{
    g_autoptr(GError) error = NULL;

    queue_add(db, item, -1, NOW, &error);
    g_assert_no_error(error);
}

/* An item of the account "owner" of which only the state matters. */
static inline void
add_plain(Db *db, const char *id, State state)
{
    g_autoptr(Item) item = make_item(id, "owner", state);

    add(db, item);
}

static inline Item *
load(Db *db, const char *id)
{
    g_autoptr(GError) error = NULL;
    Item *item = NULL;

    queue_load(db, id, &item, &error);
    g_assert_no_error(error);
    return item;
}

static inline Move
move(Db *db, const char *id, State from, State to)
{
    g_autoptr(GError) error = NULL;
    Move result = MOVE_REFUSED;

    queue_move(db, id, from, to, "user alice (1001)", "because", NOW + 1, &result, &error);
    g_assert_no_error(error);
    return result;
}

static inline gint64
count(Db *db, const Sql *sql)
{
    g_autoptr(GError) error = NULL;
    gint64 number = -1;

    db_integer(db, sql, -1, &number, &error, "");
    g_assert_no_error(error);
    return number;
}

static inline guint
count_state(Db *db, const char *account, State state)
{
    g_autoptr(GError) error = NULL;
    guint counts[STATE_COUNT] = {0};

    queue_count(db, account, counts, &error);
    g_assert_no_error(error);
    return counts[state];
}

/* Ids joined by spaces; frees the array. */
static inline void
assert_ids(GPtrArray *taken, const char *expected)
{
    g_autoptr(GPtrArray) ids = taken;
    g_autofree char *joined = NULL;

    g_assert_nonnull(ids);
    g_ptr_array_add(ids, NULL);
    joined = g_strjoinv(" ", (char **)ids->pdata);
    g_assert_cmpstr(joined, ==, expected);
}
