/* classes.h - what a policy makes of messages, as a table: one row a line (B24, B25) */
#pragma once

#include "policy/rules.h"

typedef struct {
    char *file;
    guint line; /* 0: where no line applies */
    Tier tier;
    char *conditions; /* "external > 0 and forward"; "" when there are none */
    char *reason;
    gboolean applies;  /* some message gets as far as this line */
    gboolean outside;  /* … one with a recipient outside */
    gboolean stranger; /* … one with a recipient who is not known */
} PolicyClass;

/* Of PolicyClass *: the rules in their order, what holds without a rule, then the lines about
 * the agent's own words. For a policy too tangled to tell (search.h) the three answers are
 * TRUE. The caller frees. */
GPtrArray *policy_classes(const Policy *policy);
