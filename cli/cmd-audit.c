#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#include "cli/audit-faults.h"
#include "cli/audit-file.h"
#include "cli/command.h"
#include "cli/output.h"
#include "lib/escape.h"
#include "policy/rules.h"

enum { FLEXIBLE_FROM = 4 }; /* the columns who and what */

/* Called with each page of the relay's answer. */
typedef void (*Page)(GVariant *answer, gpointer data);

/* Asks until the relay has no more. arguments: those of every page; taken. */
static int
ask_pages(const Session *session, const char *verb, GVariant *arguments, Page page,
          gpointer data)
{
    g_autoptr(GVariant) wanted = g_variant_ref_sink(arguments);
    gint64 next = 0;

    do {
        GVariantDict dict;
        int status;

        g_variant_dict_init(&dict, wanted);
        g_variant_dict_insert(&dict, "after", "x", next);
        g_autoptr(GVariant) answer =
            request_ask(session, verb, g_variant_dict_end(&dict), &status);
        if (answer == NULL)
            return status;
        page(answer, data);
        next = answer_number(answer, "next");
    } while (next != 0);
    return EX_OK;
}

static void
collect(GVariant *answer, gpointer data)
{
    g_autoptr(GVariant) entries = answer_array(answer, "entries", "aa{sv}");

    for (gsize i = 0; i < g_variant_n_children(entries); i++) {
        g_autoptr(GVariant) entry = g_variant_get_child_value(entries, i);
        g_variant_builder_add_value(data, entry);
    }
}

static char *
describe_time(gint64 when)
{
    g_autoptr(GDateTime) time = g_date_time_new_from_unix_local(when);

    return time != NULL ? g_date_time_format(time, "%Y-%m-%d %H:%M:%S") : g_strdup("-");
}

/* In quotes unless it is one plain word: a stranger's text is no further detail. */
static char *
describe_text(GVariant *value)
{
    const char *text = g_variant_get_string(value, NULL);
    gsize plain = strspn(text, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "._+-@/:");

    return *text != '\0' && text[plain] == '\0' ? g_strdup(text)
                                                : g_variant_print(value, FALSE);
}

static char *describe_value(const char *key, GVariant *value);

static char *
describe_array(const char *key, GVariant *array)
{
    g_autoptr(GString) out = g_string_new(NULL);

    for (gsize i = 0; i < g_variant_n_children(array); i++) {
        g_autoptr(GVariant) child = g_variant_get_child_value(array, i);
        g_autofree char *text = describe_value(key, child);
        g_string_append_printf(out, "%s%s", i > 0 ? " " : "", text);
    }
    return g_string_free(g_steal_pointer(&out), FALSE);
}

static char *
describe_value(const char *key, GVariant *value)
{
    static const char *const times[] = {"expires", "from", "seen", "to", NULL};

    if (g_variant_is_of_type(value, G_VARIANT_TYPE_STRING))
        return describe_text(value);
    if (g_variant_is_of_type(value, G_VARIANT_TYPE_BOOLEAN))
        return g_strdup(g_variant_get_boolean(value) ? "yes" : "no");
    if (g_variant_is_of_type(value, G_VARIANT_TYPE_STRING_ARRAY))
        return describe_array(key, value);
    if (g_variant_is_of_type(value, G_VARIANT_TYPE_INT64) && g_strv_contains(times, key))
        return describe_time(g_variant_get_int64(value));
    return g_variant_print(value, FALSE);
}

/* "characters 11"; NULL when there is nothing to tell. */
static char *
describe_content(GVariant *content)
{
    g_autoptr(GString) out = g_string_new(NULL);
    GVariantIter iter;
    const char *key;
    GVariant *value;

    g_variant_iter_init(&iter, content);
    while (g_variant_iter_loop(&iter, "{&sv}", &key, &value)) {
        g_autofree char *text = describe_value(key, value);
        g_string_append_printf(out, "%s%s %s", out->len > 0 ? ", " : "", key, text);
    }
    return out->len > 0 ? g_string_free(g_steal_pointer(&out), FALSE) : NULL;
}

