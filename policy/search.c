#include "policy/search.h"

#include <string.h>

/* Looks at a range; about a tenth of a second. */
#define BUDGET (20 * 1000 * 1000)

/* At least one of these cuts holds (inside) or at least one does not. */
typedef struct {
    const Cut *cuts;
    guint count;
    gboolean inside;
    gboolean second;
} Clause;

typedef struct {
    guint variable;
    Range range;
} Literal;

struct _Search {
    GPtrArray *boxes; /* of Box *, one for each line */
    guint variables;
    Range *ranges; /* what the variables of the first message may still be */
    GArray *trail; /* of Literal: what they could be before, to go back */
    GArray *clauses;
    Step step;
    gint64 values[FACT_COUNT];
    gint64 budget;
};

static void
box_free(gpointer data)
{
    Box *box = data;

    g_array_unref(box->cuts);
    g_free(box);
}

static const Range NOTHING = {1, 0};

static void
cut_fact(const Condition *condition, Cut *cut)
{
    gint64 number = MIN(condition->number, RANGE_MAX - 1);
    Range below = {0, number - 1}, up_to = {0, number};
    Range above = {number + 1, RANGE_MAX}, from = {number, RANGE_MAX};
    const Cut cuts[] = {
        [OPERATOR_EQUAL] = {0, {{number, number}, NOTHING}, {below, above}},
        [OPERATOR_UNEQUAL] = {0, {below, above}, {{number, number}, NOTHING}},
        [OPERATOR_LESS] = {0, {below, NOTHING}, {from, NOTHING}},
        [OPERATOR_AT_MOST] = {0, {up_to, NOTHING}, {above, NOTHING}},
        [OPERATOR_MORE] = {0, {above, NOTHING}, {up_to, NOTHING}},
        [OPERATOR_AT_LEAST] = {0, {from, NOTHING}, {below, NOTHING}},
    };

    *cut = cuts[condition->operator];
    cut->variable = condition->fact;
}

/* words: what a condition that is about no fact looks for, to its variable. */
static void
cut_condition(const Condition *condition, GHashTable *words, Cut *cut)
{
    if (condition->kind == CONDITION_FACT) {
        cut_fact(condition, cut);
        return;
    }
    /* Two files may call two lists by one name. */
    g_autofree char *word = g_strdup_printf("%u %p %s", condition->kind,
                                            (gpointer)condition->list, condition->text);
    gpointer variable = g_hash_table_lookup(words, word);
    if (!variable) {
        variable = GUINT_TO_POINTER(FACT_COUNT + g_hash_table_size(words));
        g_hash_table_insert(words, g_steal_pointer(&word), variable);
    }
    *cut = (Cut){GPOINTER_TO_UINT(variable), {{1, 1}, NOTHING}, {{0, 0}, NOTHING}};
}

static Box *
make_box(const Line *line, GHashTable *words)
{
    Box *box = g_new0(Box, 1);

    G_STATIC_ASSERT(FACT_COUNT <= 64);
    box->line = line;
    box->cuts = g_array_new(FALSE, FALSE, sizeof(Cut));
    for (guint i = 0; i < line->conditions->len; i++) {
        const Condition *condition = line_condition(line, i);
        Cut cut;
        cut_condition(condition, words, &cut);
        g_array_append_val(box->cuts, cut);
        if (condition->kind == CONDITION_FACT)
            box->facts |= (guint64)1 << condition->fact;
    }
    return box;
}

Search *
search_new(const GPtrArray *lines)
{
    g_autoptr(GHashTable) words = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    Search *search = g_new0(Search, 1);

    search->boxes = g_ptr_array_new_with_free_func(box_free);
    for (guint i = 0; i < lines->len; i++)
        g_ptr_array_add(search->boxes, make_box(g_ptr_array_index(lines, i), words));
    search->variables = FACT_COUNT + g_hash_table_size(words);
    search->ranges = g_new0(Range, search->variables);
    search->trail = g_array_new(FALSE, FALSE, sizeof(Literal));
    search->clauses = g_array_new(FALSE, FALSE, sizeof(Clause));
    search->budget = BUDGET;
    return search;
}

void
search_free(Search *search)
{
    g_ptr_array_unref(search->boxes);
    g_free(search->ranges);
    g_array_unref(search->trail);
    g_array_unref(search->clauses);
    g_free(search);
}

const Box *
search_box(const Search *search, guint index)
{
    return g_ptr_array_index(search->boxes, index);
}

void
search_begin(Search *search, const Step *step)
{
    search->step = step ? *step : (Step){0};
    g_array_set_size(search->trail, 0);
    g_array_set_size(search->clauses, 0);
    for (guint i = 0; i < search->variables; i++)
        search->ranges[i] = i < FACT_COUNT ? possible_range(i) : (Range){0, 1};
    /* The second message must be possible too. */
    for (guint i = 0; i < FACT_COUNT; i++) {
        gint64 change = search->step.change[i];
        search->ranges[i].low += MAX(-change, 0);
        search->ranges[i].high -= MAX(change, 0);
    }
}

static void
add_clause(Search *search, const Cut *cuts, guint count, gboolean inside, gboolean second)
{
    const Clause clause = {cuts, count, inside, second};

    g_array_append_val(search->clauses, clause);
}

void
search_outside(Search *search, const Box *box, gboolean second)
{
    add_clause(search, (const Cut *)box->cuts->data, box->cuts->len, FALSE, second);
}

