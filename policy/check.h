/* check.h - whether a policy that could be read is any good
 *
 * Errors: POLICY_ERROR with file, line, what was found and what was expected. */
#pragma once

#include "policy/rules.h"

/* Judges the message of each expect line in mode hybrid, without a floor. passed_out: how many
 * came out as expected; may be NULL. FALSE with POLICY_ERROR_EXPECTATION for the first that
 * did not, or whose facts cannot occur together. */
gboolean check_expectations(const Policy *policy, guint *passed_out, GError **error);

/* What a policy must pass to be used: its expectations, and the proof of proof.h. */
gboolean check_policy(const Policy *policy, GError **error);

/* The lines that rest on what the agent declares or writes, each as a sentence: they can only
 * tighten, and an agent can avoid them. The caller frees. */
GPtrArray *check_claims(const Policy *policy);
