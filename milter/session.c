#include "milter/session.h"

#include <arpa/inet.h>
#include <string.h>
#include <sys/stat.h>

#include <libmilter/mfapi.h>

#include "lib/daemon.h"
#include "lib/error.h"
#include "lib/escape.h"
#include "lib/log.h"
#include "milter/confinement.h"
#include "milter/current.h"
#include "milter/decision.h"
#include "milter/message.h"
#include "milter/workers.h"
#include "milter/room.h"
#include "milter/socket.h"

enum { MEMORY_LIMIT = 256 * 1024, BACKLOG = 512 };

/* Of a reply, with code and status it fits a line (RFC 5321, 4.5.3.1.5). */
enum { REPLY_MOST = 490 };

/* libmilter gives its callbacks no argument of ours, so what they share stands here. */
static struct {
    Gate *gate;
    const char *spool;
    gboolean unix_socket;
} shared;

typedef struct {
    char client[INET6_ADDRSTRLEN];
    gboolean inside;
    gboolean quiet; /* steps without an answer were agreed on */
    Config *config; /* of the time the message began */
    Message *message;
} Session;

static const char *
macro(SMFICTX *ctx, const char *name)
{
    const char *value = smfi_getsymval(ctx, (char *)name);

    return value ? value : "";
}

static sfsistat
on_negotiate(SMFICTX *ctx, unsigned long actions, unsigned long steps, unsigned long unused1,
             unsigned long unused2, unsigned long *actions_out, unsigned long *steps_out,
             unsigned long *unused1_out, unsigned long *unused2_out)
{
    const unsigned long need = SMFIF_ADDHDRS | SMFIF_CHGHDRS | SMFIF_SETSYMLIST;
    /* Over TCP a step without a reply costs 40 ms with Postfix: delayed acknowledgements. */
    const unsigned long quiet = SMFIP_NR_CONN | SMFIP_NR_MAIL | SMFIP_NR_RCPT | SMFIP_NR_HDR |
                                SMFIP_NR_EOH | SMFIP_NR_BODY;

    (void)unused1;
    (void)unused2;
    if (!room_enter())
        return SMFIS_REJECT; /* for the mail server, a milter that is not there */

    Session *session = g_new0(Session, 1);
    smfi_setpriv(ctx, session);
    if ((actions & need) != need || !(steps & SMFIP_HDR_LEADSPC)) {
        log_error("the mail server's milter protocol is too old: protocol 6 is needed");
        return SMFIS_REJECT;
    }
    smfi_setsymlist(ctx, SMFIM_CONNECT, (char *)"j {daemon_name} {client_addr}");
    smfi_setsymlist(ctx, SMFIM_ENVFROM, (char *)"i {auth_type} {auth_authen} {mail_addr}");
    smfi_setsymlist(ctx, SMFIM_ENVRCPT, (char *)"{rcpt_addr} {rcpt_host} {rcpt_mailer}");
    smfi_setsymlist(ctx, SMFIM_EOM, (char *)"i");
    *actions_out = need;
    /* The end of the header has to be told: of a message without a single field libmilter
     * would drop what follows DATA otherwise, and never answer. */
    *steps_out = SMFIP_NOHELO | SMFIP_NOUNKNOWN | SMFIP_HDR_LEADSPC;
    session->quiet = shared.unix_socket && (steps & quiet) == quiet;
    if (session->quiet)
        *steps_out |= quiet;
    *unused1_out = *unused2_out = 0;
    return SMFIS_CONTINUE;
}

/* What a step answers that needs no answer: nothing where that was agreed on. */
static sfsistat
go_on(const Session *session)
{
    return session != NULL && session->quiet ? SMFIS_NOREPLY : SMFIS_CONTINUE;
}

static void
keep_client(Session *session, SMFICTX *ctx, const struct sockaddr *address)
{
    const char *told = macro(ctx, "{client_addr}");

    if (address != NULL && address->sa_family == AF_INET)
        inet_ntop(AF_INET, &((const struct sockaddr_in *)(const void *)address)->sin_addr,
                  session->client, sizeof session->client);
    else if (address != NULL && address->sa_family == AF_INET6)
        inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr,
                  session->client, sizeof session->client);
    else
        g_strlcpy(session->client, g_str_has_prefix(told, "IPv6:") ? told + 5 : told,
                  sizeof session->client);
}

