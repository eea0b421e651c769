/* connections.h - connections to next hops, kept for the next message
 *
 * What a message leaves open waits for the next one, for CONNECTIONS_IDLE seconds at most:
 * less than any server's patience, and so short that a quiet relay holds none. A new
 * configuration ends those of the old one. Any thread; a connection is one thread's at a time.
 */
#pragma once

#include "lib/config.h"
#include "relay/smtp.h"

#define CONNECTIONS_IDLE 15
#define CONNECTIONS_MOST 8 /* that wait */

typedef struct _Connection Connection;

/* To a next hop of that configuration; connects at the first message. */
Connection *connection_new(Config *config, const NextHop *hop);
void connection_free(Connection *connection);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Connection, connection_free)

SmtpClient *connection_client(Connection *connection);

typedef struct _Connections Connections;

Connections *connections_new(void);
void connections_free(Connections *connections);

/* One that waits, else a new one. */
Connection *connections_take(Connections *connections, Config *config, const NextHop *hop);

/* Takes it; it is kept if it still stands. */
void connections_give(Connections *connections, Connection *connection);

/* Ends those that have waited long enough, or belong to another configuration than this. now:
 * of g_get_monotonic_time. */
void connections_tidy(Connections *connections, const Config *config, gint64 now);
