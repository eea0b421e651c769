#include "relay/stats.h"

#include "lib/log.h"
#include "policy/trace.h"
#include "relay/people.h"
#include "store/stats.h"

enum { DAY = 24 * 60 * 60 };

typedef struct {
    Db *db;
    const Account *account;
    gint64 now;
    guint weeks;
    guint held;
    Stats *stats;
} Count;

static gboolean
run_count(gpointer data, GError **error)
{
    Count *count = data;
    const char *name = count->account->name;

    if (!stats_count_held(count->db, name, count->now, &count->held, error))
        return FALSE;
    if (count->weeks == 0)
        return TRUE;
    count->stats = stats_collect(count->db, name, count->now, count->weeks,
                                 policy_version(count->account->policy), error);
    return count->stats != NULL;
}

static GVariant *
view_week(const StatsWeek *week, gint64 since)
{
    GVariantBuilder tiers;
    GVariantDict dict;

    g_variant_builder_init(&tiers, G_VARIANT_TYPE("a{su}"));
    for (guint i = 0; i < STATS_TIERS; i++)
        g_variant_builder_add(&tiers, "{su}", tier_name((Tier)i), week->tiers[i]);
    g_variant_dict_init(&dict, NULL);
    g_variant_dict_insert(&dict, "since", "x", since);
    g_variant_dict_insert_value(&dict, "tiers", g_variant_builder_end(&tiers));
    g_variant_dict_insert(&dict, "recipients", "u", week->recipients);
    g_variant_dict_insert(&dict, "novel", "u", week->novel);
    return g_variant_dict_end(&dict);
}

static GVariant *
view_weeks(const Stats *stats, gint64 now)
{
    GVariantBuilder builder;

    g_variant_builder_init(&builder, G_VARIANT_TYPE("aa{sv}"));
    for (guint i = 0; i < stats->weeks; i++)
        g_variant_builder_add_value(
            &builder,
            view_week(&stats->week[i], now - (gint64)(stats->weeks - i) * STATS_WEEK));
    return g_variant_builder_end(&builder);
}

static GVariant *
view_waits(const Stats *stats)
{
    GVariantBuilder builder;

    g_variant_builder_init(&builder, G_VARIANT_TYPE("a{sx}"));
    for (guint i = 0; i < STATS_TIERS; i++)
        if (stats->waits[i] >= 0)
            g_variant_builder_add(&builder, "{sx}", tier_name((Tier)i), stats->waits[i]);
    return g_variant_builder_end(&builder);
}

static GVariant *
view_approvers(const Stats *stats)
{
    GVariantBuilder builder;

    g_variant_builder_init(&builder, G_VARIANT_TYPE("aa{sv}"));
    for (guint i = 0; i < stats->approvers->len; i++) {
        const StatsApprover *approver = g_ptr_array_index(stats->approvers, i);
        GVariantDict dict;

        g_variant_dict_init(&dict, NULL);
        g_variant_dict_insert(&dict, "who", "s", approver->who);
        g_variant_dict_insert_value(&dict, "decisions",
                                    g_variant_new_fixed_array(G_VARIANT_TYPE_UINT32,
                                                              approver->decisions,
                                                              stats->weeks, sizeof(guint)));
        g_variant_builder_add_value(&builder, g_variant_dict_end(&dict));
    }
    return g_variant_builder_end(&builder);
}

/* One line can give two verdicts: a limit's says what became of it behind the line's text. */
static guint
count_fired(const Stats *stats, const TraceLine *line)
{
    guint items = 0;

    for (guint i = 0; i < stats->fired->len; i++) {
        const StatsFired *fired = g_ptr_array_index(stats->fired, i);

        if (fired->line == line->line && g_strcmp0(fired->file, line->file) == 0 &&
            g_str_has_prefix(fired->reason, line->reason))
            items += fired->items;
    }
    return items;
}

static GVariant *
view_silent(const Stats *stats, const Account *account)
{
    const Facts nothing = {0};
    g_autoptr(Trace) trace = policy_explain(account->policy, &nothing, account->mode, 0);
    GVariantBuilder builder;

    g_variant_builder_init(&builder, G_VARIANT_TYPE("aa{sv}"));
    for (guint i = 0; i < trace->lines->len; i++) {
        const TraceLine *line = g_ptr_array_index(trace->lines, i);
        GVariantDict dict;

        if (line->kind == TRACE_APPROVALS || count_fired(stats, line) > 0)
            continue;
        g_variant_dict_init(&dict, NULL);
        g_variant_dict_insert(&dict, "file", "s", line->file);
        g_variant_dict_insert(&dict, "line", "u", line->line);
        g_variant_dict_insert(&dict, "tier", "s", tier_name(line->tier));
        g_variant_dict_insert(&dict, "reason", "s", line->reason);
        g_variant_builder_add_value(&builder, g_variant_dict_end(&dict));
    }
    return g_variant_builder_end(&builder);
}

