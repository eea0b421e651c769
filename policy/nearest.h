/* nearest.h - what would have made the verdict another one
 *
 * One fact alone is changed and the others stay, even where a message cannot have that: it
 * tells which fact moves the verdict (D23), not which message to write. */
#pragma once

#include "policy/verdict.h"

typedef struct {
    Fact fact;
    FactValue from;
    gint64 to;
    Verdict *verdict; /* with that change */
} Nearest;

void nearest_free(Nearest *nearest);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Nearest, nearest_free)

/* The smallest change that gives a stricter tier, or a laxer one; of equal ones the first fact
 * in the order of the table. NULL: no single fact does it. The caller frees. */
Nearest *nearest_find(const Policy *policy, const Facts *facts, Mode mode, gboolean stricter);
