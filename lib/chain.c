#include "lib/chain.h"

#include "lib/fields.h"

#define VERSION "exeat-audit-1"

static GByteArray *
join(const ChainHead *head, const ChainEntry *entry)
{
    GByteArray *fields = g_byte_array_new();

    fields_add_text(fields, VERSION);
    fields_add_text(fields, head->seal);
    fields_add_number(fields, (guint64)entry->seq);
    fields_add_number(fields, (guint64)entry->at);
    fields_add_text(fields, entry->kind);
    fields_add_text(fields, entry->account);
    fields_add_text(fields, entry->item);
    fields_add_text(fields, entry->who);
    fields_add_text(fields, entry->details);
    return fields;
}

char *
chain_seal(const Seal *seal, const ChainHead *head, const ChainEntry *entry)
{
    g_autoptr(GByteArray) fields = join(head, entry);

    return seal_over(seal, fields);
}

char *
chain_follow(const Seal *seal, ChainHead *head, const ChainEntry *entry, const char *claimed)
{
    g_autoptr(GByteArray) fields = join(head, entry);
    gint64 expected = head->seq + 1;
    char *fault = NULL;

    if (entry->seq > expected)
        fault = g_strdup_printf("%" G_GINT64_FORMAT " entries before it are missing",
                                entry->seq - expected);
    else if (entry->seq < expected)
        fault = g_strdup("it stands in the wrong place");
    else if (!seal_fits(seal, fields, claimed))
        fault = g_strdup("its seal does not fit: it, or the one before, was changed");
    else if (g_str_equal(entry->kind, CHAIN_LOSS))
        fault = g_strdup("the relay found that entries before it had been taken away");
    head->seq = entry->seq;
    g_strlcpy(head->seal, claimed, sizeof head->seal);
    return fault;
}
