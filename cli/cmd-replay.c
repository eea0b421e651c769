#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <time.h>

#include "cli/command.h"
#include "cli/output.h"
#include "cli/reason.h"
#include "lib/escape.h"
#include "lib/policies.h"

#define TIERS ((guint)TIER_REFUSE + 1)

enum { EXAMPLES_MOST = 10, DAY = 24 * 60 * 60, WEEK = 7 * DAY, DAYS_USUAL = 30 };

/* What is left of a request for everything but the files. */
enum { FILES_MOST = WIRE_LIMIT_PEOPLE - 4096 };

/* Items that were, and would be, held. */
typedef struct {
    guint then, now;
} Week;

typedef struct {
    gint64 created;
    char *id, *reason;
    Tier from, to;
} Example;

typedef struct {
    gint64 since;
    guint items, changed, unjudged;
    guint tiers[TIERS][TIERS]; /* by strictness: then, now */
    GArray *weeks;             /* of Week */
    GArray *examples;          /* of Example */
} Replay;

static void
example_clear(gpointer data)
{
    Example *example = data;

    g_free(example->id);
    g_free(example->reason);
}

/* "30d", or a day. */
static gboolean
read_since(const char *text, gint64 now, gint64 *since_out)
{
    g_autofree char *number = g_strndup(text, MAX(strlen(text), 1) - 1);
    guint64 days;

    if (!g_str_has_suffix(text, "d") ||
        !g_ascii_string_to_unsigned(number, 10, 1, 36500, &days, NULL))
        return command_read_day(text, since_out);
    *since_out = now - (gint64)days * DAY;
    return TRUE;
}

static const char *
tier_of_strictness(guint strictness)
{
    for (guint tier = 0; tier < TIERS; tier++)
        if (tier_strictness((Tier)tier) == strictness)
            return tier_name((Tier)tier);
    g_assert_not_reached();
}

static void
count_week(Replay *replay, gint64 created, Tier from, Tier to)
{
    guint week = (guint)(MAX(created - replay->since, 0) / WEEK);

    if (week >= replay->weeks->len)
        g_array_set_size(replay->weeks, week + 1);
    Week *held = &g_array_index(replay->weeks, Week, week);
    held->then += from == TIER_HOLD;
    held->now += to == TIER_HOLD;
}

/* FALSE: the relay knows tiers that we do not. */
static gboolean
take_row(Replay *replay, GVariant *row)
{
    const char *id, *from_name, *to_name, *reason;
    gint64 created;
    Tier from, to;

    g_variant_get(row, "(x&s&s&s&s)", &created, &id, &from_name, &to_name, &reason);
    if (!tier_find(from_name, &from) || !tier_find(to_name, &to))
        return FALSE;
    replay->items++;
    replay->changed += from != to;
    replay->tiers[tier_strictness(from)][tier_strictness(to)]++;
    count_week(replay, created, from, to);
    if (from != to && replay->examples->len < EXAMPLES_MOST) {
        const Example example = {created, g_strdup(id), g_strdup(reason), from, to};
        g_array_append_val(replay->examples, example);
    }
    return TRUE;
}

static gboolean
take_page(Replay *replay, GVariant *answer)
{
    g_autoptr(GVariant) rows = answer_array(answer, "rows", "a(xssss)");
    gboolean good = TRUE;

    replay->unjudged += (guint)answer_number(answer, "unjudged");
    for (gsize i = 0; i < g_variant_n_children(rows) && good; i++) {
        g_autoptr(GVariant) row = g_variant_get_child_value(rows, i);
        good = take_row(replay, row);
    }
    return good;
}

/* Reads the policy here, so that its mistakes are told here, and packs all that it is made of:
 * a{ss}. The relay opens no file that somebody names. */
static GVariant *
pack_policy(const char *path, int *status_out)
{
    g_autoptr(GHashTable) texts =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    g_autoptr(GError) error = NULL;
    g_autoptr(Policy) policy = policies_parse_keeping(path, texts, &error);
    GVariantBuilder builder;
    GHashTableIter iter;
    gpointer name, text;

    if (policy == NULL) {
        g_autofree char *safe = escape_line(error->message);
        fprintf(stderr, "%s\n", safe);
        *status_out = EX_DATAERR;
        return NULL;
    }
    g_variant_builder_init(&builder, G_VARIANT_TYPE("a{ss}"));
    g_hash_table_iter_init(&iter, texts);
    while (g_hash_table_iter_next(&iter, &name, &text))
        g_variant_builder_add(&builder, "{ss}", name, text);
    g_autoptr(GVariant) files = g_variant_ref_sink(g_variant_builder_end(&builder));
    if (g_variant_get_size(files) <= FILES_MOST)
        return g_steal_pointer(&files);
    fprintf(stderr, "exeat: the policy and its lists have more than %d bytes\n", FILES_MOST);
    *status_out = EX_DATAERR;
    return NULL;
}

