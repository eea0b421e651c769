#include "relay/requests.h"

#include <errno.h>
#include <poll.h>
#include <pwd.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/error.h"
#include "lib/log.h"
#include "lib/wire.h"
#include "relay/agents.h"
#include "relay/approve.h"
#include "relay/audits.h"
#include "relay/edit.h"
#include "relay/export.h"
#include "relay/explain.h"
#include "relay/guard.h"
#include "relay/handover.h"
#include "relay/history.h"
#include "relay/import.h"
#include "relay/observe.h"
#include "relay/password.h"
#include "relay/people.h"
#include "relay/record.h"
#include "relay/redeem.h"
#include "relay/reload.h"
#include "relay/replay.h"
#include "relay/schedule.h"
#include "relay/stats.h"
#include "relay/stop.h"
#include "relay/submissions.h"
#include "relay/visitors.h"

/* A milter keeps its connections; a person's command takes one for a moment. */
enum { PEOPLE_IDLE_MS = 10000, ANSWER_MS = 10000, BREATH_MS = 100 };
#define MILTER_IDLE_MS (10 * 60 * 1000)

GQuark
request_error_quark(void)
{
    return g_quark_from_static_string("exeat-request-error");
}

typedef enum {
    PEER_MILTER,
    PEER_APPROVER,
    PEER_APPROVER_OR_ADMIN,
    PEER_ADMIN,
    PEER_AGENT,
    PEER_AGENT_OR_APPROVER
} PeerNeeded;

static const char *const needed_names[] = {
    [PEER_MILTER] = "the milter",
    [PEER_APPROVER] = "approvers",
    [PEER_APPROVER_OR_ADMIN] = "approvers and admins",
    [PEER_ADMIN] = "root and the admins",
    [PEER_AGENT] = "agent-users",
    [PEER_AGENT_OR_APPROVER] = "approvers and agent-users",
};

typedef struct {
    const char *verb;
    PeerNeeded needed;
    gboolean (*read)(Request *request, GError **error); /* outside the writer; may be NULL */
    gboolean (*job)(Request *request, GError **error);  /* in the writer; may be NULL */
} Verb;

static const Verb verbs[] = {
    {"submit", PEER_MILTER, submissions_read_submit, submissions_submit},
    {"redeem", PEER_MILTER, redeem_read, redeem_ticket},
    {"observe", PEER_MILTER, observe_read, observe_message},
    {"list", PEER_APPROVER, NULL, people_list},
    {"show", PEER_APPROVER, NULL, people_show},
    {"approve", PEER_APPROVER, password_check, approve_item},
    {"now", PEER_APPROVER, password_check, approve_now},
    {"reject", PEER_APPROVER, NULL, people_reject},
    {"veto", PEER_APPROVER, NULL, people_veto},
    {"resolve", PEER_APPROVER, NULL, people_resolve},
    {"stats", PEER_APPROVER_OR_ADMIN, stats_ask, NULL},
    {"replay", PEER_APPROVER_OR_ADMIN, replay_ask, NULL},
    {"explain", PEER_APPROVER, NULL, explain_ask},
    {"lock", PEER_APPROVER, NULL, handover_lock},
    {"unlock", PEER_APPROVER, NULL, handover_unlock},
    {"withdraw", PEER_AGENT, NULL, agents_withdraw},
    {"outcome", PEER_AGENT_OR_APPROVER, NULL, agents_outcome},
    {"cancel", PEER_AGENT_OR_APPROVER, NULL, agents_cancel},
    {"letter", PEER_APPROVER, NULL, edit_letter},
    {"edit", PEER_APPROVER, password_check, edit_item},
    {"passwd", PEER_ADMIN, password_read_new, password_make},
    {"status", PEER_APPROVER_OR_ADMIN, NULL, people_status},
    {"history", PEER_APPROVER_OR_ADMIN, NULL, history_ask},
    {"vouch", PEER_ADMIN, NULL, history_ask_vouch},
    {"forget", PEER_ADMIN, NULL, history_ask_forget},
    {"export", PEER_APPROVER, NULL, export_item},
    {"audit", PEER_APPROVER_OR_ADMIN, NULL, audits_search},
    {"verify", PEER_APPROVER_OR_ADMIN, NULL, audits_verify},
    {"verify-history", PEER_APPROVER_OR_ADMIN, guard_verify, NULL},
    {"reload", PEER_ADMIN, reload_ask, NULL},
    {"stop", PEER_ADMIN, NULL, stop_begin},
    {"start", PEER_ADMIN, NULL, stop_end},
    {"suspend", PEER_ADMIN, NULL, stop_suspend},
    {"resume", PEER_ADMIN, NULL, stop_resume},
    {"revoke", PEER_ADMIN, NULL, stop_revoke},
    {"import-account", PEER_ADMIN, NULL, import_account},
    {"import-novel", PEER_ADMIN, NULL, import_novel},
    {"import", PEER_ADMIN, NULL, import_learn},
};

