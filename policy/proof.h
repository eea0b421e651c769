/* proof.h - that more risk never gets a laxer tier (B6), or a message that shows it does
 *
 * Proved for every step to more risk (possible.h), all other facts being any, with all facts
 * known; not knowing them is never laxer than knowing (verdict.h). Exact, within what
 * search.h says, but for this: conditions about lists, text and the declared class are taken
 * to be independent of each other and of the facts, so that a message found may be impossible
 * for that reason.
 *
 * Between draft and hold, limits and "never automatic" are left out. They stop what would go
 * by itself, and for that the proof counts them. But a message that a limit holds would, with
 * more risk, perhaps have been a draft from the start: both wait for a person.
 *
 * The number of approvals is proved in the same way. */
#pragma once

#include "policy/rules.h"

/* FALSE with POLICY_ERROR_MONOTONY: the line that is laxer, the two messages and verdicts; or
 * that the lines overlap in too many ways. Lines marked unsafe may be laxer. The floor is not
 * looked at: of two policies that are proved, the stricter is proved. */
gboolean proof_monotony(const Policy *policy, GError **error);

/* The rules and lines about the agent's words that never decide: no possible message gets as
 * far, or all their conditions never hold together. Of "FILE:LINE: …" sentences, the caller
 * frees. NULL when that could not be found out. */
GPtrArray *proof_unreachable(const Policy *policy);