/* One question for each page, with the same policy. files: NULL for the policies in force. */
static int
ask(const Session *session, Replay *replay, const char *file, GVariant *files)
{
    g_autofree char *at = g_strdup(""), *after = g_strdup("");
    const char *account = session_option(session, "account");

    do {
        GVariantDict arguments;
        int status;

        g_variant_dict_init(&arguments, NULL);
        g_variant_dict_insert(&arguments, "since", "x", replay->since);
        g_variant_dict_insert(&arguments, "account", "s", account != NULL ? account : "");
        g_variant_dict_insert(&arguments, "at", "s", at);
        g_variant_dict_insert(&arguments, "after", "s", after);
        if (files != NULL) {
            g_variant_dict_insert(&arguments, "name", "s", file);
            g_variant_dict_insert_value(&arguments, "files", files);
        }
        g_autoptr(GVariant) answer =
            request_ask(session, "replay", g_variant_dict_end(&arguments), &status);
        if (answer == NULL)
            return status;
        if (!take_page(replay, answer))
            return EX_SOFTWARE;
        g_free(at);
        at = g_strdup(answer_text(answer, "at"));
        g_free(after);
        after = g_strdup(answer_text(answer, "after"));
    } while (*at != '\0');
    return EX_OK;
}

static void
print_tiers(const Replay *replay)
{
    g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func((GDestroyNotify)g_strfreev);

    command_add_row(rows, g_strdup("THEN \\ NOW"), g_strdup(tier_of_strictness(0)),
                    g_strdup(tier_of_strictness(1)), g_strdup(tier_of_strictness(2)),
                    g_strdup(tier_of_strictness(3)), g_strdup(tier_of_strictness(4)), NULL);
    for (guint i = 0; i < TIERS; i++) {
        const guint *row = replay->tiers[i];
        command_add_row(rows, g_strdup(tier_of_strictness(i)), g_strdup_printf("%u", row[0]),
                        g_strdup_printf("%u", row[1]), g_strdup_printf("%u", row[2]),
                        g_strdup_printf("%u", row[3]), g_strdup_printf("%u", row[4]), NULL);
    }
    g_autofree char *table = output_table(rows, TIERS + 1, output_columns());
    printf("%s\n", table);
}

static void
print_weeks(const Replay *replay)
{
    g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func((GDestroyNotify)g_strfreev);

    command_add_row(rows, g_strdup("WEEK FROM"), g_strdup("HELD THEN"), g_strdup("HELD NOW"),
                    NULL);
    for (guint i = 0; i < replay->weeks->len; i++) {
        const Week *held = &g_array_index(replay->weeks, Week, i);
        command_add_row(rows, reason_date(replay->since + (gint64)i * WEEK),
                        g_strdup_printf("%u", held->then), g_strdup_printf("%u", held->now),
                        NULL);
    }
    g_autofree char *table = output_table(rows, 3, output_columns());
    printf("%s\n", table);
}

static void
print_examples(const Replay *replay)
{
    g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func((GDestroyNotify)g_strfreev);

    if (replay->examples->len == 0)
        return;
    command_add_row(rows, g_strdup("ID"), g_strdup("DAY"), g_strdup("THEN"), g_strdup("NOW"),
                    g_strdup("WHY NOW"), NULL);
    for (guint i = 0; i < replay->examples->len; i++) {
        const Example *example = &g_array_index(replay->examples, Example, i);
        command_add_row(rows, escape_line(example->id), reason_date(example->created),
                        g_strdup(tier_name(example->from)), g_strdup(tier_name(example->to)),
                        escape_line(example->reason), NULL);
    }
    g_autofree char *table = output_table(rows, 4, output_columns());
    fputs(table, stdout);
}

static void
print_replay(const Replay *replay)
{
    g_autofree char *day = reason_date(replay->since);

    printf("%u items since %s, of which %u would be judged otherwise.\n", replay->items, day,
           replay->changed);
    if (replay->unjudged > 0)
        printf("%u more were refused before any rule was asked.\n", replay->unjudged);
    putchar('\n');
    print_tiers(replay);
    print_weeks(replay);
    print_examples(replay);
}

