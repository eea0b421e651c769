/* rules.h - the policy language: text in, an immutable Policy out
 *
 * The grammar is in exeat-policy(5). Loading is all or nothing. A Policy is reference counted
 * and never changes, so each message keeps the one it began with. Errors: POLICY_ERROR, with
 * file, line, column, what was found and what was expected. */
#pragma once

#include "policy/facts.h"

#define POLICY_ERROR (policy_error_quark())
GQuark policy_error_quark(void);

typedef enum { POLICY_ERROR_SYNTAX } PolicyError;

/* How far a message may go. The zero value is the safe one; strictness is an order of its own:
 * release < delay < draft < hold < refuse. */
typedef enum { TIER_HOLD = 0, TIER_RELEASE, TIER_DELAY, TIER_DRAFT, TIER_REFUSE } Tier;

/* 0 (release) to 4 (refuse). */
guint tier_strictness(Tier tier);
const char *tier_name(Tier tier);
gboolean tier_find(const char *name, Tier *tier_out);

/* What an account lets out at all; draft, the zero value, lets out nothing (A37). */
typedef enum { MODE_DRAFT = 0, MODE_REVIEW, MODE_HYBRID } Mode;

const char *mode_name(Mode mode);
gboolean mode_find(const char *name, Mode *mode_out);

typedef struct _Policy Policy;

/* Reads a policy. text ends at its first NUL, so whoever reads a file must refuse one that
 * holds a NUL. name: the file's name for messages. Returns a new reference. */
Policy *policy_parse(const char *text, const char *name, GError **error);

Policy *policy_ref(Policy *policy);
void policy_unref(Policy *policy);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Policy, policy_unref)

/* SHA-256 of the text in hex: which rules judged (A22). Borrowed. */
const char *policy_version(const Policy *policy);
