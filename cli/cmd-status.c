#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <time.h>

#include "cli/command.h"
#include "cli/output.h"
#include "lib/escape.h"

enum { FLEXIBLE_FROM = 3, POLICY_DIGITS = 12 };

static gint
compare_texts(gconstpointer a, gconstpointer b)
{
    return g_strcmp0(*(const char *const *)a, *(const char *const *)b);
}

/* "draft 3, held 1", by name. */
static char *
describe_counts(GVariant *account)
{
    g_autoptr(GVariant) counts = answer_array(account, "counts", "a{su}");
    g_autoptr(GPtrArray) parts = g_ptr_array_new_with_free_func(g_free);
    GVariantIter iter;
    const char *state;
    guint32 count;

    g_variant_iter_init(&iter, counts);
    while (g_variant_iter_next(&iter, "{&su}", &state, &count))
        g_ptr_array_add(parts, g_strdup_printf("%s %u", state, count));
    if (parts->len == 0)
        return g_strdup("none");
    g_ptr_array_sort(parts, compare_texts);
    g_ptr_array_add(parts, NULL);
    g_autofree char *joined = g_strjoinv(", ", (char **)parts->pdata);
    return escape_line(joined);
}

static void
print_accounts(GVariant *accounts)
{
    g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func((GDestroyNotify)g_strfreev);

    command_add_row(rows, g_strdup("ACCOUNT"), g_strdup("MODE"), g_strdup("POLICY"),
                    g_strdup("ITEMS"), NULL);
    for (gsize i = 0; i < g_variant_n_children(accounts); i++) {
        g_autoptr(GVariant) account = g_variant_get_child_value(accounts, i);
        g_autofree char *policy = escape_line(answer_text(account, "policy"));
        command_add_row(rows, escape_line(answer_text(account, "name")),
                        escape_line(answer_text(account, "mode")),
                        output_fit(policy, POLICY_DIGITS + 1), describe_counts(account), NULL);
    }
    g_autofree char *table = output_table(rows, FLEXIBLE_FROM, output_columns());
    fputs(table, stdout);
}

/* What has to follow before another sentence may: somebody may have written the dot. */
static const char *
missing_dot(const char *sentence)
{
    gsize length = strlen(sentence);

    return length > 0 && strchr(".!?", sentence[length - 1]) != NULL ? "" : ".";
}

/* What is switched off comes before everything else, in words (XF9). */
static void
print_halts(GVariant *halts, gint64 now)
{
    for (gsize i = 0; i < g_variant_n_children(halts); i++) {
        g_autoptr(GVariant) halt = g_variant_get_child_value(halts, i);
        const char *account = answer_text(halt, "account");
        const char *why = answer_text(halt, "why");
        g_autofree char *since = output_time(answer_number(halt, "since"), now);
        g_autofree char *text = g_strdup_printf(
            "%s is %s since %s, by %s: %s%s Nothing leaves.",
            *account != '\0' ? account : "Everything", answer_text(halt, "halt"), since,
            answer_text(halt, "who"), why, missing_dot(why));
        output_print("", "  ", text);
    }
    if (g_variant_n_children(halts) > 0)
        putchar('\n');
}

/* What became of one message, as far as an agent may know. */
static int
show_outcome(const Session *session, const char *item)
{
    GVariantDict arguments;
    int status;

    g_variant_dict_init(&arguments, NULL);
    g_variant_dict_insert(&arguments, "id", "s", item);
    g_autoptr(GVariant) answer =
        request_ask(session, "outcome", g_variant_dict_end(&arguments), &status);
    if (answer == NULL)
        return status;
    if (session->json)
        return command_print_json(answer);
    const char *reason = answer_text(answer, "reason");
    g_autofree char *text =
        g_strdup_printf("%s: %s%s%s", answer_text(answer, "id"), answer_text(answer, "state"),
                        *reason != '\0' ? ": " : "", reason);
    g_autofree char *safe = escape_line(text);
    puts(safe);
    return EX_OK;
}

