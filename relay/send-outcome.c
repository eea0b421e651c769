#include "relay/send-private.h"

#include "lib/error.h"
#include "lib/log.h"
#include "relay/authority.h"
#include "relay/record.h"
#include "store/approval.h"

enum { RETRY_FIRST = 30, RETRY_MOST = 900 };

gint64
send_next_try(const Item *item, gint64 now)
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
        return send_move(db, passage->id, STATE_SENDING, STATE_FAILED, result->text, now,
                         error);
    if (!send_move(db, passage->id, STATE_SENDING, passage->from, result->text, now, error))
        return FALSE;
    item->state = passage->from;
    return valid || send_back(db, item, tier, why, now, error);
}

/* The authority is used: sent, or known not to be, or nobody knows. A redeemed ticket shows
 * that the mail server had the whole message, but not that it kept it; without a gate nothing
 * left before the final dot. */
static State
end_state(const Passage *passage)
{
    const SmtpResult *result = passage->result;

    switch (result->outcome) {
    case SMTP_ACCEPTED:
        return STATE_SENT;
    case SMTP_REFUSED:
        return STATE_FAILED;
    case SMTP_NOT_SENT:
        return result->code != 0 || passage->ticket == NULL ? STATE_FAILED : STATE_UNCERTAIN;
    case SMTP_UNCERTAIN:
        break;
    }
    return STATE_UNCERTAIN;
}

/* The reply, and when it went to some only, one of those who did not get it. */
static char *
describe(const Passage *passage)
{
    const SmtpResult *result = passage->result;
    const GPtrArray *recipients = passage->item->envelope->recipients;
    const char *first = NULL, *text = NULL;
    guint refused = 0;

    for (guint i = 0; i < result->replies->len; i++) {
        const SmtpReply *reply = result->replies->pdata[i];
        if (reply->code / 100 != 5 || refused++ > 0)
            continue;
        first = ((const EnvelopeRecipient *)recipients->pdata[i])->address;
        text = reply->text;
    }
    if (result->outcome != SMTP_ACCEPTED || refused == 0)
        return g_strdup(result->text);
    g_autofree char *name = g_utf8_make_valid(first, -1);
    return g_strdup_printf("%s; refused for %u of %u, <%s>: %s", result->text, refused,
                           recipients->len, name, text);
}

static GVariant *
replies_to_variant(const SmtpResult *result)
{
    GVariantBuilder builder;

    g_variant_builder_init(&builder, G_VARIANT_TYPE("a(us)"));
    for (guint i = 0; i < result->replies->len; i++) {
        const SmtpReply *reply = result->replies->pdata[i];
        g_variant_builder_add(&builder, "(us)", reply->code, reply->text);
    }
    return g_variant_builder_end(&builder);
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
         !send_move(db, passage->id, STATE_SENDING, STATE_COMMITTING, why, now, error)))
        return FALSE;
    log_error("%s: %s took a message without asking the gate: smtpd_milters is missing there",
              passage->id, passage->hop->target);
    g_autofree char *said = describe(passage);
    return send_move(db, passage->id, STATE_COMMITTING, STATE_SENT, said, now, error);
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
                              unsent ? send_next_try(item, now) : 0, error) ||
        !queue_set_replies(db, passage->id, replies_to_variant(result), error))
        return FALSE;
    if (unsent)
        return result->outcome == SMTP_ACCEPTED ? end_ungated(passage, db, today, now, error)
                                                : end_unsent(passage, db, today, now, error);
    g_autofree char *why = describe(passage);
    return send_move(db, passage->id, STATE_COMMITTING, end_state(passage), why, now, error);
}

void
passage_report(const Passage *passage)
{
    static const char *const outcomes[] = {
        [SMTP_UNCERTAIN] = "no answer after the final dot",
        [SMTP_NOT_SENT] = "not sent",
        [SMTP_REFUSED] = "refused",
        [SMTP_ACCEPTED] = "accepted",
    };

    if (passage->result != NULL) {
        g_autofree char *said = describe(passage);
        log_info("%s: account %s, next hop %s: %s at %s: %s", passage->id,
                 passage->item->account, passage->hop->target,
                 outcomes[passage->result->outcome], smtp_stage_name(passage->result->stage),
                 said);
    } else if (passage->said != NULL)
        log_info("%s: %s", passage->id, passage->said);
}

void
passage_record(Passage *passage)
{
    for (;;) {
        g_autoptr(GError) error = NULL;

        if (writer_run(passage->relay->writer, finish, passage, &error))
            return;
        log_error("%s: the result of sending is not recorded yet: %s", passage->id,
                  error->message);
        if (error->code != ERROR_TEMP)
            return;
        g_usleep(G_USEC_PER_SEC);
    }
}
