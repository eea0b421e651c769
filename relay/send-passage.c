#include "relay/send-private.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/digest.h"
#include "lib/error.h"
#include "lib/log.h"
#include "relay/authority.h"
#include "relay/drafts.h"
#include "relay/record.h"
#include "store/approval.h"

/* A ticket outlives the longest wait for a reply after the dot (RFC 5321, section 4.5.3.2.6).
 */
enum { TICKET_LIFE = 3600 };

void
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

/* What leaves by a rule says so where the account wants it. At a gated door the milter does
 * it, after the digest was checked. */
static gboolean
is_marked(const Passage *passage, const Item *item)
{
    const Account *account = config_account(passage->config, item->account);

    return !passage->hop->gated && account != NULL && account->mark_automatic &&
           item->automatic;
}

/* What is to be sent; with why_out set when it is not what was judged. The mark of the relay
 * takes the place of the agent's. */
static gboolean
take_bytes(Passage *passage, const Item *item, char **why_out, GError **error)
{
    passage->fd = verified_bytes(passage->relay->db, item, why_out, error);
    if (passage->fd < 0)
        return *why_out != NULL;
    if (!is_marked(passage, item))
        return TRUE;
    int judged = passage->fd;
    passage->fd = send_unmarked(judged, error);
    close(judged);
    return passage->fd >= 0;
}

static gboolean
is_ready(const Item *item, gint64 now)
{
    return item != NULL && item->retry <= now &&
           (item->state == STATE_APPROVED ||
            (item->state == STATE_DELAYED && item->due <= now));
}

gboolean
passage_begin(gpointer data, GError **error)
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
    if (!is_ready(item, now) || !drafts_permit(passage->relay, passage->config, item))
        return TRUE;
    passage->hop = config_next_hop(passage->config, item->account);
    if (!authority_check(db, passage->config, item, now, &valid, &tier, &why, error))
        return FALSE;
    if (valid && item->expires <= now)
        why = g_strdup("it could not be handed on in time");
    if (why == NULL && !take_bytes(passage, item, &why, error))
        return FALSE;
    if (why != NULL) {
        passage->said = g_strdup_printf("is not sent: %s", why);
        return send_back(db, item, tier, why, now, error);
    }
    if (passage->hop->gated && !ticket_mint(db, item->id, item->digest, now, now + TICKET_LIFE,
                                            &passage->ticket, error))
        return FALSE;
    if (!send_move(db, item->id, item->state, STATE_SENDING, "handing on", now, error))
        return FALSE;
    passage->from = item->state;
    passage->item = g_steal_pointer(&item);
    return TRUE;
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
    if (passage->ticket != NULL)
        return g_strdup_printf("X-Exeat-Ticket: %s\r\n", passage->ticket);
    return g_strdup(is_marked(passage, passage->item) ? "Auto-Submitted: auto-generated\r\n"
                                                      : "");
}

typedef struct {
    const Passage *passage;
    const char *digest;
} Narrowing;

static gboolean
narrow_job(gpointer data, GError **error)
{
    const Narrowing *narrowing = data;
    const Passage *passage = narrowing->passage;
    gboolean done;

    if (!ticket_narrow(passage->relay->db, passage->ticket, narrowing->digest, &done, error))
        return FALSE;
    if (!done)
        g_set_error(error, EXEAT_ERROR, ERROR_TEMP, "its ticket is void");
    return done;
}

/* Some recipients are refused for good. The others may have it: nobody gets it who was not
 * approved. At a gated door the milter sees only those, so the ticket is made to fit exactly
 * these bytes to exactly them; the approval stays bound to the whole. */
static gboolean
send_to_some(const Envelope *accepted, gpointer data)
{
    const Passage *passage = data;
    g_autoptr(GError) error = NULL;

    if (passage->ticket == NULL)
        return TRUE;
    g_autofree char *digest =
        digest_action(passage->item->account, accepted, passage->fd, &error);
    Narrowing narrowing = {passage, digest};
    if (digest != NULL && writer_run(passage->relay->writer, narrow_job, &narrowing, &error))
        return TRUE;
    log_warning("%s: not sent to a part of its recipients: %s", passage->id, error->message);
    return FALSE;
}

void
passage_transmit(Passage *passage, Connections *connections)
{
    const SmtpHooks hooks = {
        .some = send_to_some,
        .before_dot = passage->ticket != NULL ? NULL : commit_before_dot,
        .data = passage,
    };
    Connection *connection = connections_take(connections, passage->config, passage->hop);
    g_autofree char *head = make_head(passage);

    passage->result = smtp_send(connection_client(connection), passage->item->envelope, head,
                                passage->fd, &hooks);
    connections_give(connections, connection);
}