/* What an entry tells, in one line. */
static char *
summarise(GVariant *entry)
{
    g_autoptr(GVariant) content = answer_array(entry, "content", "a{sv}");
    g_autoptr(GVariant) action = answer_array(entry, "action", "a{sv}");
    const char *kind = answer_text(entry, "kind");

    if (g_str_equal(kind, "submitted"))
        return g_strdup_printf("%s (%s), confirmation: %s, result: %s",
                               answer_text(content, "tier"), answer_text(content, "reason"),
                               answer_text(action, "confirmation_result"),
                               answer_text(action, "execution_result"));
    if (g_str_equal(kind, "moved"))
        return g_strdup_printf("%s to %s: %s", answer_text(content, "from"),
                               answer_text(content, "to"), answer_text(content, "why"));
    char *told = describe_content(content);
    return told != NULL ? told : g_strdup(answer_text(entry, "details"));
}

static void
add_entry(GPtrArray *rows, GVariant *entry)
{
    g_autofree char *what = summarise(entry);

    command_add_row(rows, g_strdup_printf("%" G_GINT64_FORMAT, answer_number(entry, "seq")),
                    describe_time(answer_number(entry, "at")),
                    escape_line(answer_text(entry, "kind")),
                    escape_line(answer_text(entry, "item")),
                    escape_line(answer_text(entry, "who")), escape_line(what), NULL);
}

static void
print_entries(GVariant *answer)
{
    g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func((GDestroyNotify)g_strfreev);
    g_autoptr(GVariant) entries = answer_array(answer, "entries", "aa{sv}");

    command_add_row(rows, g_strdup("SEQ"), g_strdup("TIME"), g_strdup("KIND"),
                    g_strdup("ITEM"), g_strdup("WHO"), g_strdup("WHAT"), NULL);
    for (gsize i = 0; i < g_variant_n_children(entries); i++) {
        g_autoptr(GVariant) entry = g_variant_get_child_value(entries, i);
        add_entry(rows, entry);
    }
    g_autofree char *table = output_table(rows, FLEXIBLE_FROM, output_columns());
    fputs(table, stdout);
}

static gboolean
is_tier(const char *text)
{
    for (Tier tier = TIER_HOLD; tier <= TIER_REFUSE; tier++)
        if (g_str_equal(text, tier_name(tier)))
            return TRUE;
    return FALSE;
}

static int
read_wishes(const Session *session, GVariantDict *arguments)
{
    static const char *const texts[][2] = {{"account", "account"}, {"approver", "approver"},
                                           {"grep", "word"},       {"item", "item"},
                                           {"kind", "kind"},       {"tier", "tier"}};
    const char *since = session_option(session, "since");
    const char *tier = session_option(session, "tier");
    gint64 when = 0;

    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
        const char *value = session_option(session, texts[i][0]);
        if (value != NULL)
            g_variant_dict_insert(arguments, texts[i][1], "s", value);
    }
    if (since != NULL && !command_read_day(since, &when))
        return command_misused(since, "a day like 2026-11-29");
    if (tier != NULL && !is_tier(tier))
        return command_misused(tier, "release, delay, draft, hold or refuse");
    g_variant_dict_insert(arguments, "since", "x", when);
    g_variant_dict_insert(arguments, "confirmed", "b", session_has(session, "confirmed"));
    return EX_OK;
}

static int
search(const Session *session)
{
    g_auto(GVariantBuilder) found = G_VARIANT_BUILDER_INIT(G_VARIANT_TYPE("aa{sv}"));
    g_auto(GVariantDict) arguments = G_VARIANT_DICT_INIT(NULL);
    GVariantDict dict;

    int status = read_wishes(session, &arguments);
    if (status == EX_OK)
        status = ask_pages(session, "audit", g_variant_dict_end(&arguments), collect, &found);
    if (status != EX_OK)
        return status;
    g_variant_dict_init(&dict, NULL);
    g_variant_dict_insert_value(&dict, "entries", g_variant_builder_end(&found));
    g_autoptr(GVariant) answer = g_variant_ref_sink(g_variant_dict_end(&dict));
    if (session->json)
        return command_print_json(answer);
    print_entries(answer);
    return EX_OK;
}

/* What verify found so far. */
typedef struct {
    AuditFaults faults;
    gint64 head;
    gint64 known;
    char *seal;
} Verified;

