/* trace.h - why a verdict is what it is
 *
 * policy_explain judges as policy_judge does and tells of every line what became of it
 * (A21, D14). Texts that name files and conditions are the admin's; values are numbers and
 * yes/no; no word of the message is in it. */
#pragma once

#include "policy/condition.h"
#include "policy/verdict.h"

typedef struct {
    char *text;  /* as the file has it: "external > 0" */
    char *value; /* what the facts say: "external = 2" */
    Truth truth;
} TraceCondition;

typedef enum {
    TRACE_RULE,
    TRACE_CLAIM, /* rests on the agent's own words: only tightens */
    TRACE_LIMIT,
    TRACE_NEVER,
    TRACE_APPROVALS
} TraceKind;

typedef struct {
    TraceKind kind;
    char *file;
    guint line;
    Tier tier;             /* none for TRACE_APPROVALS */
    guint approvals;       /* TRACE_APPROVALS only */
    char *reason;          /* "" for TRACE_APPROVALS */
    GPtrArray *conditions; /* of TraceCondition *, all must hold */
    Truth truth;           /* of the whole line */
    gboolean decides;      /* this line made the verdict */
    gboolean of_floor;
} TraceLine;

typedef struct {
    Verdict *verdict;
    GPtrArray *lines; /* of TraceLine *, in the order of the files, the floor's last */
} Trace;

void trace_free(Trace *trace);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Trace, trace_free)

/* The caller frees; outlives the policy, but for verdict->file. */
Trace *policy_explain(const Policy *policy, const Facts *facts, Mode mode, guint64 dice);
