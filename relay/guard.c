#include "relay/guard.h"

#include "lib/log.h"
#include "relay/history.h"
#include "relay/people.h"
#include "store/audit.h"
#include "store/warrant.h"

enum { INTERRUPT_US = 20000 };

/* A thread of its own: millions of rows take a minute, and nothing that is due waits for it.
 */
struct _Guard {
    Relay *relay;
    GThread *thread;
    GMutex lock;
    GCond changed;
    gboolean stop, ended;
    Db *reader;
    gint64 version; /* SQLite's, of what others wrote */
    gint64 next_us; /* monotonic: of the daily look */
    char *told;     /* the faults that were told last */
};

/* Set when faults that were told are none any more; not the Guard's, which may end before the
 * last request. */
static gint look_again;

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

/* A handle of its own: what it reads keeps nobody waiting. The configuration may name another
 * state folder by now, which is for the next start. */
static Db *
open_reader(Relay *relay, GError **error)
{
    Db *db = db_open_reader(db_path(relay->db), error);

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

static gboolean
is_stopped(Guard *guard)
{
    g_mutex_lock(&guard->lock);
    gboolean stopped = guard->stop;
    g_mutex_unlock(&guard->lock);
    return stopped;
}

/* What guard_stop may interrupt; NULL: nothing any more. */
static void
set_reader(Guard *guard, Db *reader)
{
    g_mutex_lock(&guard->lock);
    guard->reader = reader;
    g_mutex_unlock(&guard->lock);
}

/* The faults of all accounts, a line each: account, tab, fault. NULL on error. */
static char *
find_faults(Guard *guard, GError **error)
{
    g_autoptr(Config) config = relay_config(guard->relay);
    g_autoptr(GString) lines = g_string_new(NULL);
    Db *reader = open_reader(guard->relay, error);
    gboolean good = reader != NULL;

    set_reader(guard, reader);
    for (guint i = 0; good && i < config->accounts->len && !is_stopped(guard); i++) {
        const Account *account = g_ptr_array_index(config->accounts, i);

        good = check_account(reader, account->name, add_line, lines, error);
    }
    set_reader(guard, NULL);
    db_close(reader);
    return good ? g_string_free(g_steal_pointer(&lines), FALSE) : NULL;
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
look(Guard *guard, GError **error)
{
    g_autofree char *faults = find_faults(guard, error);

    if (faults == NULL)
        return FALSE;
    if (is_stopped(guard))
        return TRUE; /* not all of them */
    if (g_strcmp0(faults, guard->told) != 0 && !say(guard->relay, faults, error))
        return FALSE;
    g_free(guard->told);
    guard->told = g_steal_pointer(&faults);
    return TRUE;
}

static void
look_if_due(Guard *guard)
{
    g_autoptr(GError) error = NULL;
    Job job = {.relay = guard->relay};
    gint64 now_us = g_get_monotonic_time();
    gboolean known = writer_run(guard->relay->writer, ask_version, &job, &error);

    if (known && now_us < guard->next_us && job.version == guard->version)
        return;
    if (known && look(guard, &error)) {
        guard->version = job.version;
        guard->next_us = now_us + G_TIME_SPAN_DAY;
        return;
    }
    if (!is_stopped(guard))
        log_error("the history cannot be compared with its record: %s", error->message);
}

static gpointer
run(gpointer data)
{
    Guard *guard = data;

    g_mutex_lock(&guard->lock);
    while (!guard->stop) {
        if (g_atomic_int_compare_and_exchange(&look_again, TRUE, FALSE))
            guard->next_us = 0;
        g_mutex_unlock(&guard->lock);
        look_if_due(guard);
        g_mutex_lock(&guard->lock);
        gint64 until = g_get_monotonic_time() + G_TIME_SPAN_SECOND;
        while (!guard->stop && g_cond_wait_until(&guard->changed, &guard->lock, until))
            ;
    }
    guard->ended = TRUE;
    g_cond_signal(&guard->changed);
    g_mutex_unlock(&guard->lock);
    return NULL;
}

Guard *
guard_start(Relay *relay)
{
    Guard *guard = g_new0(Guard, 1);

    guard->relay = relay;
    g_mutex_init(&guard->lock);
    g_cond_init(&guard->changed);
    guard->thread = g_thread_new("guard", run, guard);
    return guard;
}

void
guard_stop(Guard *guard)
{
    g_mutex_lock(&guard->lock);
    guard->stop = TRUE;
    g_cond_signal(&guard->changed);
    while (!guard->ended) {
        gint64 until = g_get_monotonic_time() + INTERRUPT_US;

        /* What begins in this moment is not interrupted yet. */
        if (guard->reader != NULL)
            db_interrupt(guard->reader);
        g_cond_wait_until(&guard->changed, &guard->lock, until);
    }
    g_mutex_unlock(&guard->lock);
    g_thread_join(guard->thread);
    g_cond_clear(&guard->changed);
    g_mutex_clear(&guard->lock);
    g_free(guard->told);
    g_free(guard);
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

/* The audit entry of what was accepted, and the answer. */
static gboolean
conclude(Request *request, const char *account, const GPtrArray *faults, GError **error)
{
    g_auto(GStrv) texts = g_new0(char *, faults->len + 1);
    GVariantDict details, answer;

    for (guint i = 0; i < faults->len; i++)
        texts[i] = g_utf8_make_valid(faults->pdata[i], -1);
    g_variant_dict_init(&details, NULL);
    g_variant_dict_insert(&details, "faults", "^as", texts);
    const AuditEntry entry = {.kind = "history-accepted",
                              .account = account,
                              .who = request->who,
                              .details = g_variant_dict_end(&details)};
    if (!audit_append(request->relay->db, &entry, request->now, error))
        return FALSE;
    g_variant_dict_init(&answer, NULL);
    g_variant_dict_insert(&answer, "account", "s", account);
    g_variant_dict_insert(&answer, "faults", "^as", texts);
    request->reply = g_variant_ref_sink(g_variant_dict_end(&answer));
    return TRUE;
}

gboolean
guard_accept(Request *request, GError **error)
{
    const Account *account = history_account(request, error);
    g_autoptr(GPtrArray) faults = NULL;

    if (account == NULL || !warrant_accept(request->relay->db, account->name, request->who,
                                           request->now, &faults, error))
        return FALSE;
    if (faults->len == 0) {
        g_set_error(error, REQUEST_ERROR, REQUEST_NOT_FOUND,
                    "the history of %s is as the relay wrote it", account->name);
        return FALSE;
    }
    g_atomic_int_set(&look_again, TRUE);
    return conclude(request, account->name, faults, error);
}