static void
add_faults(GVariant *answer, gpointer data)
{
    Verified *verified = data;
    g_autoptr(GVariant) faults = answer_array(answer, "faults", "aa{sv}");

    for (gsize i = 0; i < g_variant_n_children(faults); i++) {
        g_autoptr(GVariant) fault = g_variant_get_child_value(faults, i);
        g_autofree char *place =
            g_strdup_printf("entry %" G_GINT64_FORMAT, answer_number(fault, "seq"));
        audit_faults_add(&verified->faults, place, answer_text(fault, "fault"));
    }
    verified->head = answer_number(answer, "head");
    verified->known = answer_number(answer, "known");
    g_free(verified->seal);
    verified->seal = g_strdup(answer_text(answer, "seal"));
}

/* What vouches for the account's correspondents. */
static int
verify_history(const Session *session, AuditFaults *found)
{
    int status;
    g_autoptr(GVariant) answer =
        request_ask(session, "verify-history", g_variant_new("a{sv}", NULL), &status);

    if (answer == NULL)
        return status;
    g_autoptr(GVariant) faults = answer_array(answer, "faults", "aa{sv}");
    for (gsize i = 0; i < g_variant_n_children(faults); i++) {
        g_autoptr(GVariant) fault = g_variant_get_child_value(faults, i);
        g_autofree char *place =
            g_strconcat("history of ", answer_text(fault, "account"), NULL);
        audit_faults_add(found, place, answer_text(fault, "fault"));
    }
    return EX_OK;
}

/* The record ends before an entry that was written. */
static void
check_end(Verified *verified)
{
    if (verified->known <= verified->head)
        return;
    g_autofree char *fault =
        g_strdup_printf("entry %" G_GINT64_FORMAT " was written", verified->known);
    audit_faults_add(&verified->faults, "the record ends too early", fault);
}

static int
verify(const Session *session)
{
    Verified verified = {0};

    audit_faults_init(&verified.faults, session);
    int status =
        ask_pages(session, "verify", g_variant_new("a{sv}", NULL), add_faults, &verified);
    if (status == EX_OK) {
        check_end(&verified);
        status = verify_history(session, &verified.faults);
    }
    if (status == EX_OK)
        status = audit_faults_end(&verified.faults, verified.head, verified.seal);
    audit_faults_clear(&verified.faults);
    g_free(verified.seal);
    return status;
}

static void
write_page(GVariant *answer, gpointer data)
{
    g_autoptr(GVariant) entries = answer_array(answer, "entries", "aa{sv}");

    for (gsize i = 0; i < g_variant_n_children(entries); i++) {
        g_autoptr(GVariant) entry = g_variant_get_child_value(entries, i);
        audit_file_write(data, entry);
    }
}

/* A file of its own, that others cannot read; whole, or none. */
static int export(const Session *session, const char *path)
{
    mode_t usual = umask(077);
    FILE *file = fopen(path, "wxe");
    umask(usual);

    if (file == NULL)
        return command_fail_file(path, EX_CANTCREAT);
    int status = ask_pages(session, "audit", g_variant_new("a{sv}", NULL), write_page, file);
    gboolean written = ferror(file) == 0;
    if (fclose(file) != 0 || !written)
        status = command_fail_file(path, EX_IOERR);
    if (status == EX_OK && session->json)
        return command_print_text(session, "file", path);
    if (status != EX_OK)
        (void)unlink(path);
    return status;
}

/* The whole record is verified and exported: an option that seems to choose from it, or a key
 * that would not be used, is a mistake. */
int
cmd_audit(const Session *session, char **words)
{
    const char *key = session_option(session, "key");
    guint options = g_hash_table_size(session->options);

    if (words[0] == NULL)
        return key == NULL ? search(session)
                           : command_misused("--key", "verify FILE before it");
    if (g_str_equal(words[0], "verify") && words[1] == NULL && options == 0)
        return verify(session);
    if (g_str_equal(words[0], "verify") && words[1] != NULL && key != NULL && options == 1)
        return audit_file_verify(session, words[1], key);
    if (g_str_equal(words[0], "export") && words[1] != NULL && options == 0)
        return export(session, words[1]);
    return command_misused(words[0], "verify, verify FILE --key FILE or export FILE");
}