static sfsistat
on_connect(SMFICTX *ctx, char *host, struct sockaddr *address)
{
    Session *session = smfi_getpriv(ctx);

    (void)host;
    if (session == NULL)
        return SMFIS_TEMPFAIL;
    keep_client(session, ctx, address);
    return go_on(session);
}

static void
end_message(Session *session)
{
    g_clear_pointer(&session->message, message_free);
    g_clear_pointer(&session->config, config_unref);
}

/* Who a login is. A login given by XCLIENT was proved to nobody (XA18): it counts as none. */
static char *
proved_login(SMFICTX *ctx)
{
    const char *login = macro(ctx, "{auth_authen}");

    if (*login == '\0' || g_ascii_strcasecmp(macro(ctx, "{auth_type}"), "XCLIENT") == 0)
        return NULL;
    return g_ascii_strdown(login, -1);
}

/* FALSE: the message is none of the gate's business. */
static gboolean
sort_message(const Session *session, const char *login, MessageKind *kind_out)
{
    Role role = ROLE_NONE;

    if (login == NULL) {
        *kind_out = session->inside ? MESSAGE_INSIDE : MESSAGE_INBOUND;
        return TRUE;
    }
    config_login(session->config, login, &role);
    *kind_out = role == ROLE_AGENT ? MESSAGE_OF_AGENT : MESSAGE_OF_HUMAN;
    return role != ROLE_NONE;
}

static sfsistat
on_mail(SMFICTX *ctx, char **words)
{
    Session *session = smfi_getpriv(ctx);
    MessageKind kind;

    if (session == NULL)
        return SMFIS_TEMPFAIL;
    end_message(session);
    session->config = current_config();
    session->inside = config_is_inside(session->config, session->client);

    g_autofree char *login = proved_login(ctx);
    if (!sort_message(session, login, &kind)) {
        end_message(session);
        return session->quiet ? SMFIS_NOREPLY : SMFIS_ACCEPT;
    }
    const MessageLimits limits = {
        .memory = MEMORY_LIMIT,
        .spool = shared.spool,
        .header = session->config->header_limit,
        /* The relay knows the limit of a kept message to the byte. */
        .size = session->config->size_limit + session->config->header_limit,
        .recipients = session->config->recipient_limit,
    };
    session->message = message_new(kind, &limits);
    session->message->login = g_steal_pointer(&login);
    envelope_set_sender(session->message->envelope, (const char *const *)words);
    return go_on(session);
}

/* The address that the mail server makes of a recipient, NULL when it does not say. Sendmail
 * leaves the domain out where it delivers itself: no other domain is meant then. */
static const char *
resolved_recipient(SMFICTX *ctx)
{
    const char *address = smfi_getsymval(ctx, (char *)"{rcpt_addr}");
    gboolean own = *macro(ctx, "{rcpt_host}") == '\0' ||
                   g_str_equal(macro(ctx, "{rcpt_mailer}"), "local");

    return address != NULL && strchr(address, '@') == NULL && own ? NULL : address;
}

static sfsistat
on_rcpt(SMFICTX *ctx, char **words)
{
    Session *session = smfi_getpriv(ctx);

    if (session != NULL && session->message != NULL)
        message_add_recipient(session->message, (const char *const *)words,
                              resolved_recipient(ctx));
    return go_on(session);
}

/* The one answer before the text. What is none of the gate's business, and inbound mail that
 * is for none of the accounts, ends here. */
static sfsistat
on_data(SMFICTX *ctx)
{
    Session *session = smfi_getpriv(ctx);

    if (session == NULL)
        return SMFIS_TEMPFAIL;
    if (session->message != NULL &&
        (session->message->kind != MESSAGE_INBOUND ||
         decision_is_for_account(session->config, session->message->envelope)))
        return SMFIS_CONTINUE;
    end_message(session);
    return SMFIS_ACCEPT;
}

