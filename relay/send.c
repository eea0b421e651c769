#include "relay/send.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/digest.h"
#include "lib/error.h"
#include "lib/log.h"
#include "relay/authority.h"
#include "relay/record.h"
#include "relay/schedule.h"
#include "relay/smtp.h"
#include "store/approval.h"
#include "store/history.h"

/* A ticket outlives the longest wait for a reply after the dot (RFC 5321, section 4.5.3.2.6).
 */
enum { THREADS = 4, TICKET_LIFE = 3600, RETRY_FIRST = 30, RETRY_MOST = 900 };

struct _Sender {
    Relay *relay;
    GThreadPool *pool;
    GMutex lock;
    GHashTable *under_way; /* ids */
};

/* One attempt to send one item. */
typedef struct {
    Relay *relay;
    Config *config;
    char *id;
    Item *item;   /* NULL: nothing to send after all */
    State from;   /* approved or delayed */
    char *ticket; /* NULL for a next hop without the gate */
    int fd;
    SmtpResult *result;
    char *said; /* for the log */
} Passage;

static void
passage_clear(Passage *passage)
{
    config_unref(passage->config);
    item_free(passage->item);
    g_free(passage->id);
    g_free(passage->ticket);
    g_free(passage->said);
    smtp_result_free(passage->result);
    if (passage->fd >= 0)
        close(passage->fd);
}

static gboolean
move(Db *db, const char *id, State from, State to, const char *why, gint64 now, GError **error)
{
    Move done;

    if (!queue_move(db, id, from, to, "relay", why, now, &done, error))
        return FALSE;
    if (done == MOVE_DONE)
        return TRUE;
    g_set_error(error, EXEAT_ERROR, ERROR_TEMP, "%s is not %s any more", id, state_name(from));
    return FALSE;
}

gboolean
send_learn(Db *db, const Item *item, gint64 now, GError **error)
{
    const char *const nobody[] = {NULL};
    const Observation observation = {
        .kind = OBSERVED_AGENT,
        .account = item->account,
        .message_id = item->message_id,
        .parents = (const char *const *)item->extract->parents,
        .recipients = nobody,
        .correspondents = nobody,
        .mentioned = nobody,
        .lists = nobody,
    };

    return history_observe(db, &observation, now, error);
}

gboolean
send_back(Db *db, const Item *item, Tier tier, const char *why, gint64 now, GError **error)
{
    State to = item->automatic && tier == TIER_DRAFT ? STATE_DRAFT : STATE_HELD;

    return approval_void(db, item->id, now, error) &&
           move(db, item->id, item->state, to, why, now, error);
}

static int
load_bytes(Db *db, const char *id, GError **error)
{
    int fd = memfd_create("item", MFD_CLOEXEC);

    if (fd < 0) {
        g_set_error(error, EXEAT_ERROR, ERROR_TEMP, "no memory for %s: %s", id,
                    g_strerror(errno));
        return -1;
    }
    if (queue_copy_bytes(db, id, fd, error))
        return fd;
    close(fd);
    return -1;
}

/* The bytes as stored, if they still are what the digest says (XF13). -1 with *why_out: they
 * are not; -1 with error: could not look. */
static int
verified_bytes(Db *db, const Item *item, char **why_out, GError **error)
{
    g_autoptr(GError) broken = NULL;
    int fd = load_bytes(db, item->id, &broken);

    if (fd >= 0) {
        g_autofree char *digest = digest_action(item->account, item->envelope, fd, error);

        if (digest != NULL && g_str_equal(digest, item->digest))
            return fd;
        close(fd);
        if (digest != NULL)
            *why_out = g_strdup("the stored message is not the one that was judged");
        return -1;
    }
    if (broken->code == ERROR_INTEGRITY)
        *why_out = g_strdup(broken->message);
    else
        g_propagate_error(error, g_steal_pointer(&broken));
    return -1;
}

static gboolean
is_ready(const Item *item, gint64 now)
{
    return item != NULL && item->retry <= now &&
           (item->state == STATE_APPROVED ||
            (item->state == STATE_DELAYED && item->due <= now));
}

