/* action.h - one submission and what became of it, in the fields that auditors ask for (A24)
 *
 * Made from audit entries alone. What the agent claims stays a claim. Writer's thread. */
#pragma once

#include "store/db.h"

typedef struct {
    gboolean confirmed; /* a person approved it, and the approval did not lapse */
    char *confirmation; /* "approved by user alice (1001)"; NULL: nobody decided */
    char *execution;    /* "sent: 250 2.0.0 Ok"; NULL: it never moved */
} Action;

void action_clear(Action *action);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Action, action_clear)

/* Follows an item's moves into a zeroed action. ERROR_TEMP. */
gboolean action_follow(Db *db, const char *item, Action *action, GError **error);

/* Floating a{sv}: timestamp x, agent s, tool s, params a{sv}, plan_step s, context_summary s,
 * rationale s, risk_level s, confirmation_required b, confirmation_result s,
 * execution_result s. at, who, submitted: of the entry "submitted". */
GVariant *action_view(const Action *action, gint64 at, const char *who, GVariant *submitted);
