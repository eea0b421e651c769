#include "relay/notice.h"

#include "lib/address.h"
#include "lib/compose.h"
#include "lib/error.h"
#include "lib/log.h"
#include "relay/courier.h"
#include "relay/program.h"
#include "relay/reminder.h"
#include "relay/report.h"
#include "relay/untold.h"

enum { AT_ONCE = 64, GIVE_UP = 5 * 24 * 60 * 60, REMOVE_PAUSE = 5 * 60 };

struct _Notifier {
    Relay *relay;
    GThread *thread;
    GMutex lock;
    GCond woken;
    gboolean stop;
    Config *seen; /* the configuration of the last turn */
    Untold *untold;
    gint64 remove_from; /* monotonic: when it may be tried again after it failed */
};

/* One account's turn. */
typedef struct {
    Notifier *notifier;
    Config *config;
    const Account *account;
    gint64 now;
    GPtrArray *reports; /* of Report * */
    gboolean more;
    ReminderLook look;
    Reminder *reminder;
    Audience unasked; /* who is not to be told */
} Turn;

typedef struct {
    gint64 number;
    GString *message;
} Report;

static void
report_free(gpointer data)
{
    Report *report = data;

    g_string_free(report->message, TRUE);
    g_free(report);
}

static void
note_failure(const Turn *turn, const char *key, const char *text)
{
    log_error("account %s: %s: cannot be told: %s", turn->account->name, key, text);
    untold_note(turn->notifier->untold, turn->account->name, key, text, turn->now);
}

static gboolean
run_job(Turn *turn, WriterJob job, const char *key)
{
    g_autoptr(GError) error = NULL;

    if (writer_run(turn->notifier->relay->writer, job, turn, &error))
        return TRUE;
    note_failure(turn, key, error->message);
    return FALSE;
}

static const char *
sender_domain(const Config *config)
{
    return address_domain(config->notices_from);
}

/* NULL: nobody wants to hear it. What cannot be read is told of by nobody. */
static gboolean
make_report(Turn *turn, const Notice *notice, GString **message_out, GError **error)
{
    g_autofree char *message_id =
        g_strdup_printf("<exeat.%s.%" G_GINT64_FORMAT "@%s>", notice->item, notice->number,
                        sender_domain(turn->config));
    const ReportHead head = {
        .from = turn->config->notices_from,
        .to = turn->account->notices_to,
        .host = g_get_host_name(),
        .message_id = message_id,
        .now = turn->now,
    };
    g_autoptr(GError) trouble = NULL;
    g_autoptr(Item) item = NULL;

    *message_out = NULL;
    if (!queue_load(turn->notifier->relay->db, notice->item, &item, &trouble) &&
        trouble->code != ERROR_INTEGRITY) {
        g_propagate_error(error, g_steal_pointer(&trouble));
        return FALSE;
    }
    /* What an approver wrote is none of the agent's messages. */
    if (item != NULL && *item->author == '\0')
        *message_out = report_compose(item, notice->state, &head);
    return TRUE;
}

static gboolean
take_reports(gpointer data, GError **error)
{
    Turn *turn = data;
    Db *db = turn->notifier->relay->db;
    const char *account = turn->account->name;

    g_autoptr(GPtrArray) notices = notice_list(db, account, NOTICE_AGENT, AT_ONCE, error);
    if (notices == NULL)
        return FALSE;
    turn->more = notices->len == AT_ONCE;
    for (guint i = 0; i < notices->len; i++) {
        const Notice *notice = notices->pdata[i];
        GString *message;

        if (!make_report(turn, notice, &message, error))
            return FALSE;
        if (message == NULL) {
            if (!notice_drop(db, account, NOTICE_AGENT, notice->number, error))
                return FALSE;
            continue;
        }
        Report *report = g_new0(Report, 1);
        report->number = notice->number;
        report->message = message;
        g_ptr_array_add(turn->reports, report);
    }
    return TRUE;
}

/* The first report was sent, or will never pass. */
static gboolean
drop_first(gpointer data, GError **error)
{
    Turn *turn = data;
    const Report *report = turn->reports->pdata[0];

    return notice_drop(turn->notifier->relay->db, turn->account->name, NOTICE_AGENT,
                       report->number, error);
}

static gboolean
give_up(gpointer data, GError **error)
{
    Turn *turn = data;
    guint dropped = 0;

    if (!notice_drop_old(turn->notifier->relay->db, turn->account->name, NOTICE_AGENT,
                         turn->now - GIVE_UP, &dropped, error))
        return FALSE;
    if (dropped > 0)
        log_error("account %s: %u notices to the agent are given up after five days",
                  turn->account->name, dropped);
    return TRUE;
}