static sfsistat
on_header(SMFICTX *ctx, char *name, char *value)
{
    Session *session = smfi_getpriv(ctx);

    if (session != NULL && session->message != NULL)
        message_add_field(session->message, name, value);
    return go_on(session);
}

static sfsistat
on_end_of_header(SMFICTX *ctx)
{
    Session *session = smfi_getpriv(ctx);

    if (session != NULL && session->message != NULL)
        message_end_header(session->message, macro(ctx, "j"),
                           g_get_real_time() / G_USEC_PER_SEC);
    return go_on(session);
}

static sfsistat
on_body(SMFICTX *ctx, unsigned char *bytes, size_t length)
{
    Session *session = smfi_getpriv(ctx);

    if (session != NULL && session->message != NULL)
        message_add_body(session->message, bytes, length);
    return go_on(session);
}

/* Of the human's own only what the relay wrote into a draft: nobody else needs to see it. */
static gboolean
is_to_go(const Message *message, const char *name)
{
    return message->kind != MESSAGE_OF_HUMAN || g_str_equal(name, MESSAGE_ITEM) ||
           g_str_equal(name, MESSAGE_DUE);
}

/* The same name is deleted from its last occurrence up: Postfix renumbers, Sendmail does not.
 */
static gboolean
change_header(SMFICTX *ctx, const Message *message)
{
    GHashTableIter iter;
    gpointer name, count;

    if (message->kind == MESSAGE_INBOUND)
        return TRUE; /* theirs passes as it is */
    g_hash_table_iter_init(&iter, message->taken_out);
    while (g_hash_table_iter_next(&iter, &name, &count))
        for (guint i = GPOINTER_TO_UINT(count); i >= 1 && is_to_go(message, name); i--)
            if (smfi_chgheader(ctx, name, (int)i, NULL) != MI_SUCCESS)
                return FALSE;
    if (message->added_id != NULL &&
        smfi_addheader(ctx, (char *)"Message-ID", message->added_id) != MI_SUCCESS)
        return FALSE;
    return message->added_date == NULL ||
           smfi_addheader(ctx, (char *)"Date", message->added_date) == MI_SUCCESS;
}

/* The one field of that name says that nobody looked (RFC 3834, 5). It is no part of the bytes
 * that were judged, as Received is none: the mail server adds it after the digest was checked,
 * and only to what goes without an approval. */
static gboolean
mark_automatic(SMFICTX *ctx, const Message *message)
{
    for (guint i = message->automatic; i >= 1; i--)
        if (smfi_chgheader(ctx, (char *)"Auto-Submitted", (int)i, NULL) != MI_SUCCESS)
            return FALSE;
    return smfi_addheader(ctx, (char *)"Auto-Submitted", (char *)" auto-generated") ==
           MI_SUCCESS;
}

/* The text may be a person's, or the next hop's. */
static gboolean
set_reply(SMFICTX *ctx, const char *code, const char *status, const char *text)
{
    g_autofree char *line = g_strdelimit(escape_ascii(text, REPLY_MOST), "%", ' ');

    return smfi_setreply(ctx, (char *)code, (char *)status, line) == MI_SUCCESS;
}

static gboolean
obey(SMFICTX *ctx, const Message *message, const Answer *answer, sfsistat *reply_out,
     GError **error)
{
    switch (answer->action) {
    case ANSWER_TRY_LATER:
        if (!set_reply(ctx, "451", "4.7.1", answer->text))
            break;
        *reply_out = SMFIS_TEMPFAIL;
        return TRUE;
    case ANSWER_PASS:
        if (!change_header(ctx, message) ||
            (answer->automatic && !mark_automatic(ctx, message)))
            break;
        *reply_out = SMFIS_CONTINUE;
        return TRUE;
    case ANSWER_KEEP:
        *reply_out = SMFIS_DISCARD;
        return TRUE;
    case ANSWER_REFUSE:
        if (!set_reply(ctx, "550", answer->status, answer->text))
            break;
        *reply_out = SMFIS_REJECT;
        return TRUE;
    }
    g_set_error(error, EXEAT_ERROR, ERROR_TEMP, "the mail server did not take the answer");
    return FALSE;
}

