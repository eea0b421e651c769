#include <stdio.h>
#include <sysexits.h>

#include "cli/command.h"
#include "cli/output.h"
#include "cli/reason.h"
#include "lib/escape.h"

#define INDENT "  "

/* Ids are a stranger's words, so they end their lines. */
static void
print_ids(GVariant *entry)
{
    g_autoptr(GVariant) letters = answer_array(entry, "conversations", "aa{sv}");

    for (gsize i = 0; i < g_variant_n_children(letters); i++) {
        g_autoptr(GVariant) letter = g_variant_get_child_value(letters, i);
        g_autofree char *day = reason_date(answer_number(letter, "when"));
        g_autofree char *line = g_strdup_printf(
            "conversation %" G_GINT64_FORMAT ", last written to on %s: %s",
            answer_number(letter, "conversation"), day, answer_text(letter, "message"));
        output_print(INDENT, INDENT INDENT, line);
    }
}

static void
print_text(GVariant *entry, const char *key, const char *label)
{
    g_autoptr(GVariant) sighting = answer_array(entry, key, "a{sv}");
    g_autofree char *line = g_strconcat(label, answer_text(sighting, "message"), NULL);

    if (*answer_text(sighting, "message") != '\0')
        output_print(INDENT, INDENT INDENT, line);
}

static void
print_entry(GVariant *entry)
{
    g_autofree char *account = escape_line(answer_text(entry, "account"));
    const char *standing = reason_standing_name(reason_standing(entry));
    g_autofree char *first = g_strdup_printf("%s, %s: ", account, standing);
    g_auto(GStrv) reasons = reason_lines(entry, TRUE);

    output_print(first, INDENT, answer_text(entry, "address"));
    for (guint i = 0; reasons[i] != NULL; i++)
        output_print(INDENT, INDENT INDENT, reasons[i]);
    print_text(entry, "first_named", "first such message: ");
    print_text(entry, "last_named", "last such message: ");
    print_ids(entry);
}

/* address: NULL for none. */
static GVariant *
ask(const Session *session, const char *verb, const char *address, int *status_out)
{
    const char *account = session_option(session, "account");
    GVariantDict arguments;

    g_variant_dict_init(&arguments, NULL);
    if (address != NULL)
        g_variant_dict_insert(&arguments, "address", "s", address);
    if (account != NULL)
        g_variant_dict_insert(&arguments, "account", "s", account);
    return request_ask(session, verb, g_variant_dict_end(&arguments), status_out);
}

/* vouch and forget */
static int
change(const Session *session, const char *verb, const char *address)
{
    int status;
    g_autoptr(GVariant) answer = ask(session, verb, address, &status);

    if (answer == NULL)
        return status;
    if (session->json)
        return command_print_json(answer);
    g_autofree char *account = escape_line(answer_text(answer, "account"));
    g_autofree char *safe = escape_line(answer_text(answer, "address"));
    printf("%s, %s: %s\n", account, g_str_equal(verb, "vouch") ? "vouched for" : "forgotten",
           safe);
    return EX_OK;
}

static int
accept(const Session *session)
{
    int status;
    g_autoptr(GVariant) answer = ask(session, "accept", NULL, &status);

    if (answer == NULL)
        return status;
    if (session->json)
        return command_print_json(answer);
    g_autofree char *account = escape_line(answer_text(answer, "account"));
    g_autoptr(GVariant) faults = answer_array(answer, "faults", "as");
    for (gsize i = 0; i < g_variant_n_children(faults); i++) {
        g_autoptr(GVariant) fault = g_variant_get_child_value(faults, i);
        g_autofree char *safe = escape_line(g_variant_get_string(fault, NULL));
        printf("%s, accepted: %s\n", account, safe);
    }
    return EX_OK;
}

int
cmd_history(const Session *session, char **words)
{
    int status;

    if (words[1] == NULL && g_str_equal(words[0], "accept"))
        return accept(session);
    if (words[1] != NULL) {
        if (!g_str_equal(words[0], "vouch") && !g_str_equal(words[0], "forget"))
            return command_misused(words[0], "vouch, forget or accept alone");
        return change(session, words[0], words[1]);
    }
    g_autoptr(GVariant) answer = ask(session, "history", words[0], &status);
    if (answer == NULL)
        return status;
    if (session->json)
        return command_print_json(answer);
    g_autoptr(GVariant) entries = answer_array(answer, "entries", "aa{sv}");
    for (gsize i = 0; i < g_variant_n_children(entries); i++) {
        g_autoptr(GVariant) entry = g_variant_get_child_value(entries, i);
        print_entry(entry);
    }
    return EX_OK;
}