static GVariant *
view_tiers(const Replay *replay)
{
    GVariantBuilder builder;

    g_variant_builder_init(&builder, G_VARIANT_TYPE("a{sa{su}}"));
    for (guint i = 0; i < TIERS; i++) {
        g_variant_builder_open(&builder, G_VARIANT_TYPE("{sa{su}}"));
        g_variant_builder_add(&builder, "s", tier_of_strictness(i));
        g_variant_builder_open(&builder, G_VARIANT_TYPE("a{su}"));
        for (guint j = 0; j < TIERS; j++)
            g_variant_builder_add(&builder, "{su}", tier_of_strictness(j),
                                  replay->tiers[i][j]);
        g_variant_builder_close(&builder);
        g_variant_builder_close(&builder);
    }
    return g_variant_builder_end(&builder);
}

static GVariant *
view_weeks(const Replay *replay)
{
    GVariantBuilder builder;

    g_variant_builder_init(&builder, G_VARIANT_TYPE("aa{sv}"));
    for (guint i = 0; i < replay->weeks->len; i++) {
        const Week *held = &g_array_index(replay->weeks, Week, i);
        GVariantDict dict;

        g_variant_dict_init(&dict, NULL);
        g_variant_dict_insert(&dict, "since", "x", replay->since + (gint64)i * WEEK);
        g_variant_dict_insert(&dict, "held_then", "u", held->then);
        g_variant_dict_insert(&dict, "held_now", "u", held->now);
        g_variant_builder_add_value(&builder, g_variant_dict_end(&dict));
    }
    return g_variant_builder_end(&builder);
}

static GVariant *
view_examples(const Replay *replay)
{
    GVariantBuilder builder;

    g_variant_builder_init(&builder, G_VARIANT_TYPE("aa{sv}"));
    for (guint i = 0; i < replay->examples->len; i++) {
        const Example *example = &g_array_index(replay->examples, Example, i);
        GVariantDict dict;

        g_variant_dict_init(&dict, NULL);
        g_variant_dict_insert(&dict, "id", "s", example->id);
        g_variant_dict_insert(&dict, "created", "x", example->created);
        g_variant_dict_insert(&dict, "then", "s", tier_name(example->from));
        g_variant_dict_insert(&dict, "now", "s", tier_name(example->to));
        g_variant_dict_insert(&dict, "reason", "s", example->reason);
        g_variant_builder_add_value(&builder, g_variant_dict_end(&dict));
    }
    return g_variant_builder_end(&builder);
}

static int
print_json(const Replay *replay)
{
    GVariantDict dict;

    g_variant_dict_init(&dict, NULL);
    g_variant_dict_insert(&dict, "since", "x", replay->since);
    g_variant_dict_insert(&dict, "items", "u", replay->items);
    g_variant_dict_insert(&dict, "changed", "u", replay->changed);
    g_variant_dict_insert(&dict, "unjudged", "u", replay->unjudged);
    g_variant_dict_insert_value(&dict, "tiers", view_tiers(replay));
    g_variant_dict_insert_value(&dict, "weeks", view_weeks(replay));
    g_variant_dict_insert_value(&dict, "examples", view_examples(replay));
    g_autoptr(GVariant) answer = g_variant_ref_sink(g_variant_dict_end(&dict));
    return command_print_json(answer);
}

int
cmd_replay(const Session *session)
{
    const char *file = session_option(session, "policy");
    const char *since = session_option(session, "since");
    gint64 now = time(NULL);
    g_autoptr(GArray) weeks = g_array_new(FALSE, TRUE, sizeof(Week));
    g_autoptr(GArray) examples = g_array_new(FALSE, FALSE, sizeof(Example));
    Replay replay = {.since = now - DAYS_USUAL * DAY, .weeks = weeks, .examples = examples};
    int status = EX_OK;

    g_array_set_clear_func(examples, example_clear);
    if (since != NULL && !read_since(since, now, &replay.since))
        return command_misused(since, "a number of days like 30d, or a day like 2026-11-29");
    g_autoptr(GVariant) files = file != NULL ? pack_policy(file, &status) : NULL;
    if (status == EX_OK)
        status = ask(session, &replay, file, files);
    if (status != EX_OK)
        return status;
    if (session->json)
        return print_json(&replay);
    print_replay(&replay);
    return EX_OK;
}