/* Looks at the authority and the bytes, then turns the item to sending with a fresh ticket. */
static gboolean
begin(gpointer data, GError **error)
{
    Passage *passage = data;
    Db *db = passage->relay->db;
    gint64 now = relay_now();
    g_autoptr(Item) item = NULL;
    g_autofree char *why = NULL;
    gboolean valid;
    Tier tier;

    if (!record_clock_stands(passage->relay, now, error) ||
        !queue_load(db, passage->id, &item, error))
        return FALSE;
    if (!is_ready(item, now))
        return TRUE;
    if (!authority_check(db, passage->config, item, now, &valid, &tier, &why, error))
        return FALSE;
    if (valid && item->expires <= now)
        why = g_strdup("it could not be handed on in time");
    if (why == NULL) {
        passage->fd = verified_bytes(db, item, &why, error);
        if (passage->fd < 0 && why == NULL)
            return FALSE;
    }
    if (why != NULL) {
        passage->said = g_strdup_printf("is not sent: %s", why);
        return send_back(db, item, tier, why, now, error);
    }
    if (passage->config->gated && !ticket_mint(db, item->id, item->digest, now,
                                               now + TICKET_LIFE, &passage->ticket, error))
        return FALSE;
    if (!move(db, item->id, item->state, STATE_SENDING, "handing on", now, error))
        return FALSE;
    passage->from = item->state;
    passage->item = g_steal_pointer(&item);
    return TRUE;
}

gboolean
send_use_authority(Relay *relay, const Config *config, const char *id, const char *queue_id,
                   gint64 now, char **why_out, GError **error)
{
    Db *db = relay->db;
    g_autoptr(Item) item = NULL;
    g_autofree char *why = NULL;
    g_autofree char *used_up =
        *queue_id != '\0' ? g_strdup_printf("its authority is used, queue id %s", queue_id)
                          : g_strdup("its authority is used");
    gboolean valid, used = TRUE;
    Tier tier;

    if (!record_clock_stands(relay, now, error) || !queue_load(db, id, &item, error))
        return FALSE;
    if (item == NULL || item->state != STATE_SENDING) {
        *why_out = g_strdup("this message is not being sent");
        return TRUE;
    }
    if (!authority_check(db, config, item, now, &valid, &tier, &why, error))
        return FALSE;
    if (valid && !item->automatic &&
        !approval_consume(db, id, item->account, item->digest, now, &used, error))
        return FALSE;
    if (!valid || !used) {
        *why_out = why ? g_steal_pointer(&why) : g_strdup("the approval was used before");
        return TRUE;
    }
    return record_hand_over(relay, item, now, error) &&
           move(db, id, STATE_SENDING, STATE_COMMITTING, used_up, now, error) &&
           send_learn(db, item, now, error);
}

typedef struct {
    Passage *passage;
    char *why;
} Commit;

static gboolean
commit_job(gpointer data, GError **error)
{
    Commit *commit = data;
    Passage *passage = commit->passage;
    /* Not the configuration that sending began with: a mode may have changed meanwhile. */
    g_autoptr(Config) today = relay_config(passage->relay);

    return send_use_authority(passage->relay, today, passage->id, "", relay_now(),
                              &commit->why, error);
}

/* A next hop without the gate: the same check, right before the final dot. */
static gboolean
commit_before_dot(gpointer data)
{
    g_autoptr(GError) error = NULL;
    Commit commit = {.passage = data};

    gboolean done = writer_run(commit.passage->relay->writer, commit_job, &commit, &error);
    gboolean may = done && commit.why == NULL;
    if (!may)
        log_warning("%s: not sent: %s", commit.passage->id,
                    error        ? error->message
                    : commit.why ? commit.why
                                 : "no reason given");
    g_free(commit.why);
    return may;
}

/* What stands before the message: for the milter the ticket, for others what it would add. */
static char *
make_head(const Passage *passage)
{
    const Account *account = config_account(passage->config, passage->item->account);

    if (passage->ticket != NULL)
        return g_strdup_printf("X-Exeat-Ticket: %s\r\n", passage->ticket);
    gboolean mark = account != NULL && account->mark_automatic && passage->item->automatic;
    return g_strdup(mark ? "Auto-Submitted: auto-generated\r\n" : "");
}

static void
transmit(Passage *passage)
{
    const SmtpServer server = {.target = passage->config->next_hop, .helo = g_get_host_name()};
    g_autoptr(SmtpClient) client = smtp_new(&server);
    g_autofree char *head = make_head(passage);

    passage->result = smtp_send(client, passage->item->envelope, head, passage->fd,
                                passage->ticket ? NULL : commit_before_dot, passage);
}

