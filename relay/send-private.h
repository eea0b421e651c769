/* send-private.h - one attempt to send one item, from its beginning to its record
 *
 * For send*.c alone. */
#pragma once

#include "relay/connections.h"
#include "relay/send.h"
#include "relay/smtp.h"

/* One attempt to send one item. */
typedef struct {
    Relay *relay;
    Config *config;
    const NextHop *hop; /* of config */
    char *id;
    Item *item;   /* NULL: nothing to send after all */
    State from;   /* approved or delayed */
    char *ticket; /* NULL for a next hop without the gate */
    int fd;
    SmtpResult *result;
    char *said; /* for the log */
} Passage;

/* In a writer job: looks at the authority and the bytes, then turns the item to sending with a
 * fresh ticket. data: the Passage; its item stays NULL when nothing is to be sent. */
gboolean passage_begin(gpointer data, GError **error);

/* Hands the message to the next hop; the passage's result says how it went. */
void passage_transmit(Passage *passage, Connections *connections);

/* Records how it ended, however long the writer takes to have it: without that the item would
 * stay in the middle until the next start. */
void passage_record(Passage *passage);

/* One line for the log. */
void passage_report(const Passage *passage);

void passage_clear(Passage *passage);

/* A copy of the message without the Auto-Submitted fields of its head, for the one that the
 * relay adds says the only truth (RFC 3834, 5). -1: ERROR_TEMP. */
int send_unmarked(int fd, GError **error);

/* In a writer job: from to to, or ERROR_TEMP when the item is not in from any more. */
gboolean send_move(Db *db, const char *id, State from, State to, const char *why, gint64 now,
                   GError **error);
