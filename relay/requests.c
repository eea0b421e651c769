#include "relay/requests.h"

#include <errno.h>
#include <poll.h>
#include <pwd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/error.h"
#include "lib/log.h"
#include "lib/wire.h"
#include "relay/audits.h"
#include "relay/schedule.h"
#include "relay/submissions.h"
#include "relay/verbs.h"
#include "relay/visitors.h"

/* A milter keeps its connections; a person's command takes one for a moment. */
enum { PEOPLE_IDLE_MS = 10000, ANSWER_MS = 10000, BREATH_MS = 100 };
#define MILTER_IDLE_MS (10 * 60 * 1000)

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

/* Where many ask at once there is always one that is being answered: those that come while the
 * relay ends must not begin, or it would never do. */
static gboolean
answer(Request *request, const char *name, GError **error)
{
    Relay *relay = request->relay;

    if (g_atomic_int_get(&relay->ending)) {
        g_set_error(error, EXEAT_ERROR, ERROR_TEMP,
                    "the relay is about to stop: try again when it runs");
        return FALSE;
    }
    g_rw_lock_reader_lock(&relay->serving);
    gboolean answered = verbs_answer(request, name, error);
    if (!answered)
        audits_refusal(request, name, *error);
    else if (request->wake)
        schedule_wake(relay->schedule); /* which ends when nobody is served */
    g_rw_lock_reader_unlock(&relay->serving);
    return answered;
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
    gboolean answered = answer(&request, name, &error);
    if (!answered && error->domain != REQUEST_ERROR)
        log_error("%s: %s", name, error->message);
    if (answered && request.sent != NULL)
        submissions_log(&request);
    if (answered && request.said != NULL)
        log_warning("%s", request.said);
    gboolean sent = answered ? wire_send(connection->wire, "ok", request.reply,
                                         request.reply_fd, ANSWER_MS, &wire_error)
                             : wire_send(connection->wire, "error", request_error_view(error),
                                         -1, ANSWER_MS, &wire_error);
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

/* Finds out who it is, and counts it. */
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
