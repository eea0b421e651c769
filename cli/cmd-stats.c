#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "cli/command.h"
#include "cli/output.h"
#include "cli/reason.h"
#include "lib/escape.h"

enum { WEEKS_USUAL = 4, WEEKS_MOST = 520, BAR_COLUMNS = 24, EIGHTHS = 8 };

/* In order of strictness. */
static const char *const TIERS[] = {"release", "delay", "draft", "hold", "refuse"};

static guint32
count_tier(GVariant *week, const char *tier)
{
    g_autoptr(GVariant) tiers = answer_array(week, "tiers", "a{su}");
    guint32 items = 0;

    g_variant_lookup(tiers, tier, "u", &items);
    return items;
}

static guint
count_items(GVariant *week)
{
    guint items = 0;

    for (gsize i = 0; i < G_N_ELEMENTS(TIERS); i++)
        items += count_tier(week, TIERS[i]);
    return items;
}

/* "25%", or "-" of nothing. */
static char *
share(gint64 part, gint64 whole)
{
    return whole > 0
               ? g_strdup_printf("%" G_GINT64_FORMAT "%%", (part * 100 + whole / 2) / whole)
               : g_strdup("-");
}

/* A bar of at most BAR_COLUMNS; in eighths of a column where the terminal has such letters. */
static char *
draw_bar(guint number, guint most, gboolean utf8)
{
    GString *bar = g_string_new(NULL);
    guint64 eighths = most > 0 ? (guint64)number * BAR_COLUMNS * EIGHTHS / most : 0;

    if (number > 0)
        eighths = MAX(eighths, 1);
    for (guint64 i = 0; i < eighths / EIGHTHS; i++)
        g_string_append(bar, utf8 ? "█" : "#");
    guint rest = eighths % EIGHTHS;
    if (rest > 0 && utf8)
        g_string_append_unichar(bar, 0x2590 - rest); /* U+258F is an eighth, U+2589 seven */
    else if (rest > 0 && bar->len == 0)
        g_string_append_c(bar, '#');
    return g_string_free(bar, FALSE);
}

static guint
find_most_held(GVariant *weeks)
{
    guint most = 0;

    for (gsize i = 0; i < g_variant_n_children(weeks); i++) {
        g_autoptr(GVariant) week = g_variant_get_child_value(weeks, i);
        most = MAX(most, count_tier(week, "hold"));
    }
    return most;
}

static void
add_week(GPtrArray *rows, GVariant *week, guint most, gboolean utf8)
{
    guint items = count_items(week);
    guint held = count_tier(week, "hold");
    g_autofree char *bar = draw_bar(held, most, utf8);

    command_add_row(rows, reason_date(answer_number(week, "since")),
                    g_strdup_printf("%u", items), share(count_tier(week, TIERS[0]), items),
                    share(count_tier(week, TIERS[1]), items),
                    share(count_tier(week, TIERS[2]), items), share(held, items),
                    share(count_tier(week, TIERS[4]), items),
                    share(answer_number(week, "novel"), answer_number(week, "recipients")),
                    g_strdup_printf("%u %s", held, bar), NULL);
}

static void
print_weeks(GVariant *account)
{
    g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func((GDestroyNotify)g_strfreev);
    g_autoptr(GVariant) weeks = answer_array(account, "weeks", "aa{sv}");
    gboolean utf8 = g_get_charset(NULL);

    command_add_row(rows, g_strdup("WEEK FROM"), g_strdup("ITEMS"), g_strdup("RELEASE"),
                    g_strdup("DELAY"), g_strdup("DRAFT"), g_strdup("HOLD"), g_strdup("REFUSE"),
                    g_strdup("NOVEL"), g_strdup("HELD"), NULL);
    for (gsize i = 0; i < g_variant_n_children(weeks); i++) {
        g_autoptr(GVariant) week = g_variant_get_child_value(weeks, i);
        add_week(rows, week, find_most_held(weeks), utf8);
    }
    g_autofree char *table = output_table(rows, G_MAXUINT, output_columns());
    fputs(table, stdout);
}

static void
print_waits(GVariant *account)
{
    g_autoptr(GVariant) waits = answer_array(account, "waits", "a{sx}");
    g_autoptr(GString) text = g_string_new("Median wait until sent or rejected:");

    for (gsize i = 0; i < G_N_ELEMENTS(TIERS); i++) {
        gint64 wait;

        if (!g_variant_lookup(waits, TIERS[i], "x", &wait))
            continue;
        g_autofree char *span = output_span(wait);
        g_string_append_printf(text, " %s %s", TIERS[i], span);
    }
    if (g_variant_n_children(waits) > 0)
        output_print("", "  ", text->str);
}