/* These take authority away, which no power cut may hide (record_make_firm). */
static const char *const firm_verbs[] = {"reject",   "veto",    "resolve", "lock",
                                         "withdraw", "cancel",  "edit",    "forget",
                                         "stop",     "suspend", "revoke",  NULL};

typedef struct {
    Relay *relay;
    Wire *wire;
    uid_t uid;
    gid_t gid;
    char *who; /* for records */
    gboolean milter;
    gboolean counted;
    gsize limit; /* bytes of a request */
} Connection;

const char *
request_text(const Request *request, const char *name, GError **error)
{
    const char *text;

    if (g_variant_lookup(request->arguments, name, "&s", &text))
        return text;
    g_set_error(error, REQUEST_ERROR, REQUEST_USAGE, "the request has no %s", name);
    return NULL;
}

const char *
request_line(const Request *request, const char *name, GError **error)
{
    const char *text = request_text(request, name, error);

    if (text == NULL)
        return NULL;
    gboolean good = *text != '\0' && strlen(text) <= REQUEST_LINE_MOST;
    for (const char *c = text; *c != '\0'; c++)
        good = good && !g_ascii_iscntrl(*c);
    if (good)
        return text;
    g_set_error(error, REQUEST_ERROR, REQUEST_USAGE,
                "the %s must be one line of at most %d bytes", name, REQUEST_LINE_MOST);
    return NULL;
}

static void
request_clear(Request *request)
{
    config_unref(request->config);
    g_variant_unref(request->arguments);
    if (request->fd >= 0)
        close(request->fd);
    if (request->reply_fd >= 0)
        close(request->reply_fd);
    g_free(request->who);
    g_free(request->said);
    g_strfreev(request->accounts);
    g_strfreev(request->served);
    item_free(request->item);
    item_free(request->sent);
    g_clear_pointer(&request->reply, g_variant_unref);
}

/* The accounts in one of whose lists of people the peer is. member: offset of the list.
 * proven: only those where a user is not taken for an approver without a password. */
static char **
find_accounts(const Request *request, gsize member, gboolean proven)
{
    g_autoptr(GStrvBuilder) names = g_strv_builder_new();
    GPtrArray *accounts = request->config->accounts;

    for (guint i = 0; i < accounts->len; i++) {
        const Account *account = g_ptr_array_index(accounts, i);

        if ((account->confirm || !proven) &&
            people_include(&G_STRUCT_MEMBER(People, account, member), request->uid,
                           request->gid))
            g_strv_builder_add(names, account->name);
    }
    return g_strv_builder_end(names);
}

static void
find_rights(Request *request)
{
    /* A group may have got a member since the file was read and checked. */
    gboolean agent = config_is_agent_user(request->config, request->uid, request->gid);

    request->served = find_accounts(request, offsetof(Account, agent_users), FALSE);
    request->accounts = find_accounts(request, offsetof(Account, approvers), agent);
    request->admin =
        request->uid == 0 ||
        (!agent && people_include(&request->config->admins, request->uid, request->gid));
}

