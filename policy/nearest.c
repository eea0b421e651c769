#include "policy/nearest.h"

#include "policy/rules-private.h"

typedef struct {
    const Policy *policy;
    const Facts *facts;
    Mode mode;
    gboolean stricter;
    guint strictness; /* as it is */
    gint64 distance;  /* of the best so far */
    Nearest *best;
} Search;

void
nearest_free(Nearest *nearest)
{
    verdict_free(nearest->verdict);
    g_free(nearest);
}

/* To know what was unknown is one step more. */
static gint64
distance_to(const FactValue *from, gint64 to)
{
    return from->known ? ABS(to - from->number) : to + 1;
}

static void
try_value(Search *search, Fact fact, gint64 to)
{
    const FactValue *from = &search->facts->values[fact];
    gint64 distance = distance_to(from, to);
    Facts changed = *search->facts;

    if (to < 0 || distance == 0 || (search->best && distance >= search->distance))
        return;
    facts_set(&changed, fact, to);
    g_autoptr(Verdict) verdict = policy_judge(search->policy, &changed, search->mode, 0);
    guint strictness = tier_strictness(verdict->tier);
    if (search->stricter ? strictness <= search->strictness : strictness >= search->strictness)
        return;
    g_clear_pointer(&search->best, nearest_free);
    search->best = g_new0(Nearest, 1);
    *search->best =
        (Nearest){.fact = fact, .from = *from, .to = to, .verdict = g_steal_pointer(&verdict)};
    search->distance = distance;
}

/* A condition changes its truth beside its number or at it, and nowhere else. */
static void
try_lines(Search *search, Fact fact, const Policy *policy)
{
    for (guint i = 0; i < policy->lines->len; i++) {
        const Line *line = g_ptr_array_index(policy->lines, i);

        for (guint j = 0; j < line->conditions->len && line->kind != LINE_EXPECT; j++) {
            const Condition *condition = line_condition(line, j);
            if (condition->kind != CONDITION_FACT || condition->fact != fact)
                continue;
            for (gint64 step = -1; step <= 1; step++)
                try_value(search, fact, condition->number + step);
        }
    }
}

static void
try_fact(Search *search, Fact fact)
{
    if (fact_kind(fact) == FACT_KIND_FLAG) {
        try_value(search, fact, 0);
        try_value(search, fact, 1);
        return;
    }
    try_lines(search, fact, search->policy);
    if (search->policy->floor)
        try_lines(search, fact, search->policy->floor);
}

Nearest *
nearest_find(const Policy *policy, const Facts *facts, Mode mode, gboolean stricter)
{
    g_autoptr(Verdict) verdict = policy_judge(policy, facts, mode, 0);
    Search search = {.policy = policy,
                     .facts = facts,
                     .mode = mode,
                     .stricter = stricter,
                     .strictness = tier_strictness(verdict->tier)};

    for (guint fact = 0; fact < FACT_COUNT; fact++)
        try_fact(&search, fact);
    return search.best;
}
