#include <stdio.h>
#include <sysexits.h>
#include <time.h>

#include "cli/command.h"
#include "cli/output.h"
#include "lib/escape.h"

enum { FLEXIBLE_FROM = 4 }; /* the columns to, subject and why */

/* The first recipient, which the relay has put first because it deserves the most attention,
 * and how many more. */
static char *
describe_recipients(GVariant *item)
{
    g_auto(GStrv) to = answer_list(item, "to");
    guint count = g_strv_length(to) + (guint)answer_number(item, "more");

    if (count == 0)
        return g_strdup("nobody");
    g_autofree char *first = escape_line(to[0]);
    return count > 1 ? g_strdup_printf("%s +%u", first, count - 1) : g_steal_pointer(&first);
}

/* Why the item is where it is: what its last move said, or the rule that judged it. What the
 * next hop answered tells why an approval could not be used in time. */
static char *
describe_why(GVariant *item)
{
    const char *state = answer_text(item, "state");
    const char *why = answer_text(item, "why"), *answer = answer_text(item, "answer");
    gboolean waits = g_str_equal(state, "held") || g_str_equal(state, "draft");

    if (*why == '\0' || g_str_equal(why, state))
        return escape_line(answer_text(item, "reason"));
    if (!waits || *answer == '\0')
        return escape_line(why);
    g_autofree char *both = g_strdup_printf("%s; the next hop: %s", why, answer);
    return escape_line(both);
}

static void
add_item(GPtrArray *rows, GVariant *item, gint64 now)
{
    command_add_row(rows, escape_line(answer_text(item, "id")),
                    output_span(now - answer_number(item, "created")),
                    escape_line(answer_text(item, "state")),
                    escape_line(answer_text(item, "tier")), describe_recipients(item),
                    escape_line(answer_text(item, "subject")), describe_why(item), NULL);
}

/* What an item's state asks of the reader. */
static const char *
name_group(GVariant *item)
{
    static const struct {
        const char *state;
        const char *group;
    } GROUPS[] = {{"held", "Waiting for you:"},
                  {"draft", "Parked, nobody is asked:"},
                  {"uncertain", "Did not leave, or nobody knows:"},
                  {"failed", "Did not leave, or nobody knows:"}};

    for (gsize i = 0; i < G_N_ELEMENTS(GROUPS); i++)
        if (g_str_equal(answer_text(item, "state"), GROUPS[i].state))
            return GROUPS[i].group;
    return "Leaving, unless somebody vetoes it:";
}

/* grouped: a line of its own before the items of each group, which come together. */
static void
print_items(GVariant *items, gboolean grouped)
{
    g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func((GDestroyNotify)g_strfreev);
    const char *before = "";
    gint64 now = time(NULL);

    command_add_row(rows, g_strdup("ID"), g_strdup("AGE"), g_strdup("STATE"), g_strdup("TIER"),
                    g_strdup("TO"), g_strdup("SUBJECT"), g_strdup("WHY"), NULL);
    for (gsize i = 0; i < g_variant_n_children(items); i++) {
        g_autoptr(GVariant) item = g_variant_get_child_value(items, i);
        add_item(rows, item, now);
    }
    g_autofree char *table = output_table(rows, FLEXIBLE_FROM, output_columns());
    g_auto(GStrv) lines = g_strsplit(table, "\n", -1);
    puts(lines[0]);
    for (gsize i = 0; i < g_variant_n_children(items); i++) {
        g_autoptr(GVariant) item = g_variant_get_child_value(items, i);
        const char *group = grouped ? name_group(item) : before;

        if (!g_str_equal(group, before))
            printf("\n%s\n", group);
        puts(lines[i + 1]);
        before = group;
    }
}

int
cmd_list(const Session *session, char **words G_GNUC_UNUSED)
{
    gboolean all = session_has(session, "all");
    GVariantDict arguments;
    int status;

    g_variant_dict_init(&arguments, NULL);
    g_variant_dict_insert(&arguments, "all", "b", all);
    g_autoptr(GVariant) answer =
        request_ask(session, "list", g_variant_dict_end(&arguments), &status);
    if (answer == NULL)
        return status;
    if (session->json)
        return command_print_json(answer);

    g_autoptr(GVariant) items = answer_array(answer, "items", "aa{sv}");
    if (g_variant_n_children(items) > 0)
        print_items(items, !all);
    else
        puts(all ? "There are no items." : "Nothing waits.");
    return EX_OK;
}
