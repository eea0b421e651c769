#include "policy/possible.h"

#include <string.h>

static void
set_audience_step(Step *step, Fact fact)
{
    switch ((guint)fact) {
    case FACT_RECIPIENTS: /* one more, internal and known; the other steps make it worse */
        step->change[FACT_RECIPIENTS] = step->change[FACT_KNOWN] = 1;
        break;
    case FACT_EXTERNAL: /* a known one is external */
        step->change[FACT_EXTERNAL] = 1;
        step->internal_known = 1;
        break;
    case FACT_NOVEL: /* an internal one is novel */
        step->change[FACT_NOVEL] = 1;
        step->change[FACT_KNOWN] = -1;
        step->internal_known = 1;
        break;
    case FACT_EXTERNAL_NOVEL: /* a novel one is external */
        step->change[FACT_EXTERNAL] = step->change[FACT_EXTERNAL_NOVEL] = 1;
        step->internal_novel = 1;
        break;
    case FACT_KNOWN: /* an external one is novel */
        step->change[FACT_NOVEL] = step->change[FACT_EXTERNAL_NOVEL] = 1;
        step->change[FACT_KNOWN] = -1;
        step->external_known = 1;
        break;
    }
}

Step
possible_step(guint index)
{
    Step step = {0};

    set_audience_step(&step, index);
    if (index > FACT_KNOWN)
        step.change[index] = fact_risk(index);
    return step;
}

Range
possible_range(Fact fact)
{
    return (Range){0, fact_kind(fact) == FACT_KIND_FLAG ? 1 : RANGE_MAX};
}

/* How much more of one fact than of another the step brings, if more at all. */
static gint64
lead(const Step *step, Fact fact, Fact other)
{
    return MAX(step->change[fact] - step->change[other], 0);
}

static void
raise_low(Range *ranges, Fact fact, gint64 least)
{
    ranges[fact].low = MAX(ranges[fact].low, least);
}

/* Narrows the ranges by what one fact says of another. */
static void
relate(Range *ranges, const Step *step)
{
    static const struct {
        Fact lesser, greater;
    } pairs[] = {
        {FACT_FROM_BODY, FACT_NOVEL},    {FACT_LOOKALIKE, FACT_EXTERNAL_NOVEL},
        {FACT_LISTS, FACT_RECIPIENTS},   {FACT_HIDDEN, FACT_RECIPIENTS},
        {FACT_SENT_HOUR, FACT_SENT_DAY}, {FACT_OUTSIDE_THREAD, FACT_RECIPIENTS},
        {FACT_MINE, FACT_IN_THREAD},
    };

    for (guint i = 0; i < G_N_ELEMENTS(pairs); i++)
        raise_low(ranges, pairs[i].greater,
                  ranges[pairs[i].lesser].low + lead(step, pairs[i].lesser, pairs[i].greater));
    raise_low(ranges, FACT_RECIPIENTS, 1);
    if (ranges[FACT_ATTACHMENT_BYTES].low + MAX(step->change[FACT_ATTACHMENT_BYTES], 0) > 0)
        raise_low(ranges, FACT_ATTACHMENTS, 1);
    Range *recipients = &ranges[FACT_RECIPIENTS];
    recipients->high = MIN(recipients->high, ranges[FACT_FANOUT_DAY].high -
                                                 lead(step, FACT_RECIPIENTS, FACT_FANOUT_DAY));
}

/* The four kinds of recipients. All bounds for those who are external and novel are lower
 * bounds, or do not depend on the other kinds: the smallest number is as good as any. */
static void
pick_audience(const Range *ranges, const Step *step, gint64 *values)
{
    Range all = ranges[FACT_RECIPIENTS], external = ranges[FACT_EXTERNAL];
    Range novel = ranges[FACT_NOVEL], known = ranges[FACT_KNOWN];

    gint64 both =
        MAX(ranges[FACT_EXTERNAL_NOVEL].low, external.low + step->internal_known - known.high);
    both = MAX(both, external.low + novel.low + step->internal_known - all.high);
    gint64 external_known = MAX(step->external_known, external.low - both);
    gint64 internal_novel = MAX(step->internal_novel, novel.low - both);
    gint64 all_known = MAX(known.low, external_known + step->internal_known);

    gint64 lacking = MAX(all.low - both - internal_novel - all_known, 0);
    gint64 more_known = CLAMP(lacking, 0, MAX(known.high - all_known, 0));
    all_known += more_known;
    internal_novel += lacking - more_known;

    values[FACT_RECIPIENTS] = both + internal_novel + all_known;
    values[FACT_EXTERNAL] = both + external_known;
    values[FACT_NOVEL] = both + internal_novel;
    values[FACT_EXTERNAL_NOVEL] = both;
    values[FACT_KNOWN] = all_known;
}

gboolean
possible_pick(const Range *ranges, const Step *step, gint64 *values_out)
{
    Range narrow[FACT_COUNT];

    memcpy(narrow, ranges, sizeof narrow);
    relate(narrow, step);
    for (guint i = 0; i < FACT_COUNT; i++)
        values_out[i] = narrow[i].low;
    pick_audience(narrow, step, values_out);
    values_out[FACT_FANOUT_DAY] =
        MAX(values_out[FACT_FANOUT_DAY],
            values_out[FACT_RECIPIENTS] + lead(step, FACT_RECIPIENTS, FACT_FANOUT_DAY));
    for (guint i = 0; i < FACT_COUNT; i++)
        if (values_out[i] < narrow[i].low || values_out[i] > narrow[i].high)
            return FALSE;
    return TRUE;
}
