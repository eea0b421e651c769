/* untold.h - what cannot be told to agents and approvers, and since when (A19)
 *
 * By account and key of exeat.conf. Kept in memory alone: after a restart everything is tried
 * at once. Any thread. */
#pragma once

#include "relay/request.h"

typedef struct _Untold Untold;

Untold *untold_new(void);
void untold_free(Untold *untold);

/* Whether it may be tried: five minutes after it failed last. */
gboolean untold_may_try(Untold *untold, const char *account, const char *key, gint64 now);

/* It failed, for that reason; key is borrowed for good. Or it did not, any more. */
void untold_note(Untold *untold, const char *account, const char *key, const char *text,
                 gint64 now);
void untold_end(Untold *untold, const char *account, const char *key);

/* All may be tried again. */
void untold_forget(Untold *untold);

/* Of the accounts that the peer may know: floating aa{sv} of account, key, error (s) and since
 * (x). */
GVariant *untold_view(Untold *untold, const Request *request);
