/* views.h - items, accounts and addresses as the answers to people show them
 *
 * Floating a{sv}. The names are the protocol's and, through the command, those of --json. Text
 * from messages is passed on as it is; whoever shows it escapes it. */
#pragma once

#include "lib/config.h"
#include "relay/reasons.h"
#include "store/queue.h"

/* id account state tier to more subject reason line created due expires */
GVariant *view_item_line(const Item *item);

/* The same of an item whose record cannot be read: id and the state "damaged". */
GVariant *view_damaged_line(const char *id);

/* Everything, for the person who decides (E14-E21). moves: aa{sv} of queue_moves. reasons:
 * Reason * by normal form, of as many recipients as have one. */
GVariant *view_item(const Item *item, GVariant *moves, GHashTable *reasons);

/* id subject outcome when to: what became of an item (agents.h). */
GVariant *view_fate(const Item *item, const char *outcome, gint64 when);

/* name mode policy counts held. counts: STATE_COUNT entries; held: in the last week. */
GVariant *view_account(const Account *account, const guint *counts, guint held);

/* account address known mentioned, conversations (aa{sv} of {conversation x, message s,
 * when x}: the last letters of the human to the address), and as for each recipient of an item
 * list times first last vouched voucher looks_like, first_named and last_named ({message s,
 * sender s, when x}, empty when no text named it). */
GVariant *view_history(const char *account, const char *address, const Reason *reason);
