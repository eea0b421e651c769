#include "policy/facts.h"

#include <string.h>

static const struct {
    const char *name;
    FactKind kind;
    int risk;
} table[FACT_COUNT] = {
    [FACT_RECIPIENTS] = {"recipients", FACT_KIND_NUMBER, 1},
    [FACT_EXTERNAL] = {"external", FACT_KIND_NUMBER, 1},
    [FACT_NOVEL] = {"novel", FACT_KIND_NUMBER, 1},
    [FACT_EXTERNAL_NOVEL] = {"external_novel", FACT_KIND_NUMBER, 1},
    [FACT_KNOWN] = {"known", FACT_KIND_NUMBER, -1},
    [FACT_FROM_BODY] = {"from_body", FACT_KIND_NUMBER, 1},
    [FACT_LISTS] = {"lists", FACT_KIND_NUMBER, 1},
    [FACT_IN_THREAD] = {"in_thread", FACT_KIND_FLAG, -1},
    [FACT_MINE] = {"mine", FACT_KIND_FLAG, -1},
    [FACT_OUTSIDE_THREAD] = {"outside_thread", FACT_KIND_NUMBER, 1},
    [FACT_THREAD_DAYS] = {"thread_days", FACT_KIND_NUMBER, 1},
    [FACT_CONTACT_DAYS] = {"contact_days", FACT_KIND_NUMBER, 1},
    [FACT_AUTO_SENDS] = {"auto_sends", FACT_KIND_NUMBER, 1},
    [FACT_AUTO_RECIPIENT] = {"auto_recipient", FACT_KIND_NUMBER, 1},
    [FACT_SENT_HOUR] = {"sent_hour", FACT_KIND_NUMBER, 1},
    [FACT_SENT_DAY] = {"sent_day", FACT_KIND_NUMBER, 1},
    [FACT_FANOUT_DAY] = {"fanout_day", FACT_KIND_NUMBER, 1},
    [FACT_ATTACHMENTS] = {"attachments", FACT_KIND_NUMBER, 1},
    [FACT_ATTACHMENT_BYTES] = {"attachment_bytes", FACT_KIND_NUMBER, 1},
    [FACT_FORWARD] = {"forward", FACT_KIND_FLAG, 1},
    [FACT_OPAQUE] = {"opaque", FACT_KIND_FLAG, 1},
    [FACT_SIZE] = {"size", FACT_KIND_NUMBER, 1},
    [FACT_DIVERTED] = {"diverted", FACT_KIND_NUMBER, 1},
    [FACT_HIDDEN] = {"hidden", FACT_KIND_NUMBER, 1},
    [FACT_HEADER_ONLY] = {"header_only", FACT_KIND_NUMBER, 1},
    [FACT_LOOKALIKE] = {"lookalike", FACT_KIND_NUMBER, 1},
    [FACT_PENDING] = {"pending", FACT_KIND_FLAG, 1},
    [FACT_LOCKED] = {"locked", FACT_KIND_FLAG, 1},
    [FACT_LOOP] = {"loop", FACT_KIND_FLAG, 1},
};

const char *
fact_name(Fact fact)
{
    return table[fact].name;
}

FactKind
fact_kind(Fact fact)
{
    return table[fact].kind;
}

int
fact_risk(Fact fact)
{
    return table[fact].risk;
}

gboolean
fact_find(const char *name, Fact *fact_out)
{
    for (guint i = 0; i < FACT_COUNT; i++) {
        if (strcmp(table[i].name, name) == 0) {
            *fact_out = i;
            return TRUE;
        }
    }
    return FALSE;
}

void
facts_set(Facts *facts, Fact fact, gint64 number)
{
    gboolean is_flag = fact_kind(fact) == FACT_KIND_FLAG;

    facts->values[fact].known = TRUE;
    facts->values[fact].number = is_flag ? number != 0 : number;
}

/* Digit by digit: there are many of them, and printf takes as long for each as all else. */
static void
append_number(GString *text, gint64 number)
{
    char digits[20];
    guint64 rest = number < 0 ? -(guint64)number : (guint64)number;
    gsize at = sizeof digits;

    do
        digits[--at] = (char)('0' + rest % 10);
    while ((rest /= 10) > 0);
    if (number < 0)
        g_string_append_c(text, '-');
    g_string_append_len(text, digits + at, (gssize)(sizeof digits - at));
}

static void
append_value(GString *text, FactKind kind, FactValue value)
{
    if (!value.known)
        g_string_append_c(text, '?');
    else if (kind == FACT_KIND_FLAG)
        g_string_append(text, value.number ? "yes" : "no");
    else
        append_number(text, value.number);
}

char *
facts_format(const Facts *facts)
{
    GString *text = g_string_new(NULL);

    for (guint i = 0; i < FACT_COUNT; i++) {
        g_string_append(text, i > 0 ? " " : "");
        g_string_append(text, table[i].name);
        g_string_append_c(text, '=');
        append_value(text, table[i].kind, facts->values[i]);
    }
    if (facts->declared[0]) {
        /* The agent wrote it: escaped to one word, it cannot pass for a fact. */
        g_autofree char *word = g_uri_escape_string(facts->declared, NULL, FALSE);
        g_string_append_printf(text, " declared=%s", word);
    }
    return g_string_free(text, FALSE);
}

static gboolean
parse_value(const char *text, Fact fact, Facts *facts)
{
    gint64 number;

    if (strcmp(text, "?") == 0)
        return TRUE;
    if (fact_kind(fact) == FACT_KIND_FLAG) {
        if (strcmp(text, "yes") != 0 && strcmp(text, "no") != 0)
            return FALSE;
        number = strcmp(text, "yes") == 0;
    } else if (!g_ascii_string_to_signed(text, 10, 0, G_MAXINT64, &number, NULL)) {
        return FALSE;
    }
    facts_set(facts, fact, number);
    return TRUE;
}

static gboolean
parse_declared(const char *text, Facts *facts)
{
    g_autofree char *declared = g_uri_unescape_string(text, NULL);

    if (!declared || !declared[0] || strlen(declared) >= sizeof facts->declared)
        return FALSE;
    g_strlcpy(facts->declared, declared, sizeof facts->declared);
    return TRUE;
}

/* One "name=value"; seen holds what came before, for nothing may come twice. */
static gboolean
parse_pair(const char *pair, GHashTable *seen, Facts *facts)
{
    const char *equals = strchr(pair, '=');

    if (!equals)
        return FALSE;
    char *name = g_strndup(pair, equals - pair);
    if (!g_hash_table_add(seen, name))
        return FALSE;
    if (strcmp(name, "declared") == 0)
        return parse_declared(equals + 1, facts);
    Fact fact;
    return fact_find(name, &fact) && parse_value(equals + 1, fact, facts);
}

gboolean
facts_parse(const char *text, Facts *facts_out)
{
    g_auto(GStrv) pairs = g_strsplit(text, " ", -1);
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    Facts facts = {0};

    for (guint i = 0; pairs[i]; i++) {
        if (!parse_pair(pairs[i], seen, &facts))
            return FALSE;
    }
    *facts_out = facts;
    return TRUE;
}
