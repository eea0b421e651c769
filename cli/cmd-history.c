#include <stdio.h>
#include <sysexits.h>
#include <time.h>

#include "cli/command.h"
#include "cli/output.h"
#include "lib/escape.h"

enum { FLEXIBLE_FROM = 6 }; /* the address is the last column */

static void
add_entry(GPtrArray *rows, GVariant *entry, gint64 now)
{
    command_add_row(
        rows, escape_line(answer_text(entry, "account")),
        g_strdup(answer_flag(entry, "known", FALSE) ? "known" : "never written to"),
        g_strdup_printf("%" G_GINT64_FORMAT, answer_number(entry, "times")),
        output_time(answer_number(entry, "first"), now),
        output_time(answer_number(entry, "last"), now),
        g_strdup(answer_flag(entry, "list", FALSE)        ? "list"
                 : answer_flag(entry, "mentioned", FALSE) ? "named in a text"
                                                          : "-"),
        escape_line(answer_text(entry, "address")), NULL);
}

int
cmd_history(const Session *session, char **words)
{
    const char *account = session_option(session, "account");
    GVariantDict arguments;
    int status;

    g_variant_dict_init(&arguments, NULL);
    g_variant_dict_insert(&arguments, "address", "s", words[0]);
    if (account != NULL)
        g_variant_dict_insert(&arguments, "account", "s", account);
    g_autoptr(GVariant) answer =
        request_ask(session, "history", g_variant_dict_end(&arguments), &status);
    if (answer == NULL)
        return status;
    if (session->json)
        return command_print_json(answer);

    g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func((GDestroyNotify)g_strfreev);
    g_autoptr(GVariant) entries = answer_array(answer, "entries", "aa{sv}");
    gint64 now = time(NULL);
    command_add_row(rows, g_strdup("ACCOUNT"), g_strdup("THE HUMAN"), g_strdup("TIMES"),
                    g_strdup("FIRST"), g_strdup("LAST"), g_strdup("MARK"), g_strdup("ADDRESS"),
                    NULL);
    for (gsize i = 0; i < g_variant_n_children(entries); i++) {
        g_autoptr(GVariant) entry = g_variant_get_child_value(entries, i);
        add_entry(rows, entry, now);
    }
    g_autofree char *table = output_table(rows, FLEXIBLE_FROM, output_columns());
    fputs(table, stdout);
    return EX_OK;
}