static gboolean
may_ask(Request *request, const Verb *verb)
{
    if (verb->needed == PEER_MILTER)
        return request->uid == request->config->milter_user;
    find_rights(request);
    gboolean approver = request->accounts[0] != NULL, agent = request->served[0] != NULL;
    switch (verb->needed) {
    case PEER_MILTER:
        break;
    case PEER_APPROVER:
        return approver;
    case PEER_APPROVER_OR_ADMIN:
        return approver || request->admin;
    case PEER_ADMIN:
        return request->admin;
    case PEER_AGENT:
        return agent;
    case PEER_AGENT_OR_APPROVER:
        return agent || approver;
    }
    return FALSE;
}

static gboolean
run_job(gpointer data, GError **error)
{
    gpointer *pair = data;
    const Verb *verb = pair[0];
    Request *request = pair[1];

    if (g_strv_contains(firm_verbs, verb->verb))
        record_make_firm(request->relay);
    return verb->job(request, error);
}

static gboolean
answer(Request *request, const char *name, GError **error)
{
    for (guint i = 0; i < G_N_ELEMENTS(verbs); i++) {
        const Verb *verb = &verbs[i];
        gpointer pair[] = {(gpointer)verb, request};

        if (!g_str_equal(verb->verb, name))
            continue;
        if (!may_ask(request, verb)) {
            log_warning("uid %u may not ask for %s", (guint)request->uid, name);
            g_set_error(error, REQUEST_ERROR, REQUEST_DENIED,
                        "user %u may not do this: only %s named in exeat.conf may",
                        (guint)request->uid, needed_names[verb->needed]);
            return FALSE;
        }
        return (verb->read == NULL || verb->read(request, error)) &&
               (verb->job == NULL || writer_run(request->relay->writer, run_job, pair, error));
    }
    g_set_error(error, REQUEST_ERROR, REQUEST_USAGE, "there is no request of this name");
    return FALSE;
}

static const char *
error_code(const GError *error)
{
    static const char *const codes[] = {"usage", "not-found", "denied", "conflict",
                                        "password"};

    if (error->domain == REQUEST_ERROR)
        return codes[error->code];
    return error->domain == POLICY_ERROR || g_error_matches(error, EXEAT_ERROR, ERROR_CONFIG)
               ? "config"
               : "temporary";
}

static GVariant *
error_reply(const GError *error)
{
    GVariantDict dict;

    g_variant_dict_init(&dict, NULL);
    g_variant_dict_insert(&dict, "code", "s", error_code(error));
    g_variant_dict_insert(&dict, "message", "s", error->message);
    return g_variant_dict_end(&dict);
}

/* "user alice (1001)", for records; the number alone when the user has no name. */
static char *
name_user(uid_t uid)
{
    char buffer[4096];
    struct passwd entry, *found = NULL;

    if (getpwuid_r(uid, &entry, buffer, sizeof buffer, &found) != 0 || found == NULL)
        return g_strdup_printf("user %u", (guint)uid);
    return g_strdup_printf("user %s (%u)", entry.pw_name, (guint)uid);
}

/* One request and its answer. FALSE when the connection is to end. */
static gboolean
serve_request(Connection *connection, const char *name, GVariant *arguments, int fd)
{
    g_autoptr(GError) error = NULL, wire_error = NULL;
    Request request = {
        .relay = connection->relay,
        .config = relay_config(connection->relay),
        .uid = connection->uid,
        .gid = connection->gid,
        .arguments = arguments,
        .fd = fd,
        .reply_fd = -1,
        .now = relay_now(),
        .who = g_strdup(connection->who),
    };
    g_rw_lock_reader_lock(&connection->relay->serving);
    gboolean answered = answer(&request, name, &error);
    if (!answered)
        audits_refusal(&request, name, error);
    g_rw_lock_reader_unlock(&connection->relay->serving);
    if (!answered && error->domain != REQUEST_ERROR)
        log_error("%s: %s", name, error->message);
    if (answered && request.sent != NULL)
        submissions_log(&request);
    if (answered && request.said != NULL)
        log_warning("%s", request.said);
    if (answered && request.wake)
        schedule_wake(connection->relay->schedule);
    gboolean sent = answered ? wire_send(connection->wire, "ok", request.reply,
                                         request.reply_fd, ANSWER_MS, &wire_error)
                             : wire_send(connection->wire, "error", error_reply(error), -1,
                                         ANSWER_MS, &wire_error);
    if (!sent)
        log_warning("uid %u: the answer to %s was not delivered: %s", (guint)connection->uid,
                    name, wire_error->message);
    gboolean protocol = g_error_matches(error, EXEAT_ERROR, ERROR_PROTOCOL);
    request_clear(&request);
    return sent && !protocol;
}

