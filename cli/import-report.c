#include <stdio.h>
#include <sysexits.h>

#include "cli/command.h"
#include "cli/import.h"
#include "cli/output.h"
#include "lib/escape.h"

enum { PEOPLE_FLEXIBLE = 4 /* none: an address is not cut */, SUMMARY_FLEXIBLE = 1 };

static GVariant *
describe_person(const char *address, const ImportPerson *person)
{
    GVariantDict dict;

    g_variant_dict_init(&dict, NULL);
    g_variant_dict_insert(&dict, "address", "s", address);
    g_variant_dict_insert(&dict, "times", "t", person->times);
    g_variant_dict_insert(&dict, "first", "x", person->first);
    g_variant_dict_insert(&dict, "last", "x", person->last);
    return g_variant_dict_end(&dict);
}

static GVariant *
describe_skipped(const ImportCounts *counts)
{
    GVariantDict dict;

    g_variant_dict_init(&dict, NULL);
    for (Skip skip = SKIP_NOT + 1; skip < SKIP_COUNT; skip++)
        g_variant_dict_insert(&dict, skip_key(skip), "t", counts->skipped[skip]);
    return g_variant_dict_end(&dict);
}

/* What --json prints. novel: of a dry run, otherwise NULL. */
static GVariant *
describe(const Import *import, char *const *novel)
{
    const ImportCounts *counts = &import->counts;
    GVariantDict dict;

    g_variant_dict_init(&dict, NULL);
    g_variant_dict_insert(&dict, "account", "s", import->account);
    g_variant_dict_insert(&dict, "folders", "t", counts->folders);
    g_variant_dict_insert(&dict, "messages", "t", counts->messages);
    g_variant_dict_insert(&dict, "sent", "t", counts->sent);
    g_variant_dict_insert(&dict, "received", "t", counts->received);
    g_variant_dict_insert_value(&dict, "skipped", describe_skipped(counts));
    if (novel == NULL) {
        g_variant_dict_insert(&dict, "correspondents", "t", import->batch.correspondents);
        g_variant_dict_insert(&dict, "conversations", "t", import->batch.conversations);
        return g_variant_dict_end(&dict);
    }
    GVariantBuilder people;
    g_variant_builder_init(&people, G_VARIANT_TYPE("aa{sv}"));
    for (; *novel != NULL; novel++)
        g_variant_builder_add_value(
            &people, describe_person(*novel, import_people_find(import->people, *novel)));
    g_variant_dict_insert_value(&dict, "would_know", g_variant_builder_end(&people));
    return g_variant_dict_end(&dict);
}

static void
print_table(GPtrArray *rows, guint flexible)
{
    g_autofree char *table = output_table(rows, flexible, output_columns());

    fputs(table, stdout);
}

static void
print_people(const Import *import, char *const *novel)
{
    g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func((GDestroyNotify)g_strfreev);

    command_add_row(rows, g_strdup("TIMES"), g_strdup("FIRST"), g_strdup("LAST"),
                    g_strdup("WOULD BECOME KNOWN"), NULL);
    for (; *novel != NULL; novel++) {
        const ImportPerson *person = import_people_find(import->people, *novel);
        command_add_row(rows, g_strdup_printf("%" G_GUINT64_FORMAT, person->times),
                        output_time(person->first, import->rules.now),
                        output_time(person->last, import->rules.now), escape_line(*novel),
                        NULL);
    }
    print_table(rows, PEOPLE_FLEXIBLE);
    putchar('\n');
}

static void
print_summary(const Import *import, gboolean dry)
{
    g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func((GDestroyNotify)g_strfreev);
    const ImportCounts *counts = &import->counts;
    g_autofree char *account = escape_line(import->account);

    printf("%" G_GUINT64_FORMAT " messages in %" G_GUINT64_FORMAT " folders for account %s\n",
           counts->messages, counts->folders, account);
    if (dry)
        puts("Nothing was imported.");
    else
        printf("New: %" G_GUINT64_FORMAT " correspondents, %" G_GUINT64_FORMAT
               " conversations\n",
               import->batch.correspondents, import->batch.conversations);
    command_add_row(rows, g_strdup("MESSAGES"), g_strdup("WHAT"), NULL);
    command_add_row(rows, g_strdup_printf("%" G_GUINT64_FORMAT, counts->sent),
                    g_strdup("sent by the human"), NULL);
    command_add_row(rows, g_strdup_printf("%" G_GUINT64_FORMAT, counts->received),
                    g_strdup("received"), NULL);
    for (Skip skip = SKIP_NOT + 1; skip < SKIP_COUNT; skip++)
        if (counts->skipped[skip] > 0)
            command_add_row(rows, g_strdup_printf("%" G_GUINT64_FORMAT, counts->skipped[skip]),
                            g_strdup_printf("skipped: %s", skip_text(skip)), NULL);
    putchar('\n');
    print_table(rows, SUMMARY_FLEXIBLE);
}

int
import_report(const Import *import, char *const *novel)
{
    if (import->session->json) {
        g_autoptr(GVariant) answer = g_variant_ref_sink(describe(import, novel));
        return command_print_json(answer);
    }
    if (novel != NULL)
        print_people(import, novel);
    print_summary(import, novel != NULL);
    return EX_OK;
}
