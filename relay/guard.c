#include "relay/guard.h"

#include "lib/log.h"
#include "relay/people.h"
#include "store/audit.h"
#include "store/warrant.h"

typedef struct {
    Relay *relay;
    gint64 version;
    const char *account;
    const char *fault;
} Job;

static gboolean
ask_version(gpointer data, GError **error)
{
    Job *job = data;

    return db_foreign_version(job->relay->db, &job->version, error);
}

static gboolean
record(Db *db, const char *account, const char *fault, gint64 now, GError **error)
{
    g_autofree char *valid = g_utf8_make_valid(fault, -1);
    GVariantDict details;

    g_variant_dict_init(&details, NULL);
    g_variant_dict_insert(&details, "fault", "s", valid);
    const AuditEntry entry = {.kind = "history-changed",
                              .account = account,
                              .who = "relay",
                              .details = g_variant_dict_end(&details)};
    return audit_append(db, &entry, now, error);
}

static gboolean
record_fault(gpointer data, GError **error)
{
    const Job *job = data;

    return record(job->relay->db, job->account, job->fault, relay_now(), error);
}

gboolean
guard_report(Db *db, const char *account, const char *address, gint64 now, GError **error)
{
    g_autofree char *fault =
        g_strdup_printf("correspondent %s was not written by the relay", address);

    log_error("history of %s: %s; it counts as unknown", account, fault);
    return record(db, account, fault, now, error);
}

/* A handle of its own: what it reads keeps nobody waiting. */
static Db *
open_reader(Relay *relay, GError **error)
{
    g_autoptr(Config) config = relay_config(relay);
    g_autofree char *path = g_build_filename(config->state, "exeat.db", NULL);
    Db *db = db_open_reader(path, error);

    if (db != NULL)
        db_set_seal(db, seal_copy(db_seal(relay->db)));
    return db;
}

/* Calls for each fault of each account. */
typedef void (*TellFault)(const char *account, const char *fault, gpointer data);

static gboolean
check_account(Db *reader, const char *account, TellFault tell, gpointer data, GError **error)
{
    g_autoptr(GPtrArray) faults = NULL;

    if (!warrant_check(reader, account, &faults, error))
        return FALSE;
    for (guint i = 0; i < faults->len; i++)
        tell(account, g_ptr_array_index(faults, i), data);
    return TRUE;
}

static void
add_line(const char *account, const char *fault, gpointer data)
{
    g_string_append_printf(data, "%s\t%s\n", account, fault);
}

/* The faults of all accounts, a line each: account, tab, fault. NULL on error. */
static char *
find_faults(Relay *relay, Guard *guard, GError **error)
{
    g_autoptr(Config) config = relay_config(relay);
    g_autoptr(GString) lines = g_string_new(NULL);

    if (guard->reader == NULL)
        guard->reader = open_reader(relay, error);
    if (guard->reader == NULL)
        return NULL;
    for (guint i = 0; i < config->accounts->len; i++) {
        const Account *account = g_ptr_array_index(config->accounts, i);

        if (!check_account(guard->reader, account->name, add_line, lines, error))
            return NULL;
    }
    return g_string_free(g_steal_pointer(&lines), FALSE);
}

static gboolean
say(Relay *relay, const char *text, GError **error)
{
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

    for (guint i = 0; lines[i] != NULL && *lines[i] != '\0'; i++) {
        g_auto(GStrv) words = g_strsplit(lines[i], "\t", 2);
        Job job = {.relay = relay, .account = words[0], .fault = words[1]};

        log_error("history of %s: %s", words[0], words[1]);
        if (!writer_run(relay->writer, record_fault, &job, error))
            return FALSE;
    }
    return TRUE;
}

static gboolean
look(Relay *relay, Guard *guard, GError **error)
{
    g_autofree char *faults = find_faults(relay, guard, error);

    if (faults == NULL)
        return FALSE;
    if (g_strcmp0(faults, guard->told) != 0 && !say(relay, faults, error))
        return FALSE;
    g_free(guard->told);
    guard->told = g_steal_pointer(&faults);
    return TRUE;
}

void
guard_step(Relay *relay, Guard *guard)
{
    g_autoptr(GError) error = NULL;
    Job job = {.relay = relay};
    gint64 now_us = g_get_monotonic_time();
    gboolean known = writer_run(relay->writer, ask_version, &job, &error);

    if (known && now_us < guard->next_us && job.version == guard->version)
        return;
    if (known && look(relay, guard, &error)) {
        guard->version = job.version;
        guard->next_us = now_us + G_TIME_SPAN_DAY;
        return;
    }
    log_error("the history cannot be compared with its record: %s", error->message);
}

void
guard_end(Guard *guard)
{
    db_close(guard->reader);
    g_free(guard->told);
}

static void
add_fault(const char *account, const char *fault, gpointer data)
{
    g_autofree char *valid = g_utf8_make_valid(fault, -1);
    GVariantDict dict;

    g_variant_dict_init(&dict, NULL);
    g_variant_dict_insert(&dict, "account", "s", account);
    g_variant_dict_insert(&dict, "fault", "s", valid);
    g_variant_builder_add_value(data, g_variant_dict_end(&dict));
}

gboolean
guard_verify(Request *request, GError **error)
{
    g_autoptr(Db) reader = open_reader(request->relay, error);
    g_auto(GVariantBuilder) faults = G_VARIANT_BUILDER_INIT(G_VARIANT_TYPE("aa{sv}"));
    const GPtrArray *accounts = request->config->accounts;
    GVariantDict dict;

    if (reader == NULL)
        return FALSE;
    for (guint i = 0; i < accounts->len; i++) {
        const Account *account = g_ptr_array_index(accounts, i);

        if (people_may_know(request, account->name) &&
            !check_account(reader, account->name, add_fault, &faults, error))
            return FALSE;
    }
    g_variant_dict_init(&dict, NULL);
    g_variant_dict_insert_value(&dict, "faults", g_variant_builder_end(&faults));
    request->reply = g_variant_ref_sink(g_variant_dict_end(&dict));
    return TRUE;
}