static void
connection_end(Connection *connection)
{
    wire_free(connection->wire);
    g_free(connection->who);
    if (connection->counted)
        visitors_leave(connection->uid);
    g_free(connection);
}

static gpointer
serve_connection(gpointer data)
{
    Connection *connection = data;
    gboolean milter = connection->milter;

    for (;;) {
        g_autoptr(GError) error = NULL;
        g_autofree char *name = NULL;
        GVariant *arguments = NULL;
        int fd = -1;

        if (!wire_receive(connection->wire, connection->limit,
                          milter ? MILTER_IDLE_MS : PEOPLE_IDLE_MS, &name, &arguments,
                          milter ? &fd : NULL, &error)) {
            if (error->code == ERROR_PROTOCOL)
                log_warning("uid %u: %s", (guint)connection->uid, error->message);
            break;
        }
        if (name == NULL || !serve_request(connection, name, arguments, fd))
            break;
    }
    connection_end(connection);
    return NULL;
}

/* Finds out who it is, and counts it. */
/* How long a request of the peer may be. An import comes in batches. */
static gsize
find_limit(const Connection *connection, const Config *config)
{
    if (connection->milter || connection->uid == 0 ||
        people_include(&config->admins, connection->uid, connection->gid))
        return WIRE_LIMIT_MILTER;
    for (guint i = 0; i < config->accounts->len; i++) {
        const Account *account = g_ptr_array_index(config->accounts, i);

        if (people_include(&account->approvers, connection->uid, connection->gid))
            return WIRE_LIMIT_LETTER;
    }
    return WIRE_LIMIT_PEOPLE;
}

static gboolean
connection_begin(Connection *connection, GError **error)
{
    g_autoptr(Config) config = relay_config(connection->relay);
    gboolean known = wire_peer(connection->wire, &connection->uid, &connection->gid, error);

    connection->milter = known && connection->uid == config->milter_user;
    connection->limit = known ? find_limit(connection, config) : WIRE_LIMIT_PEOPLE;
    connection->counted = known && visitors_enter(connection->uid, connection->milter);
    connection->who = name_user(connection->uid);
    if (known && !connection->counted)
        g_set_error(error, EXEAT_ERROR, ERROR_TEMP, "it has too many");
    return connection->counted;
}

static void
accept_connection(Relay *relay, int listen_fd)
{
    g_autoptr(GError) error = NULL;
    int fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC);

    if (fd < 0) {
        if (visitors_may_complain())
            log_error("no connection can be accepted: %s", g_strerror(errno));
        g_usleep(BREATH_MS * 1000); /* nothing but time helps when descriptors run out */
        return;
    }
    Connection *connection = g_new0(Connection, 1);
    connection->relay = relay;
    connection->wire = wire_new(fd);
    g_autoptr(GThread) thread =
        connection_begin(connection, &error)
            ? g_thread_try_new("connection", serve_connection, connection, &error)
            : NULL;
    if (thread != NULL)
        return;
    if (visitors_may_complain())
        log_warning("connections are turned away, the latest of uid %u: %s",
                    (guint)connection->uid, error->message);
    connection_end(connection);
}

void
requests_serve(Relay *relay, int listen_fd, int stop_fd)
{
    struct pollfd fds[] = {{.fd = listen_fd, .events = POLLIN},
                           {.fd = stop_fd, .events = POLLIN}};

    for (;;) {
        if (poll(fds, G_N_ELEMENTS(fds), -1) < 0 && errno != EINTR)
            return;
        if (fds[1].revents != 0)
            return;
        if (fds[0].revents != 0)
            accept_connection(relay, listen_fd);
    }
}