static gint64
next_retry(const Item *item, gint64 now)
{
    gint64 wait = RETRY_FIRST;

    for (guint i = 0; i < item->attempts && wait < RETRY_MOST; i++)
        wait *= 2;
    return now + MIN(wait, RETRY_MOST);
}

/* Nothing left. Refused by the server for good, the item has failed. Refused at the dot with
 * its ticket unused, the gate did not find what was judged: a person has to look. Otherwise it
 * goes back to where it was, if its authority still stands. */
static gboolean
end_unsent(Passage *passage, Db *db, const Config *today, gint64 now, GError **error)
{
    const SmtpResult *result = passage->result;
    Item *item = passage->item;
    g_autofree char *why = NULL;
    gboolean valid;
    Tier tier;

    if (!authority_check(db, today, item, now, &valid, &tier, &why, error))
        return FALSE;
    gboolean refused = result->outcome == SMTP_REFUSED;
    if (refused && passage->ticket != NULL && result->stage == SMTP_STAGE_DOT && valid) {
        why = g_strdup_printf("the door refused it: %s", result->text);
        valid = FALSE;
    }
    if (valid && refused)
        return move(db, passage->id, STATE_SENDING, STATE_FAILED, result->text, now, error);
    if (!move(db, passage->id, STATE_SENDING, passage->from, result->text, now, error))
        return FALSE;
    item->state = passage->from;
    return valid || send_back(db, item, tier, why, now, error);
}

/* The authority is used: sent, or known to be refused, or nobody knows. A redeemed ticket
 * shows that the mail server had the whole message, but not that it kept it. */
static State
end_state(const SmtpResult *result)
{
    switch (result->outcome) {
    case SMTP_ACCEPTED:
        return STATE_SENT;
    case SMTP_REFUSED:
        return STATE_FAILED;
    case SMTP_NOT_SENT:
        return result->code != 0 ? STATE_FAILED : STATE_UNCERTAIN;
    case SMTP_UNCERTAIN:
        break;
    }
    return STATE_UNCERTAIN;
}

/* Accepted without a word from the milter: the door has no gate. The mail is out, and the
 * admin must hear of it. */
static gboolean
end_ungated(Passage *passage, Db *db, const Config *today, gint64 now, GError **error)
{
    g_autofree char *why = NULL;

    if (!send_use_authority(passage->relay, today, passage->id, "", now, &why, error))
        return FALSE;
    if (why != NULL &&
        (!record_hand_over(passage->relay, passage->item, now, error) ||
         !move(db, passage->id, STATE_SENDING, STATE_COMMITTING, why, now, error)))
        return FALSE;
    log_error("%s: %s took a message without asking the gate: smtpd_milters is missing there",
              passage->id, passage->config->next_hop);
    return move(db, passage->id, STATE_COMMITTING, STATE_SENT, passage->result->text, now,
                error);
}

static gboolean
finish(gpointer data, GError **error)
{
    Passage *passage = data;
    Db *db = passage->relay->db;
    const SmtpResult *result = passage->result;
    g_autoptr(Config) today = relay_config(passage->relay);
    gint64 now = relay_now();
    g_autoptr(Item) item = NULL;
    gboolean used;

    if (!ticket_end(db, passage->id, &used, error) ||
        !queue_load(db, passage->id, &item, error))
        return FALSE;
    gboolean unsent = item != NULL && item->state == STATE_SENDING;
    if (!queue_record_attempt(db, passage->id, result->text,
                              unsent ? next_retry(item, now) : 0, error))
        return FALSE;
    if (unsent)
        return result->outcome == SMTP_ACCEPTED ? end_ungated(passage, db, today, now, error)
                                                : end_unsent(passage, db, today, now, error);
    return move(db, passage->id, STATE_COMMITTING, end_state(result), result->text, now,
                error);
}

