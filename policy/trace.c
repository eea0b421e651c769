#include "policy/trace.h"

#include "policy/rules-private.h"

static void
free_condition(gpointer data)
{
    TraceCondition *condition = data;

    g_free(condition->text);
    g_free(condition->value);
    g_free(condition);
}

static void
free_line(gpointer data)
{
    TraceLine *line = data;

    g_free(line->file);
    g_free(line->reason);
    g_ptr_array_unref(line->conditions);
    g_free(line);
}

void
trace_free(Trace *trace)
{
    verdict_free(trace->verdict);
    g_ptr_array_unref(trace->lines);
    g_free(trace);
}

static TraceKind
kind_of(const Line *line)
{
    switch (line->kind) {
    case LINE_RULE:
        return TRACE_RULE;
    case LINE_CLAIM:
        return TRACE_CLAIM;
    case LINE_LIMIT:
        return TRACE_LIMIT;
    case LINE_NEVER:
        return TRACE_NEVER;
    case LINE_APPROVALS:
        return TRACE_APPROVALS;
    case LINE_EXPECT:
        break;
    }
    g_assert_not_reached();
}

static void
trace_condition(TraceLine *traced, const Condition *condition, const Facts *facts)
{
    TraceCondition *entry = g_new0(TraceCondition, 1);

    entry->text = g_strdup(condition->text);
    entry->value = condition_describe(condition, facts);
    entry->truth = condition_ask(condition, facts);
    traced->truth = MIN(traced->truth, entry->truth);
    g_ptr_array_add(traced->conditions, entry);
}

static void
trace_line(Trace *trace, const Line *line, const Facts *facts, gboolean of_floor)
{
    TraceLine *traced = g_new0(TraceLine, 1);

    traced->kind = kind_of(line);
    traced->file = g_strdup(line->file);
    traced->line = line->line;
    traced->tier = line->tier;
    traced->approvals = line->approvals;
    traced->reason = g_strdup(line->reason ? line->reason : "");
    traced->conditions = g_ptr_array_new_with_free_func(free_condition);
    traced->truth = TRUTH_YES;
    traced->of_floor = of_floor;
    /* Names are borrowed from one policy, so the same file read twice has two of them. */
    traced->decides = line->file == trace->verdict->file && line->line == trace->verdict->line;
    for (guint i = 0; i < line->conditions->len; i++)
        trace_condition(traced, line_condition(line, i), facts);
    g_ptr_array_add(trace->lines, traced);
}

static void
trace_policy(Trace *trace, const Policy *policy, const Facts *facts, gboolean of_floor)
{
    for (guint i = 0; i < policy->lines->len; i++) {
        const Line *line = g_ptr_array_index(policy->lines, i);
        if (line->kind != LINE_EXPECT)
            trace_line(trace, line, facts, of_floor);
    }
}

Trace *
policy_explain(const Policy *policy, const Facts *facts, Mode mode, guint64 dice)
{
    Trace *trace = g_new0(Trace, 1);

    trace->verdict = policy_judge(policy, facts, mode, dice);
    trace->lines = g_ptr_array_new_with_free_func(free_line);
    trace_policy(trace, policy, facts, FALSE);
    if (policy->floor)
        trace_policy(trace, policy->floor, facts, TRUE);
    return trace;
}
