/* reconcile.h - looking for proof of what became of a message (E40)
 *
 * An item is uncertain when the next hop's answer was lost after the point of no return. It is
 * never tried again. Proof is the message in the folder of what was sent, not before it was
 * handed on, or what the reconcile-command says; then the item is sent. Not found proves
 * nothing: only a person says so. One thread looks, at growing intervals, so and so often. */
#pragma once

#include "relay/relay.h"

#define RECONCILE_LOOKS 20

Reconciler *reconciler_start(Relay *relay);

/* Ends the thread; a look that is under way is finished first. */
void reconciler_stop(Reconciler *reconciler);