static void
report(const Passage *passage)
{
    static const char *const outcomes[] = {
        [SMTP_UNCERTAIN] = "no answer after the final dot",
        [SMTP_NOT_SENT] = "not sent",
        [SMTP_REFUSED] = "refused",
        [SMTP_ACCEPTED] = "accepted",
    };

    if (passage->result != NULL)
        log_info("%s: account %s, next hop %s: %s at %s: %s", passage->id,
                 passage->item->account, passage->config->next_hop,
                 outcomes[passage->result->outcome], smtp_stage_name(passage->result->stage),
                 passage->result->text);
    else if (passage->said != NULL)
        log_info("%s: %s", passage->id, passage->said);
}

/* The writer must take the result: without it the item would stay in the middle until the next
 * start. So it is offered again until it is taken. */
static void
record(Sender *sender, Passage *passage)
{
    for (;;) {
        g_autoptr(GError) error = NULL;

        if (writer_run(sender->relay->writer, finish, passage, &error))
            return;
        log_error("%s: the result of sending is not recorded yet: %s", passage->id,
                  error->message);
        if (error->code != ERROR_TEMP)
            return;
        g_usleep(G_USEC_PER_SEC);
    }
}

static void
send_item(gpointer data, gpointer user_data)
{
    Sender *sender = user_data;
    g_autoptr(GError) error = NULL;
    Passage passage = {
        .relay = sender->relay,
        .config = relay_config(sender->relay),
        .id = data,
        .fd = -1,
    };

    if (!writer_run(sender->relay->writer, begin, &passage, &error))
        log_error("%s: not sent now: %s", passage.id, error->message);
    else if (passage.item != NULL) {
        transmit(&passage);
        record(sender, &passage);
    }
    report(&passage);
    g_mutex_lock(&sender->lock);
    g_hash_table_remove(sender->under_way, passage.id);
    g_mutex_unlock(&sender->lock);
    gboolean moved = passage.item != NULL || passage.said != NULL;
    passage_clear(&passage);
    if (moved) /* else the same item would be tried in a circle */
        schedule_wake(sender->relay->schedule);
}

Sender *
sender_start(Relay *relay)
{
    Sender *sender = g_new0(Sender, 1);

    sender->relay = relay;
    g_mutex_init(&sender->lock);
    sender->under_way = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    sender->pool = g_thread_pool_new(send_item, sender, THREADS, FALSE, NULL);
    return sender;
}

void
sender_stop(Sender *sender)
{
    g_thread_pool_free(sender->pool, TRUE, TRUE);
    g_hash_table_destroy(sender->under_way);
    g_mutex_clear(&sender->lock);
    g_free(sender);
}

void
sender_push(Sender *sender, const char *id)
{
    g_mutex_lock(&sender->lock);
    gboolean fresh = g_hash_table_add(sender->under_way, g_strdup(id));
    g_mutex_unlock(&sender->lock);
    if (fresh)
        g_thread_pool_push(sender->pool, g_strdup(id), NULL);
}

/* Sending was under way, no authority was used: its ticket dies, and it may be tried again. */
static gboolean
recover_sending(Db *db, const char *id, gint64 now, GError **error)
{
    g_autoptr(Item) item = NULL;
    gboolean used;

    if (!queue_load(db, id, &item, error) || !ticket_end(db, id, &used, error))
        return FALSE;
    return move(db, id, STATE_SENDING, item->automatic ? STATE_DELAYED : STATE_APPROVED,
                "the relay was started again before it was handed on", now, error);
}

/* The authority was used, and whether the server kept the message nobody heard. */
static gboolean
recover_committing(Db *db, const char *id, gint64 now, GError **error)
{
    return move(db, id, STATE_COMMITTING, STATE_UNCERTAIN,
                "the relay was started again before it heard the answer", now, error);
}

gboolean
send_recover(gpointer data, GError **error)
{
    Relay *relay = data;
    gint64 now = relay_now();
    g_autoptr(GPtrArray) sending = queue_in_state(relay->db, STATE_SENDING, error);
    g_autoptr(GPtrArray) committing =
        sending ? queue_in_state(relay->db, STATE_COMMITTING, error) : NULL;

    if (committing == NULL)
        return FALSE;
    for (guint i = 0; i < sending->len; i++)
        if (!recover_sending(relay->db, g_ptr_array_index(sending, i), now, error))
            return FALSE;
    for (guint i = 0; i < committing->len; i++)
        if (!recover_committing(relay->db, g_ptr_array_index(committing, i), now, error))
            return FALSE;
    return TRUE;
}
