#include "policy/classes.h"

#include "policy/search.h"

static void
free_class(gpointer data)
{
    PolicyClass *class = data;

    g_free(class->file);
    g_free(class->conditions);
    g_free(class->reason);
    g_free(class);
}

static char *
join_conditions(const Line *line)
{
    GString *text = g_string_new(NULL);

    for (guint i = 0; i < line->conditions->len; i++)
        g_string_append_printf(text, "%s%s", i > 0 ? " and " : "",
                               line_condition(line, i)->text);
    return g_string_free(text, FALSE);
}

/* Whether a message with at least one of a fact gets as far as a line. number: of the line;
 * that of the last and one more: past all rules. */
static gboolean
may_reach(Search *search, const GPtrArray *lines, guint number, Fact fact, gint64 least)
{
    const Line *line = number < lines->len ? g_ptr_array_index(lines, number) : NULL;
    const Cut cut = {fact, {{least, RANGE_MAX}, {1, 0}}, {{0, least - 1}, {1, 0}}};
    g_autoptr(GArray) cuts = g_array_new(FALSE, FALSE, sizeof(Cut));
    const Box at_least = {.cuts = cuts};

    g_array_append_val(cuts, cut);
    search_begin(search, NULL);
    if (!search_inside(search, &at_least, FALSE) ||
        (line && !search_inside(search, search_box(search, number), FALSE)))
        return search_is_exhausted(search);
    for (guint i = 0; i < number && (!line || line->kind == LINE_RULE); i++)
        if (((const Line *)g_ptr_array_index(lines, i))->kind == LINE_RULE)
            search_outside(search, search_box(search, i), FALSE);
    return search_solve(search) || search_is_exhausted(search);
}

/* line: NULL for what no rule decides. */
static void
add_class(GPtrArray *classes, const Policy *policy, Search *search, const Line *line,
          guint number)
{
    PolicyClass *class = g_new0(PolicyClass, 1);

    class->file = g_strdup(line ? line->file : policy_name(policy));
    class->line = line ? line->line : 0;
    class->tier = line ? line->tier : TIER_HOLD;
    class->conditions = line ? join_conditions(line) : g_strdup("");
    class->reason = g_strdup(line ? line->reason : "no rule applies");
    class->applies = may_reach(search, policy->lines, number, FACT_RECIPIENTS, 1);
    class->outside = may_reach(search, policy->lines, number, FACT_EXTERNAL, 1);
    class->stranger = may_reach(search, policy->lines, number, FACT_NOVEL, 1);
    g_ptr_array_add(classes, class);
}

static void
add_kind(GPtrArray *classes, const Policy *policy, Search *search, LineKind kind)
{
    for (guint i = 0; i < policy->lines->len; i++) {
        const Line *line = g_ptr_array_index(policy->lines, i);
        if (line->kind == kind)
            add_class(classes, policy, search, line, i);
    }
}

GPtrArray *
policy_classes(const Policy *policy)
{
    GPtrArray *classes = g_ptr_array_new_with_free_func(free_class);
    g_autoptr(Search) search = search_new(policy->lines);

    add_kind(classes, policy, search, LINE_RULE);
    add_class(classes, policy, search, NULL, policy->lines->len);
    add_kind(classes, policy, search, LINE_CLAIM);
    return classes;
}
