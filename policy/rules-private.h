/* rules-private.h - a policy from the inside
 *
 * grammar.c builds it, rules.c frees it; verdict.c, trace.c, expect.c and proof.c read it. */
#pragma once

#include "policy/condition.h"
#include "policy/rules.h"

typedef enum {
    LINE_RULE,      /* the first that applies decides */
    LINE_CLAIM,     /* the same about the agent's own words: it only tightens */
    LINE_LIMIT,     /* one condition about a count */
    LINE_APPROVALS, /* how many people must approve */
    LINE_NEVER,     /* never automatic */
    LINE_EXPECT     /* a test; conditions are its facts */
} LineKind;

enum { LINE_KINDS = LINE_EXPECT + 1 };

typedef struct {
    LineKind kind;
    const char *file; /* borrowed from the policy */
    guint line;
    Tier tier;
    gint64 wait_min; /* seconds; delay only */
    gint64 wait_max;
    guint approvals;
    char *reason;
    char *unsafe; /* why this line may be laxer than one with less risk; NULL: it may not */
    GArray *conditions; /* of Condition: all must hold */
} Line;

Line *line_new(LineKind kind, const char *file, guint line);
void line_free(Line *line);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Line, line_free)

#define line_condition(line_, i) (&g_array_index((line_)->conditions, Condition, (i)))

struct _Policy {
    gatomicrefcount references;
    char *version;
    Policy *floor;               /* NULL: none */
    GPtrArray *files;            /* of char *: names, the policy's own first */
    GPtrArray *lines;            /* of Line *, in the order in which they were read */
    GPtrArray *kind[LINE_KINDS]; /* the same lines by kind, borrowed */
};

/* Without lines; name is its first file. */
Policy *policy_new(const char *name);

/* Takes the line. */
void policy_add(Policy *policy, Line *line);
