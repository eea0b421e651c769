/* rules-private.h - a policy from the inside
 *
 * For grammar.c, which builds it, rules.c, which frees it, and verdict.c, which reads it. */
#pragma once

#include "policy/rules.h"

typedef enum {
    OPERATOR_EQUAL,
    OPERATOR_UNEQUAL,
    OPERATOR_LESS,
    OPERATOR_AT_MOST,
    OPERATOR_MORE,
    OPERATOR_AT_LEAST
} Operator;

/* A flag is compared with 1 or 0. */
typedef struct {
    char *declared; /* the class to compare with; NULL: compare the fact */
    Fact fact;
    Operator operator;
    gint64 number;
} Condition;

typedef struct {
    guint line;
    Tier tier;
    gint64 wait_min; /* seconds; delay only */
    gint64 wait_max;
    char *reason;
    GArray *conditions; /* of Condition: all must hold */
    gboolean is_claim;  /* mentions the declared class */
} Rule;

Rule *rule_new(guint line);
void rule_free(Rule *rule);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Rule, rule_free)

typedef struct {
    guint line;
    Tier tier;
    Fact fact;
    gint64 number;
    char *text; /* "limit of 2 automatic per conversation" */
} Limit;

void limit_free(Limit *limit);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Limit, limit_free)

struct _Policy {
    gatomicrefcount references;
    char *version;
    GPtrArray *rules;  /* of Rule *: the first that applies decides */
    GPtrArray *claims; /* of Rule *: those about the declared class, which only tighten */
    GPtrArray *limits; /* of Limit * */
};

/* Without rules, claims and limits. */
Policy *policy_new(const char *text);