/* A mistake in a file that was changed: the old one is still in force. */
static void
print_reload(GVariant *answer, gint64 now)
{
    gint64 failed = answer_number(answer, "reload_failed");

    if (failed == 0)
        return;
    const char *error = answer_text(answer, "reload_error");
    g_autofree char *when = output_time(failed, now);
    g_autofree char *text =
        g_strdup_printf("exeat.conf or a policy could not be read again at %s: %s%s What was "
                        "read before is in force.",
                        when, error, missing_dot(error));
    output_print("", "  ", text);
    putchar('\n');
}

/* Who is asked too often reads no more (A33). */
static void
print_too_much(GVariant *accounts, gint64 target)
{
    for (gsize i = 0; i < g_variant_n_children(accounts); i++) {
        g_autoptr(GVariant) account = g_variant_get_child_value(accounts, i);
        gint64 held = answer_number(account, "held");
        g_autofree char *name = escape_line(answer_text(account, "name"));

        if (held > target)
            printf("\n%s: %" G_GINT64_FORMAT " were held in the last week, the target is "
                   "%" G_GINT64_FORMAT "; see exeat stats\n",
                   name, held, target);
    }
}

/* Who is not told what they should be (A19). */
static void
print_untold(GVariant *answer, gint64 now)
{
    g_autoptr(GVariant) failures = answer_array(answer, "notices_failed", "aa{sv}");

    for (gsize i = 0; i < g_variant_n_children(failures); i++) {
        g_autoptr(GVariant) failure = g_variant_get_child_value(failures, i);
        g_autofree char *since = output_time(answer_number(failure, "since"), now);
        g_autofree char *text =
            g_strdup_printf("Account %s: what “%s” asks for cannot be told since %s: %s",
                            answer_text(failure, "account"), answer_text(failure, "key"),
                            since, answer_text(failure, "error"));
        output_print("", "  ", text);
        putchar('\n');
    }
}

static void
print_mailboxes(GVariant *answer, gint64 now)
{
    g_autoptr(GVariant) failures = answer_array(answer, "mailboxes_failed", "aa{sv}");

    for (gsize i = 0; i < g_variant_n_children(failures); i++) {
        g_autoptr(GVariant) failure = g_variant_get_child_value(failures, i);
        g_autofree char *since = output_time(answer_number(failure, "since"), now);
        g_autofree char *text = g_strdup_printf(
            "Account %s: the mailbox of “drafts” cannot be used since %s, and what is delayed "
            "stays: %s",
            answer_text(failure, "account"), since, answer_text(failure, "error"));
        output_print("", "  ", text);
        putchar('\n');
    }
}

int
cmd_status(const Session *session, char **words)
{
    int status;

    if (words[0] != NULL)
        return show_outcome(session, words[0]);
    g_autoptr(GVariant) answer = request_ask(session, "status", NULL, &status);
    if (answer == NULL)
        return status;
    if (session->json)
        return command_print_json(answer);

    gint64 now = time(NULL);
    gint64 due = answer_number(answer, "next_due");
    g_autofree char *version = escape_line(answer_text(answer, "version"));
    g_autofree char *next_hop = escape_line(answer_text(answer, "next_hop"));
    g_autofree char *started = output_time(answer_number(answer, "started"), now);
    g_autofree char *next = due != 0 ? output_time(due, now) : g_strdup("nothing is due");
    g_autoptr(GVariant) halts = answer_array(answer, "halts", "aa{sv}");
    print_halts(halts, now);
    print_reload(answer, now);
    print_untold(answer, now);
    print_mailboxes(answer, now);
    printf("exeat-relay %s, started %s\n", version, started);
    printf("Next hop:  %s\nNext due:  %s\n", next_hop, next);
    printf("Database:  %" G_GINT64_FORMAT " jobs in %" G_GINT64_FORMAT " commits\n\n",
           answer_number(answer, "jobs"), answer_number(answer, "commits"));
    g_autoptr(GVariant) accounts = answer_array(answer, "accounts", "aa{sv}");
    print_accounts(accounts);
    print_too_much(accounts, answer_number(answer, "hold_target"));
    return EX_OK;
}
