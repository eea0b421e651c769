/* prune.h - letting go of what is no longer needed
 *
 * What received mail taught, after received-keep or beyond received-limit; the bytes and texts
 * of finished items, after keep or beyond store-limit. In small steps, one account at a time,
 * so that no submission waits long. */
#pragma once

#include "relay/relay.h"

typedef struct {
    guint turn;  /* counts the accounts that were seen to */
    gint64 last; /* when */
    gint64 next;
} Pruner;

/* One small step if it is time for one, and the clock can be believed; a zeroed Pruner begins.
 * Logs its own trouble. */
void prune_step(Relay *relay, Pruner *pruner);