static guint
count_decided(const Stats *stats)
{
    guint items = 0;

    for (guint i = 0; i < stats->fired->len; i++)
        items += ((const StatsFired *)g_ptr_array_index(stats->fired, i))->items;
    return items;
}

static GVariant *
view_account_stats(const Count *count)
{
    const Stats *stats = count->stats;
    GVariantDict dict;

    g_variant_dict_init(&dict, NULL);
    g_variant_dict_insert(&dict, "name", "s", count->account->name);
    g_variant_dict_insert(&dict, "held", "u", count->held);
    g_variant_dict_insert_value(&dict, "weeks", view_weeks(stats, count->now));
    g_variant_dict_insert_value(&dict, "waits", view_waits(stats));
    g_variant_dict_insert_value(&dict, "approvers", view_approvers(stats));
    g_variant_dict_insert(&dict, "approvals", "u", stats->approvals);
    g_variant_dict_insert(&dict, "hurried", "u", stats->hurried);
    g_variant_dict_insert(&dict, "decided", "u", count_decided(stats));
    g_variant_dict_insert_value(&dict, "silent", view_silent(stats, count->account));
    return g_variant_dict_end(&dict);
}

/* Each account is a job of its own, so that a submission waits for one of them at most. */
static gboolean
add_accounts(Request *request, const char *wanted, guint weeks, GVariantBuilder *accounts,
             guint *found_out, GError **error)
{
    const Config *config = request->config;

    *found_out = 0;
    for (guint i = 0; i < config->accounts->len; i++) {
        const Account *account = g_ptr_array_index(config->accounts, i);
        Count counted = {request->relay->db, account, request->now, weeks, 0, NULL};

        if (!people_may_know(request, account->name) ||
            (*wanted != '\0' && !g_str_equal(wanted, account->name)))
            continue;
        if (!writer_run(request->relay->writer, run_count, &counted, error))
            return FALSE;
        g_variant_builder_add_value(accounts, view_account_stats(&counted));
        stats_free(counted.stats);
        (*found_out)++;
    }
    return TRUE;
}

gboolean
stats_ask(Request *request, GError **error)
{
    g_auto(GVariantBuilder) accounts = G_VARIANT_BUILDER_INIT(G_VARIANT_TYPE("aa{sv}"));
    const char *wanted = "";
    guint32 weeks = 0, found;
    GVariantDict dict;

    g_variant_lookup(request->arguments, "account", "&s", &wanted);
    g_variant_lookup(request->arguments, "weeks", "u", &weeks);
    if (weeks == 0 || weeks > STATS_WEEKS_MAX) {
        g_set_error(error, REQUEST_ERROR, REQUEST_USAGE, "expected 1 to %d weeks",
                    STATS_WEEKS_MAX);
        return FALSE;
    }
    if (!add_accounts(request, wanted, weeks, &accounts, &found, error))
        return FALSE;
    if (found == 0) {
        g_set_error(error, REQUEST_ERROR, REQUEST_NOT_FOUND, "there is no account %s", wanted);
        return FALSE;
    }
    g_variant_dict_init(&dict, NULL);
    g_variant_dict_insert(&dict, "hold_target", "u", request->config->hold_target);
    g_variant_dict_insert_value(&dict, "accounts", g_variant_builder_end(&accounts));
    request->reply = g_variant_ref_sink(g_variant_dict_end(&dict));
    return TRUE;
}

void
stats_watch(Relay *relay, gint64 *next)
{
    g_autoptr(Config) config = relay_config(relay);
    gint64 now = relay_now();

    /* A clock that went back must not put it off. */
    if (now < *next && now >= *next - DAY)
        return;
    *next = now + DAY;
    for (guint i = 0; i < config->accounts->len; i++) {
        Count counted = {relay->db, g_ptr_array_index(config->accounts, i), now, 0, 0, NULL};
        g_autoptr(GError) error = NULL;

        if (!writer_run(relay->writer, run_count, &counted, &error))
            log_error("what was held cannot be counted: %s", error->message);
        else if (counted.held > config->hold_target)
            log_warning("account %s: %u messages were held in a week, more than the "
                        "hold-target of %u: who is asked too often reads no more",
                        counted.account->name, counted.held, config->hold_target);
    }
}
