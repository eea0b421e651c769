/* reasons.h - why an address is known or not, for people
 *
 * What the history, the aliases and the configuration say of it at this moment; the verdict of
 * an item may be older. In the writer. Errors: ERROR_TEMP. */
#pragma once

#include "lib/config.h"
#include "store/history.h"

typedef struct {
    HistoryStory *story;
    char *like;    /* whom it could be taken for (likeness.h); NULL: nobody */
    gboolean list; /* has many readers */
} Reason;

/* address: a normal form. */
gboolean reason_find(Db *db, const Config *config, const Account *account, const char *address,
                     Reason **reason_out, GError **error);
void reason_free(Reason *reason);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Reason, reason_free)
