/* requests.h - the relay's socket: connections, questions, answers
 *
 * A malformed peer loses its connection. */
#pragma once

#include "relay/relay.h"

/* Serves the socket until stop_fd becomes readable. Every connection has a thread of its own.
 */
void requests_serve(Relay *relay, int listen_fd, int stop_fd);
