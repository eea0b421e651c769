/* possible.h - which facts can occur together, and what more risk means
 *
 * Recipients are of four kinds, internal or external, known or novel, and five facts count
 * them: recipients = known + novel, external_novel is in both external and novel, and so on.
 * Besides, there is at least one recipient; from_body is at most novel, lookalike at most
 * external_novel; lists, hidden and outside_thread at most recipients; fanout_day at least
 * recipients; sent_hour at most sent_day; mine only with in_thread; attachment_bytes only with
 * attachments. The rest is independent.
 *
 * A step is the smallest change to more risk: one recipient more, one that was internal or
 * known is not, one file more. Any message with more risk is reached from one with less by
 * steps, through facts that are possible, so what holds for every step holds for all. */
#pragma once

#include "policy/facts.h"

typedef struct {
    gint64 low;
    gint64 high; /* included; below low: empty */
} Range;

/* More than any fact, and small enough to add up. */
#define RANGE_MAX ((gint64)1 << 60)

typedef struct {
    gint64 change[FACT_COUNT]; /* what each fact grows by */
    /* Recipients of each kind there must be at least before the step: */
    gint64 internal_known;
    gint64 internal_novel;
    gint64 external_known;
} Step;

enum { STEP_COUNT = FACT_COUNT };

/* The steps are numbered from 0 to STEP_COUNT - 1. */
Step possible_step(guint index);

/* All values of a fact. */
Range possible_range(Fact fact);

/* Finds facts within ranges, one for each fact, that are possible before and after the step,
 * as small as can be. FALSE when there are none; exact. values_out: before the step. */
gboolean possible_pick(const Range *ranges, const Step *step, gint64 *values_out);
