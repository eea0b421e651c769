#include "cli/audit-faults.h"

#include <stdio.h>
#include <sysexits.h>

#include "cli/command.h"
#include "lib/escape.h"

void
audit_faults_init(AuditFaults *faults, const Session *session)
{
    *faults = (AuditFaults){.json = session->json};
    g_variant_builder_init(&faults->found, G_VARIANT_TYPE("aa{sv}"));
}

void
audit_faults_clear(AuditFaults *faults)
{
    g_variant_builder_clear(&faults->found);
}

void
audit_faults_add(AuditFaults *faults, const char *place, const char *fault)
{
    GVariantDict dict;

    faults->count++;
    if (!faults->json) {
        g_autofree char *line = g_strdup_printf("%s: %s", place, fault);
        g_autofree char *safe = escape_line(line);
        puts(safe);
        return;
    }
    g_variant_dict_init(&dict, NULL);
    g_variant_dict_insert(&dict, "place", "s", place);
    g_variant_dict_insert(&dict, "fault", "s", fault);
    g_variant_builder_add_value(&faults->found, g_variant_dict_end(&dict));
}

static int
print_json(AuditFaults *faults, gint64 head, const char *seal)
{
    GVariantDict dict;

    g_variant_dict_init(&dict, NULL);
    g_variant_dict_insert_value(&dict, "faults", g_variant_builder_end(&faults->found));
    g_variant_dict_insert(&dict, "head", "x", head);
    g_variant_dict_insert(&dict, "seal", "s", seal);
    g_autoptr(GVariant) answer = g_variant_ref_sink(g_variant_dict_end(&dict));
    return command_print_json(answer);
}

int
audit_faults_end(AuditFaults *faults, gint64 head, const char *seal)
{
    g_autofree char *safe = escape_line(seal);
    int status = EX_OK;

    if (faults->json)
        status = print_json(faults, head, seal);
    else
        printf("last entry: %" G_GINT64_FORMAT ", seal %s\n", head, safe);
    return status == EX_OK && faults->count > 0 ? EX_DATAERR : status;
}