/* What each approver decided, week by week. */
static void
print_approvers(GVariant *account)
{
    g_autoptr(GVariant) approvers = answer_array(account, "approvers", "aa{sv}");

    for (gsize i = 0; i < g_variant_n_children(approvers); i++) {
        g_autoptr(GVariant) approver = g_variant_get_child_value(approvers, i);
        g_autoptr(GVariant) decisions = answer_array(approver, "decisions", "au");
        g_autoptr(GString) text = g_string_new("Decided by ");

        g_string_append_printf(text, "%s in each week:", answer_text(approver, "who"));
        for (gsize j = 0; j < g_variant_n_children(decisions); j++) {
            g_autoptr(GVariant) number = g_variant_get_child_value(decisions, j);
            g_string_append_printf(text, " %u", g_variant_get_uint32(number));
        }
        output_print("", "  ", text->str);
    }
}

static void
print_attention(GVariant *account, gint64 target)
{
    gint64 held = answer_number(account, "held");
    gint64 approvals = answer_number(account, "approvals");
    gint64 hurried = answer_number(account, "hurried");
    g_autofree char *part = share(hurried, approvals);

    printf("Held in the last week: %" G_GINT64_FORMAT ", %s the target of %" G_GINT64_FORMAT
           "\n",
           held, held > target ? "over" : "within", target);
    if (approvals > 0)
        printf("Approved faster than a person can read: %" G_GINT64_FORMAT
               " of %" G_GINT64_FORMAT " (%s)\n",
               hurried, approvals, part);
}

static void
print_silent(GVariant *account)
{
    g_autoptr(GVariant) silent = answer_array(account, "silent", "aa{sv}");

    if (answer_number(account, "decided") == 0) {
        puts("No line of the policy in force has decided anything yet.");
        return;
    }
    for (gsize i = 0; i < g_variant_n_children(silent); i++) {
        g_autoptr(GVariant) line = g_variant_get_child_value(silent, i);
        g_autofree char *file = g_path_get_basename(answer_text(line, "file"));
        g_autofree char *text =
            g_strdup_printf("Decided nothing: %s:%" G_GINT64_FORMAT ": %s “%s”", file,
                            answer_number(line, "line"), answer_text(line, "tier"),
                            answer_text(line, "reason"));

        output_print("", "  ", text);
    }
}

static void
print_account(GVariant *account, gint64 target)
{
    g_autofree char *name = escape_line(answer_text(account, "name"));

    printf("Account %s\n\n", name);
    print_weeks(account);
    putchar('\n');
    print_attention(account, target);
    print_waits(account);
    print_approvers(account);
    print_silent(account);
}

static GVariant *
ask(const Session *session, guint weeks, int *status_out)
{
    const char *account = session_option(session, "account");
    GVariantDict arguments;

    g_variant_dict_init(&arguments, NULL);
    g_variant_dict_insert(&arguments, "weeks", "u", weeks);
    if (account != NULL)
        g_variant_dict_insert(&arguments, "account", "s", account);
    return request_ask(session, "stats", g_variant_dict_end(&arguments), status_out);
}

int
cmd_stats(const Session *session, char **words G_GNUC_UNUSED)
{
    const char *given = session_option(session, "weeks");
    guint64 weeks = WEEKS_USUAL;
    int status;

    if (given != NULL && !g_ascii_string_to_unsigned(given, 10, 1, WEEKS_MOST, &weeks, NULL))
        return command_misused(given, "a number of weeks from 1 to 520");
    g_autoptr(GVariant) answer = ask(session, (guint)weeks, &status);
    if (answer == NULL)
        return status;
    if (session->json)
        return command_print_json(answer);
    setlocale(LC_CTYPE, ""); /* whether the terminal has more than ASCII */
    g_autoptr(GVariant) accounts = answer_array(answer, "accounts", "aa{sv}");
    for (gsize i = 0; i < g_variant_n_children(accounts); i++) {
        g_autoptr(GVariant) account = g_variant_get_child_value(accounts, i);

        if (i > 0)
            putchar('\n');
        print_account(account, answer_number(answer, "hold_target"));
    }
    return EX_OK;
}
