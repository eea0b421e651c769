#include "policy/proof.h"

#include "policy/search.h"

/* One threshold at a time: is a message stopped short of it? The first entry that a message
 * lies in says so; the last has no cuts. */
typedef struct {
    const Box *box;
    gboolean strict;
} Entry;

typedef struct {
    const Policy *policy;
    Search *search;
    GArray *entries; /* of Entry */
    Step step;
    guint64 moved;    /* a bit for each fact that the step changes */
    char *found;      /* the message for the smallest counterexample so far */
    gint64 size;      /* of that */
    guint64 mentions; /* a bit for each fact in any line */
} Proof;

static guint64
bits_of(const Step *step)
{
    guint64 bits = 0;

    for (guint i = 0; i < FACT_COUNT; i++)
        if (step->change[i] != 0)
            bits |= (guint64)1 << i;
    return bits;
}

static gboolean
is_excused(const Entry *entry)
{
    return !entry->strict && entry->box->line && entry->box->line->unsafe;
}

static const Entry *
entry_at(const Proof *proof, guint index)
{
    return &g_array_index(proof->entries, Entry, index);
}

/* The entry that decides about the first or second message found. */
static const Entry *
find_decider(const Proof *proof, gboolean second)
{
    guint i = 0;

    while (!search_is_inside(proof->search, entry_at(proof, i)->box, second))
        i++;
    return entry_at(proof, i);
}

/* Facts that are not zero and that the policy mentions, and those that change. */
static char *
describe_facts(const Proof *proof, gboolean second)
{
    GString *text = g_string_new(NULL);

    for (guint i = 0; i < FACT_COUNT; i++) {
        gboolean mentioned = (proof->mentions >> i & 1) != 0;
        gboolean moved = (proof->moved >> i & 1) != 0;
        gint64 value = search_value(proof->search, i, second);
        if (!(mentioned && value != 0) && !(moved && (mentioned || i != FACT_KNOWN)))
            continue;
        if (text->len > 0)
            g_string_append_c(text, ' ');
        if (fact_kind(i) == FACT_KIND_FLAG)
            g_string_append_printf(text, "%s=%s", fact_name(i), value ? "yes" : "no");
        else
            g_string_append_printf(text, "%s=%" G_GINT64_FORMAT, fact_name(i), value);
    }
    return g_string_free(text, FALSE);
}

/* "hold (line 4)" */
static char *
describe_verdict(const Proof *proof, const Line *line)
{
    if (!line)
        return g_strdup("hold (no line)");
    gboolean own = line->file == policy_name(proof->policy);
    g_autofree char *verdict = line->kind == LINE_APPROVALS
                                   ? g_strdup_printf("%u approvals", line->approvals)
                                   : g_strdup(tier_name(line->tier));
    return own ? g_strdup_printf("%s (line %u)", verdict, line->line)
               : g_strdup_printf("%s (%s:%u)", verdict, line->file, line->line);
}

static gint64
measure(const Proof *proof)
{
    gint64 size = 0;

    for (guint i = 0; i < FACT_COUNT; i++)
        if (proof->mentions >> i & 1)
            size += MIN(search_value(proof->search, i, TRUE), G_MAXINT32);
    return size;
}

/* Keeps a counterexample if it is smaller than the one there is. */
static void
keep(Proof *proof)
{
    gint64 size = measure(proof);

    if (proof->found && size >= proof->size)
        return;
    const Line *strict = find_decider(proof, FALSE)->box->line;
    const Line *lax = find_decider(proof, TRUE)->box->line;
    gboolean approvals = strict && strict->kind == LINE_APPROVALS;
    g_autofree char *less = describe_facts(proof, FALSE), *more = describe_facts(proof, TRUE);
    g_autofree char *strict_text = describe_verdict(proof, strict);
    g_autofree char *lax_text =
        approvals && !lax ? g_strdup("1 approval") : describe_verdict(proof, lax);
    const Line *place = lax ? lax : strict;
    g_assert(place != NULL); /* nothing and nothing are not different */
    g_free(proof->found);
    proof->size = size;
    proof->found = g_strdup_printf(
        "%s:%u: found %s for %s, expected nothing laxer than %s for %s, which is less risk%s",
        place->file, place->line, lax_text, more, strict_text, less,
        approvals || !lax ? "" : "; if it is meant, end the line with unsafe \"reason\"");
}

/* Looks for a message that the strict entry decides, and that the lax one decides when it has
 * one step more of risk. Strict entries before the strict one do no harm; nor do lax ones
 * before the lax one, unless they are excused. */
static void
try_pair(Proof *proof, guint strict, guint lax)
{
    Search *search = proof->search;
    const Box *strict_box = entry_at(proof, strict)->box, *lax_box = entry_at(proof, lax)->box;

    search_begin(search, &proof->step);
    if (!search_inside(search, strict_box, FALSE) || !search_inside(search, lax_box, TRUE))
        return;
    /* The likeliest contradiction first: the same box before and after the step. */
    search_outside(search, strict < lax ? strict_box : lax_box, strict < lax);
    for (guint i = 0; i < strict; i++)
        if (!entry_at(proof, i)->strict)
            search_outside(search, entry_at(proof, i)->box, FALSE);
    for (guint i = 0; i < lax; i++)
        if (entry_at(proof, i)->strict || is_excused(entry_at(proof, i)))
            search_outside(search, entry_at(proof, i)->box, TRUE);
    if (search_solve(search))
        keep(proof);
}