/* FALSE: the others have to wait, too. */
static gboolean
send_first(Turn *turn)
{
    const Report *report = turn->reports->pdata[0];
    const char *const to[] = {turn->account->notices_to, NULL};
    g_autoptr(SmtpResult) result = courier_send(turn->config, to, report->message);
    gboolean ended = result->outcome == SMTP_ACCEPTED || result->outcome == SMTP_REFUSED;

    if (result->outcome == SMTP_ACCEPTED)
        untold_end(turn->notifier->untold, turn->account->name, "notices-to");
    else
        note_failure(turn, "notices-to", result->text);
    return run_job(turn, ended ? drop_first : give_up, "notices-to") && ended;
}

static gboolean
is_stopping(Notifier *notifier)
{
    g_mutex_lock(&notifier->lock);
    gboolean stop = notifier->stop;
    g_mutex_unlock(&notifier->lock);
    return stop;
}

static void
tell_agent(Turn *turn)
{
    do {
        turn->more = FALSE;
        if (!untold_may_try(turn->notifier->untold, turn->account->name, "notices-to",
                            turn->now) ||
            !run_job(turn, take_reports, "notices-to"))
            break;
        while (turn->reports->len > 0 && !is_stopping(turn->notifier) && send_first(turn))
            g_ptr_array_remove_index(turn->reports, 0);
    } while (turn->more && turn->reports->len == 0);
    g_ptr_array_set_size(turn->reports, 0);
}

static gboolean
look(gpointer data, GError **error)
{
    Turn *turn = data;

    return turn->look(turn->notifier->relay->db, turn->config, turn->account, turn->now,
                      &turn->reminder, error);
}

static gboolean
settle(gpointer data, GError **error)
{
    const Turn *turn = data;
    const Reminder *reminder = turn->reminder;
    const char *account = turn->account->name;
    Db *db = turn->notifier->relay->db;

    return told_set(db, account, reminder->kind, reminder->at, error) &&
           (reminder->taken == 0 ||
            notice_drop_up_to(db, account, NOTICE_APPROVER, reminder->taken, error));
}

/* FALSE: not accepted. One that is refused for good is no less wrong. */
static gboolean
mail_reminder(const Turn *turn, const char *const *to, GError **error)
{
    const Reminder *reminder = turn->reminder;
    const char *const none[] = {NULL};
    g_autofree char *message_id =
        g_strdup_printf("<exeat.%s.%s.%" G_GINT64_FORMAT "@%s>", reminder->kind,
                        turn->account->name, reminder->mark, sender_domain(turn->config));
    const Letter letter = {
        .from = turn->config->notices_from,
        .to = to,
        .subject = reminder->subject,
        .message_id = message_id,
        .parents = none,
        .automatic = "auto-generated",
        .text = reminder->text,
    };
    g_autoptr(GString) message = compose_message(&letter, turn->now);
    g_autoptr(SmtpResult) result = courier_send(turn->config, to, message);

    if (result->outcome == SMTP_ACCEPTED)
        return TRUE;
    g_set_error(error, EXEAT_ERROR, ERROR_TEMP, "%s", result->text);
    return FALSE;
}

static gboolean
pass_on(const Turn *turn, GError **error)
{
    const Account *account = turn->account;
    const char *const owner[] = {account->digest_to, NULL};
    g_autofree char *input =
        g_strdup_printf("%s\n\n%s", turn->reminder->subject, turn->reminder->text);

    if (turn->look == reminder_of_leaving)
        return mail_reminder(turn, owner, error);
    return account->notify_command[0] != NULL
               ? program_run(account->notify_command, input, error)
               : mail_reminder(turn, (const char *const *)account->notify, error);
}

static void
remind(Turn *turn, ReminderLook reminder_look, const char *key)
{
    g_autoptr(GError) error = NULL;

    turn->look = reminder_look;
    if (!untold_may_try(turn->notifier->untold, turn->account->name, key, turn->now) ||
        is_stopping(turn->notifier) || !run_job(turn, look, key) || turn->reminder == NULL)
        return;
    if (!pass_on(turn, &error))
        note_failure(turn, key, error->message);
    else if (run_job(turn, settle, key))
        untold_end(turn->notifier->untold, turn->account->name, key);
    g_clear_pointer(&turn->reminder, reminder_free);
}

/* With another configuration everything is tried at once: it may be mended, or unwanted. */
static void
note_config(Notifier *notifier, Config *config)
{
    if (notifier->seen == config)
        return;
    g_clear_pointer(&notifier->seen, config_unref);
    notifier->seen = config_ref(config);
    untold_forget(notifier->untold);
}

static gboolean
drop_unasked(gpointer data, GError **error)
{
    const Turn *turn = data;

    return notice_drop_up_to(turn->notifier->relay->db, turn->account->name, turn->unasked,
                             G_MAXINT64, error);
}