/* The part of a variable's range in which a cut holds, or not, for the message. */
static Range
overlap(const Search *search, const Clause *clause, const Cut *cut, guint half)
{
    Range range = clause->inside ? cut->yes[half] : cut->no[half];
    Range now = search->ranges[cut->variable];
    gint64 change =
        clause->second && cut->variable < FACT_COUNT ? search->step.change[cut->variable] : 0;

    return (Range){MAX(range.low - change, now.low), MIN(range.high - change, now.high)};
}

typedef enum { FIT_NONE, FIT_PART, FIT_WHOLE } Fit;

/* The next way to satisfy a clause: FIT_WHOLE when it is satisfied as it is. */
static Fit
next_literal(Search *search, const Clause *clause, guint *at, Literal *literal_out)
{
    for (; *at < 2 * clause->count; ++*at) {
        const Cut *cut = &clause->cuts[*at / 2];
        Range now = search->ranges[cut->variable];
        Range range = overlap(search, clause, cut, *at % 2);
        search->budget--;
        if (range.low > range.high)
            continue;
        ++*at;
        *literal_out = (Literal){cut->variable, range};
        return range.low == now.low && range.high == now.high ? FIT_WHOLE : FIT_PART;
    }
    return FIT_NONE;
}

static void
narrow(Search *search, Literal literal)
{
    const Literal before = {literal.variable, search->ranges[literal.variable]};

    g_array_append_val(search->trail, before);
    search->ranges[literal.variable] = literal.range;
}

static void
go_back(Search *search, guint mark)
{
    while (search->trail->len > mark) {
        Literal *before = &g_array_index(search->trail, Literal, search->trail->len - 1);
        search->ranges[before->variable] = before->range;
        g_array_set_size(search->trail, search->trail->len - 1);
    }
}

/* Leaves out what a literal allows, where one range remains. FALSE: nothing remains. */
static gboolean
leave_out(Search *search, Literal literal)
{
    Range rest = search->ranges[literal.variable];

    if (literal.range.low <= rest.low)
        rest.low = literal.range.high + 1;
    else if (literal.range.high >= rest.high)
        rest.high = literal.range.low - 1;
    if (rest.low > rest.high)
        return FALSE;
    narrow(search, (Literal){literal.variable, rest});
    return TRUE;
}

/* In how many ways a clause can be satisfied, counted to 2 and no further when first_out is
 * one of them; G_MAXUINT when it is satisfied. */
static guint
count_ways(Search *search, const Clause *clause, Literal *first_out)
{
    guint ways = 0, at = 0;
    Literal literal;

    for (;;) {
        Fit fit = next_literal(search, clause, &at, &literal);
        if (fit == FIT_NONE)
            return ways;
        if (fit == FIT_WHOLE)
            return G_MAXUINT;
        if (ways++ == 0)
            *first_out = literal;
    }
}

/* Does what must be done. FALSE when a clause cannot be satisfied. branch_out: the clause with
 * the fewest ways left, NULL when all are satisfied. */
static gboolean
propagate(Search *search, const Clause **branch_out)
{
    for (gboolean changed = TRUE; changed;) {
        guint fewest = G_MAXUINT;
        changed = FALSE;
        *branch_out = NULL;
        for (guint i = 0; i < search->clauses->len; i++) {
            const Clause *clause = &g_array_index(search->clauses, Clause, i);
            Literal only = {0};
            guint ways = count_ways(search, clause, &only);
            if (ways == 0)
                return FALSE;
            if (ways == 1)
                narrow(search, only);
            else if (ways < fewest)
                *branch_out = clause;
            changed |= ways == 1;
            fewest = MIN(fewest, ways);
        }
    }
    return TRUE;
}

static gboolean
try_each(Search *search, const Clause *clause)
{
    Literal literal;
    Fit fit;

    for (guint at = 0; (fit = next_literal(search, clause, &at, &literal)) == FIT_PART;) {
        guint mark = search->trail->len;
        narrow(search, literal);
        if (search_solve(search))
            return TRUE;
        go_back(search, mark);
        if (!leave_out(search, literal))
            return FALSE;
    }
    return fit == FIT_WHOLE && search_solve(search);
}

gboolean
search_solve(Search *search)
{
    const Clause *branch;

    return search->budget > 0 && propagate(search, &branch) &&
           possible_pick(search->ranges, &search->step, search->values) &&
           (!branch || try_each(search, branch));
}

gboolean
search_inside(Search *search, const Box *box, gboolean second)
{
    for (guint i = 0; i < box->cuts->len; i++) {
        const Cut *cut = &g_array_index(box->cuts, Cut, i);
        const Clause clause = {cut, 1, TRUE, second};
        Literal only = {0};
        guint ways = count_ways(search, &clause, &only);
        if (ways == 0)
            return FALSE;
        if (ways == 1)
            narrow(search, only);
        else if (ways != G_MAXUINT)
            add_clause(search, cut, 1, TRUE, second);
    }
    return TRUE;
}

gboolean
search_is_exhausted(const Search *search)
{
    return search->budget <= 0;
}

gint64
search_value(const Search *search, guint variable, gboolean second)
{
    if (variable >= FACT_COUNT)
        return search->ranges[variable].low;
    return search->values[variable] + (second ? search->step.change[variable] : 0);
}

gboolean
search_is_inside(const Search *search, const Box *box, gboolean second)
{
    for (guint i = 0; i < box->cuts->len; i++) {
        const Cut *cut = &g_array_index(box->cuts, Cut, i);
        gint64 value = search_value(search, cut->variable, second);
        gboolean holds = (value >= cut->yes[0].low && value <= cut->yes[0].high) ||
                         (value >= cut->yes[1].low && value <= cut->yes[1].high);
        if (!holds)
            return FALSE;
    }
    return TRUE;
}
