#include <stdio.h>
#include <sysexits.h>
#include <time.h>

#include "cli/command.h"
#include "cli/output.h"
#include "lib/escape.h"

enum { FLEXIBLE_FROM = 3 };

/* A line for each recipient of the item: what left, and to whom, must not be a sum (E39). */
static void
add_item(GPtrArray *rows, GVariant *item, gint64 now)
{
    g_auto(GStrv) to = answer_list(item, "to");
    gint64 when = answer_number(item, "when");

    for (guint i = 0; to[i] != NULL; i++)
        command_add_row(rows, escape_line(answer_text(item, "outcome")),
                        when != 0 ? output_time(when, now) : g_strdup("-"),
                        escape_line(answer_text(item, "id")), escape_line(to[i]),
                        escape_line(answer_text(item, "subject")), NULL);
}

static void
print_report(GVariant *items)
{
    g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func((GDestroyNotify)g_strfreev);
    gint64 now = time(NULL);

    command_add_row(rows, g_strdup("OUTCOME"), g_strdup("WHEN"), g_strdup("ID"),
                    g_strdup("TO"), g_strdup("SUBJECT"), NULL);
    for (gsize i = 0; i < g_variant_n_children(items); i++) {
        g_autoptr(GVariant) item = g_variant_get_child_value(items, i);
        add_item(rows, item, now);
    }
    g_autofree char *table = output_table(rows, FLEXIBLE_FROM, output_columns());
    fputs(table, stdout);
}

int
cmd_cancel(const Session *session, char **words)
{
    GVariantDict arguments;
    int status;

    g_variant_dict_init(&arguments, NULL);
    g_variant_dict_insert(&arguments, "id", "s", words[0]);
    g_autoptr(GVariant) answer =
        request_ask(session, "cancel", g_variant_dict_end(&arguments), &status);
    if (answer == NULL)
        return status;
    if (session->json)
        return command_print_json(answer);
    g_autoptr(GVariant) items = answer_array(answer, "items", "aa{sv}");
    print_report(items);
    return EX_OK;
}