/* Nobody waits for these, so nobody is untold when they stay. */
static void
remove_unasked(Turn *turn, Audience unasked)
{
    Notifier *notifier = turn->notifier;
    g_autoptr(GError) error = NULL;

    turn->unasked = unasked;
    if (g_get_monotonic_time() < notifier->remove_from ||
        writer_run(notifier->relay->writer, drop_unasked, turn, &error))
        return;
    log_warning("account %s: notices that nobody asked for cannot be removed: %s",
                turn->account->name, error->message);
    notifier->remove_from = g_get_monotonic_time() + REMOVE_PAUSE * G_TIME_SPAN_SECOND;
}

/* Whom there is something for: with many accounts, most have nothing most of the time. */
typedef struct {
    Relay *relay;
    GHashTable *agents, *approvers; /* names of accounts */
} Waiting;

static void
tell_or_remove(Turn *turn, const Waiting *waiting)
{
    const Account *account = turn->account;
    gboolean told = account->notify[0] != NULL || account->notify_command[0] != NULL;

    if (g_hash_table_contains(waiting->agents, account->name)) {
        if (*account->notices_to != '\0')
            tell_agent(turn);
        else
            remove_unasked(turn, NOTICE_AGENT);
    }
    if (g_hash_table_contains(waiting->approvers, account->name)) {
        if (told)
            remind(turn, reminder_of_waiting, "notify");
        else
            remove_unasked(turn, NOTICE_APPROVER);
    }
}

static gboolean
look_who(gpointer data, GError **error)
{
    Waiting *waiting = data;

    waiting->agents = notice_accounts(waiting->relay->db, NOTICE_AGENT, error);
    if (waiting->agents == NULL)
        return FALSE;
    waiting->approvers = notice_accounts(waiting->relay->db, NOTICE_APPROVER, error);
    return waiting->approvers != NULL;
}

static void
take_turn(Turn *turn, const Waiting *waiting)
{
    const Account *account = turn->account;

    tell_or_remove(turn, waiting);
    if (account->heartbeat)
        remind(turn, reminder_of_life, "notify-heartbeat");
    if (*account->digest_to != '\0')
        remind(turn, reminder_of_leaving, "digest-to");
}

static void
take_turns(Notifier *notifier)
{
    g_autoptr(Config) config = relay_config(notifier->relay);
    g_autoptr(GPtrArray) reports = g_ptr_array_new_with_free_func(report_free);
    g_autoptr(GError) error = NULL;
    Waiting waiting = {.relay = notifier->relay};

    note_config(notifier, config);
    if (!writer_run(notifier->relay->writer, look_who, &waiting, &error))
        log_error("whom to tell cannot be looked up: %s", error->message);
    g_autoptr(GHashTable) agents = waiting.agents, approvers = waiting.approvers;
    if (agents == NULL || approvers == NULL)
        return;
    for (guint i = 0; i < config->accounts->len && !is_stopping(notifier); i++) {
        Turn turn = {
            .notifier = notifier,
            .config = config,
            .account = config->accounts->pdata[i],
            .now = relay_now(),
            .reports = reports,
        };

        take_turn(&turn, &waiting);
    }
}

static gpointer
run(gpointer data)
{
    Notifier *notifier = data;

    while (!is_stopping(notifier)) {
        take_turns(notifier);
        g_mutex_lock(&notifier->lock);
        gint64 until = g_get_monotonic_time() + G_TIME_SPAN_SECOND;
        while (!notifier->stop)
            if (!g_cond_wait_until(&notifier->woken, &notifier->lock, until))
                break;
        g_mutex_unlock(&notifier->lock);
    }
    return NULL;
}

Notifier *
notifier_start(Relay *relay)
{
    Notifier *notifier = g_new0(Notifier, 1);

    notifier->relay = relay;
    g_mutex_init(&notifier->lock);
    g_cond_init(&notifier->woken);
    notifier->untold = untold_new();
    notifier->thread = g_thread_new("notices", run, notifier);
    return notifier;
}

void
notifier_stop(Notifier *notifier)
{
    g_mutex_lock(&notifier->lock);
    notifier->stop = TRUE;
    g_cond_signal(&notifier->woken);
    g_mutex_unlock(&notifier->lock);
    g_thread_join(notifier->thread);
}

void
notifier_free(Notifier *notifier)
{
    g_clear_pointer(&notifier->seen, config_unref);
    untold_free(notifier->untold);
    g_cond_clear(&notifier->woken);
    g_mutex_clear(&notifier->lock);
    g_free(notifier);
}

GVariant *
notifier_view(const Request *request)
{
    return untold_view(request->relay->notifier->untold, request);
}
