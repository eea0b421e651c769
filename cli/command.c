#include "cli/command.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <sysexits.h>

#include "cli/json.h"
#include "lib/escape.h"

int
command_misused(const char *word, const char *expected)
{
    g_autofree char *safe = escape_line(word);

    fprintf(stderr, "exeat: found “%s”, expected %s\n", safe, expected);
    return EX_USAGE;
}

gboolean
command_read_day(const char *text, gint64 *when_out)
{
    int year, month, day, taken = 0;

    /* The widths keep the numbers small. NOLINTNEXTLINE(cert-err34-c) */
    if (sscanf(text, "%4d-%2d-%2d%n", &year, &month, &day, &taken) != 3 || text[taken] != 0)
        return FALSE;
    g_autoptr(GDateTime) date = g_date_time_new_local(year, month, day, 0, 0, 0);
    if (date == NULL)
        return FALSE;
    *when_out = g_date_time_to_unix(date);
    return TRUE;
}

int
command_print_json(GVariant *answer)
{
    g_autofree char *json = json_of_answer(answer);

    if (json == NULL) {
        fprintf(stderr, "exeat: this answer of exeat-relay cannot be written as JSON\n");
        return EX_SOFTWARE;
    }
    fputs(json, stdout);
    return EX_OK;
}

int
command_print_text(const Session *session, const char *name, const char *text)
{
    GVariantDict dict;

    if (!session->json) {
        puts(text);
        return EX_OK;
    }
    g_variant_dict_init(&dict, NULL);
    g_variant_dict_insert(&dict, name, "s", text);
    g_autoptr(GVariant) answer = g_variant_ref_sink(g_variant_dict_end(&dict));
    return command_print_json(answer);
}

int
command_fail_file(const char *path, int status)
{
    g_autofree char *text = g_strdup_printf("%s: %s", path, g_strerror(errno));
    g_autofree char *safe = escape_line(text);

    fprintf(stderr, "exeat: %s\n", safe);
    return status;
}

int
command_decide(const Session *session, const char *verb, GVariantDict *arguments)
{
    int status;
    GVariant *asked = g_variant_ref_sink(g_variant_dict_end(arguments));
    g_autoptr(GVariant) answer = request_ask(session, verb, asked, &status);

    if (answer != NULL && session->json) {
        GVariantDict dict;
        g_variant_dict_init(&dict, answer);
        g_variant_dict_insert(&dict, "id", "s", answer_text(asked, "id"));
        g_autoptr(GVariant) named = g_variant_ref_sink(g_variant_dict_end(&dict));
        status = command_print_json(named);
    } else if (answer != NULL) {
        g_autofree char *id = escape_line(answer_text(asked, "id"));
        g_autofree char *state = escape_line(answer_text(answer, "state"));
        printf("%s: %s\n", id, state);
    }
    g_variant_unref(asked);
    return status;
}

void
command_add_row(GPtrArray *rows, ...)
{
    g_autoptr(GPtrArray) cells = g_ptr_array_new();
    va_list arguments;
    char *cell;

    va_start(arguments, rows);
    while ((cell = va_arg(arguments, char *)) != NULL)
        g_ptr_array_add(cells, cell);
    va_end(arguments);
    g_ptr_array_add(cells, NULL);
    g_ptr_array_add(rows, g_ptr_array_steal(cells, NULL));
}