/* The one place where failure is answered. */
static sfsistat
give_up(SMFICTX *ctx, const Session *session, gboolean gated, const GError *error)
{
    const Message *message = session->message;

    log_error("%s: %s: login %s, client %s: %s", macro(ctx, "i"),
              gated ? "answered 451" : "passed without being learned from",
              message->login ? message->login : "none", session->client, error->message);
    if (!gated)
        return SMFIS_CONTINUE;
    smfi_setreply(ctx, (char *)"451", (char *)"4.7.1",
                  (char *)"the gate cannot decide now, try again");
    return SMFIS_TEMPFAIL;
}

static sfsistat
on_end(SMFICTX *ctx)
{
    Session *session = smfi_getpriv(ctx);
    g_autoptr(GError) error = NULL;
    sfsistat reply = SMFIS_TEMPFAIL;
    gboolean gated = TRUE;

    if (session == NULL || session->message == NULL)
        return SMFIS_TEMPFAIL;

    Message *message = session->message;
    const Circumstances circumstances = {
        .gate = shared.gate, .config = session->config, .queue_id = macro(ctx, "i")};
    workers_wait_begin();
    g_autoptr(Answer) answer = decision_make(&circumstances, message, &gated, &error);
    workers_wait_end();
    if (answer == NULL || !obey(ctx, message, answer, &reply, &error))
        reply = give_up(ctx, session, gated, error);
    else if (message->kind == MESSAGE_INSIDE && answer->action != ANSWER_PASS)
        log_warning("%s: no passage for mail without login from %s, sender %s: %s",
                    circumstances.queue_id, session->client, message->envelope->sender,
                    answer->text);
    end_message(session);
    return reply;
}

static sfsistat
on_abort(SMFICTX *ctx)
{
    Session *session = smfi_getpriv(ctx);

    if (session != NULL)
        end_message(session);
    return SMFIS_CONTINUE;
}

static sfsistat
on_close(SMFICTX *ctx)
{
    Session *session = smfi_getpriv(ctx);

    workers_seen();
    if (session != NULL) {
        end_message(session);
        smfi_setpriv(ctx, NULL);
        g_free(session);
        room_leave();
    }
    return SMFIS_CONTINUE;
}

static struct smfiDesc description = {
    .xxfi_name = (char *)"exeat-milter",
    .xxfi_version = SMFI_VERSION,
    .xxfi_flags = SMFIF_ADDHDRS | SMFIF_CHGHDRS | SMFIF_SETSYMLIST,
    .xxfi_connect = on_connect,
    .xxfi_envfrom = on_mail,
    .xxfi_envrcpt = on_rcpt,
    .xxfi_data = on_data,
    .xxfi_header = on_header,
    .xxfi_eoh = on_end_of_header,
    .xxfi_body = on_body,
    .xxfi_eom = on_end,
    .xxfi_abort = on_abort,
    .xxfi_close = on_close,
    .xxfi_negotiate = on_negotiate,
};

gboolean
session_serve(const char *path, Config *config, Gate *gate, GError **error)
{
    const char *unix_path = socket_path(config->milter_socket);

    shared.gate = gate;
    shared.spool = config->spool; /* the caller keeps this one to the end */
    shared.unix_socket = unix_path != NULL;
    if (unix_path != NULL && !socket_lock(unix_path, error))
        return FALSE;

    umask(007); /* the mail server's group may connect; the folder says which group that is */
    workers_start(unix_path);
    smfi_setbacklog(BACKLOG);
    if (smfi_setconn(config->milter_socket) != MI_SUCCESS ||
        smfi_register(description) != MI_SUCCESS ||
        smfi_opensocket(unix_path != NULL) != MI_SUCCESS) {
        g_set_error(error, EXEAT_ERROR, ERROR_CONFIG, "cannot listen on %s",
                    config->milter_socket);
        return FALSE;
    }
    confinement_begin(config, path);
    log_info("listening on %s", config->milter_socket);
    daemon_notify("READY=1");
    if (smfi_main() != MI_SUCCESS) {
        g_set_error(error, EXEAT_ERROR, ERROR_TEMP, "libmilter gave up on %s",
                    config->milter_socket);
        return FALSE;
    }
    return TRUE;
}
