/* review.h - what is delayed is judged again when the rules were read again
 *
 * What the rules of today would not let go becomes a draft or is held at once, so that nobody
 * is shown a due time that means nothing (A34). In small steps: others use the writer, too.
 * What a halt keeps stays as it is. Schedule's thread only. */
#pragma once

#include "relay/relay.h"

/* Zeroed memory has nothing to do. */
typedef struct {
    gboolean open; /* there is more to look at */
    char last[64]; /* the item that was looked at last, "" for none */
} Review;

/* Begins at the oldest item, again if it was under way. */
void review_begin(Review *review);

/* Looks at some more items. TRUE: the next ones are to follow at once; after a failure, which
 * is logged, they have to wait. */
gboolean review_step(Relay *relay, Review *review);
