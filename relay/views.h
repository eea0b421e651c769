/* views.h - items, accounts and addresses as the answers to people show them
 *
 * Floating a{sv}. The names are the protocol's and, through the command, those of --json. Text
 * from messages is passed on as it is; whoever shows it escapes it. */
#pragma once

#include "lib/config.h"
#include "store/history.h"
#include "store/queue.h"

/* id account state tier to subject reason line created due expires */
GVariant *view_item_line(const Item *item);

/* Everything, for the person who decides (E14-E21). moves: aa{sv} of queue_moves. */
GVariant *view_item(const Item *item, GVariant *moves);

/* name mode policy counts. counts: STATE_COUNT entries. */
GVariant *view_account(const Account *account, const guint *counts);

/* account address known first last times mentioned list */
GVariant *view_history(const char *account, const char *address, const HistoryAddress *found);
