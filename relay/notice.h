/* notice.h - the thread that tells agents and approvers
 *
 * Every second it takes what is to be told (store/notice.h, reminder.h), hands it to the mail
 * server or to the program that approvers chose, and only then lets it go: a crash in between
 * sends one more with the same Message-ID. What cannot be told is tried again every five
 * minutes, is logged, and stands in "exeat status" until it could be (A19). */
#pragma once

#include "relay/request.h"

Notifier *notifier_start(Relay *relay);

/* Ends the thread; what is under way is finished first. */
void notifier_stop(Notifier *notifier);

/* Once nobody asks for its view any more. */
void notifier_free(Notifier *notifier);

/* What could not be told, of the accounts that the peer may know: floating aa{sv} of account,
 * key (of exeat.conf), error (s) and since (x). Any thread. */
GVariant *notifier_view(const Request *request);
