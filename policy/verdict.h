/* verdict.h - from facts to a tier
 *
 * policy_judge is a pure function of its arguments: same facts, policy, mode and dice give the
 * same verdict (B8). The first line that applies decides; none applies: hold. Where unknown
 * facts leave open which line that is, the strictest of them does (B9). Then limits, "never
 * automatic", a locked conversation, the mode, and the lines about the agent's own words, each
 * of which can only make the result stricter; at last the floor. */
#pragma once

#include "policy/rules.h"

typedef struct {
    Tier tier;
    guint line;       /* of the policy file; 0 when no line decided */
    const char *file; /* where that line stands, borrowed from the policy; NULL without one */
    char *reason;     /* the line's text, or why without a line */
    gint64 wait;      /* seconds until due; 0 unless tier is delay */
    guint approvals;  /* how many different people must approve before it leaves, 1 to 5 */
} Verdict;

void verdict_free(Verdict *verdict);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Verdict, verdict_free)

/* Judges. dice: a number from the system's random source, used for the delay alone; the wait
 * is uniform over the rule's range, both ends included (B13). Never fails; the caller frees.
 */
Verdict *policy_judge(const Policy *policy, const Facts *facts, Mode mode, guint64 dice);

/* The stricter of two tiers. */
Tier tier_stricter(Tier a, Tier b);