static void
try_pairs(Proof *proof)
{
    for (guint lax = 0; lax < proof->entries->len; lax++) {
        const Entry *lax_entry = entry_at(proof, lax);
        if (lax_entry->strict || is_excused(lax_entry))
            continue;
        for (guint strict = 0; strict < proof->entries->len; strict++) {
            const Entry *entry = entry_at(proof, strict);
            /* What the step does not touch, it cannot tell apart. */
            if (entry->strict && ((entry->box->facts | lax_entry->box->facts) & proof->moved))
                try_pair(proof, strict, lax);
        }
    }
}

static void
add_entry(Proof *proof, const Box *box, gboolean strict)
{
    const Entry entry = {box, strict};

    g_array_append_val(proof->entries, entry);
}

/* Lines that tighten whatever the rules say. */
static gboolean
tightens(const Line *line, guint strictness)
{
    gboolean automatic = strictness < tier_strictness(TIER_DRAFT);

    switch (line->kind) {
    case LINE_CLAIM:
        return tier_strictness(line->tier) > strictness;
    case LINE_LIMIT:
    case LINE_NEVER:
        return automatic;
    case LINE_RULE:
    case LINE_APPROVALS:
    case LINE_EXPECT:
        return FALSE;
    }
    g_assert_not_reached();
}

/* Entries for the question: is the tier stricter than this? */
static void
list_for_tier(Proof *proof, guint strictness, const Box *rest)
{
    const GPtrArray *lines = proof->policy->lines;

    g_array_set_size(proof->entries, 0);
    for (guint i = 0; i < lines->len; i++)
        if (tightens(g_ptr_array_index(lines, i), strictness))
            add_entry(proof, search_box(proof->search, i), TRUE);
    for (guint i = 0; i < lines->len; i++) {
        const Line *line = g_ptr_array_index(lines, i);
        if (line->kind == LINE_RULE)
            add_entry(proof, search_box(proof->search, i),
                      tier_strictness(line->tier) > strictness);
    }
    add_entry(proof, rest, tier_strictness(TIER_HOLD) > strictness);
}

/* Entries for the question: must more people than that approve? */
static void
list_for_approvals(Proof *proof, guint approvals, const Box *rest)
{
    const GPtrArray *lines = proof->policy->lines;

    g_array_set_size(proof->entries, 0);
    for (guint i = 0; i < lines->len; i++) {
        const Line *line = g_ptr_array_index(lines, i);
        if (line->kind == LINE_APPROVALS && line->approvals > approvals)
            add_entry(proof, search_box(proof->search, i), TRUE);
    }
    add_entry(proof, rest, FALSE);
}

static void
try_steps(Proof *proof)
{
    for (guint i = 0; i < STEP_COUNT; i++) {
        proof->step = possible_step(i);
        proof->moved = bits_of(&proof->step);
        if (proof->moved & proof->mentions)
            try_pairs(proof);
    }
}

static void
prove(Proof *proof)
{
    g_autoptr(GArray) no_cuts = g_array_new(FALSE, FALSE, sizeof(Cut));
    const Box rest = {.cuts = no_cuts};

    for (guint i = 0; i < proof->policy->lines->len; i++)
        proof->mentions |= search_box(proof->search, i)->facts;
    for (guint i = tier_strictness(TIER_RELEASE); i < tier_strictness(TIER_REFUSE); i++) {
        list_for_tier(proof, i, &rest);
        try_steps(proof);
    }
    for (guint i = 1; i < 5 && proof->policy->kind[LINE_APPROVALS]->len > 0; i++) {
        list_for_approvals(proof, i, &rest);
        try_steps(proof);
    }
}

gboolean
proof_monotony(const Policy *policy, GError **error)
{
    g_autoptr(Search) search = search_new(policy->lines);
    g_autoptr(GArray) entries = g_array_new(FALSE, FALSE, sizeof(Entry));
    Proof proof = {.policy = policy, .search = search, .entries = entries};

    prove(&proof);
    g_autofree char *found = proof.found;
    if (found)
        g_set_error_literal(error, POLICY_ERROR, POLICY_ERROR_MONOTONY, found);
    else if (search_is_exhausted(search))
        g_set_error(
            error, POLICY_ERROR, POLICY_ERROR_MONOTONY,
            "%s:1: found rules that overlap in too many ways to tell whether more risk "
            "may get a laxer tier, expected fewer rules or fewer conditions",
            policy_name(policy));
    return !found && !search_is_exhausted(search);
}

/* Whether a message can get as far as this line, and lies in it. */
static gboolean
is_reachable(Search *search, const GPtrArray *lines, guint index)
{
    const Line *line = g_ptr_array_index(lines, index);

    search_begin(search, NULL);
    if (!search_inside(search, search_box(search, index), FALSE))
        return FALSE;
    for (guint i = 0; i < index && line->kind == LINE_RULE; i++)
        if (((const Line *)g_ptr_array_index(lines, i))->kind == LINE_RULE)
            search_outside(search, search_box(search, i), FALSE);
    return search_solve(search);
}

GPtrArray *
proof_unreachable(const Policy *policy)
{
    g_autoptr(Search) search = search_new(policy->lines);
    g_autoptr(GPtrArray) sentences = g_ptr_array_new_with_free_func(g_free);

    for (guint i = 0; i < policy->lines->len; i++) {
        const Line *line = g_ptr_array_index(policy->lines, i);
        if (line->kind == LINE_EXPECT || line->kind == LINE_LIMIT ||
            is_reachable(search, policy->lines, i))
            continue;
        g_ptr_array_add(sentences,
                        g_strdup_printf("%s:%u: found a line that never applies%s, expected "
                                        "one that some message can reach",
                                        line->file, line->line,
                                        line->kind == LINE_RULE ? " where it stands" : ""));
    }
    return search_is_exhausted(search) ? NULL : g_steal_pointer(&sentences);
}
