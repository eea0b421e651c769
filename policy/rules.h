/* rules.h - the policy language: text in, an immutable Policy out
 *
 * The grammar is in exeat-policy(5). Loading is all or nothing. A Policy is reference counted
 * and does not change once shared, so each message keeps the one it began with. Errors:
 * POLICY_ERROR, with file, line, column, what was found and what was expected. */
#pragma once

#include "policy/facts.h"

#define POLICY_ERROR (policy_error_quark())
GQuark policy_error_quark(void);

typedef enum {
    POLICY_ERROR_SYNTAX,
    POLICY_ERROR_EXPECTATION, /* an expect line is not met */
    POLICY_ERROR_MONOTONY     /* more risk gets a laxer tier, or that cannot be told */
} PolicyError;

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

/* What a policy needs of the world, since policy/ does no I/O and knows no addresses. */
typedef struct {
    /* The text of a file, without NUL. path: relative to nothing or as the policy's own name
     * is. The caller frees; NULL with an error of any domain. */
    char *(*read)(const char *path, gpointer data, GError **error);
    /* The spelling in which recipients are compared, of "user@domain" or "@domain"; NULL when
     * it is neither. The caller frees. */
    char *(*normalise)(const char *entry, gpointer data);
    gpointer data;
} PolicyReader;

/* Reads a policy and the files it names. text ends at its first NUL, so whoever reads a file
 * must refuse one that holds a NUL. name: the file's path, from whose folder the others are
 * found, as it stands in messages. reader: NULL when no other file may be named. Returns a new
 * reference. Errors: those of reader, too. Whether the policy is any good: check.h. */
Policy *policy_parse(const char *text, const char *name, const PolicyReader *reader,
                     GError **error);

Policy *policy_ref(Policy *policy);
void policy_unref(Policy *policy);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Policy, policy_unref)

/* Puts an organisation's rules below those of an account: from then on the verdict is the
 * stricter of both, and the version is that of both. To be called once, before the policy is
 * shared. */
void policy_set_floor(Policy *policy, Policy *floor);

/* The file's name. Borrowed. */
const char *policy_name(const Policy *policy);

/* TRUE when no message can get further than to be held: no rule releases, delays or drafts. */
gboolean policy_holds_all(const Policy *policy);

/* Which rules judged (A22): SHA-256 in hex of the file; of a policy with other files, of all
 * the texts and their names in the order in which they were read. Borrowed. */
const char *policy_version(const Policy *policy);
