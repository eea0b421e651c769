#include "cli/doctor.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/address.h"
#include "lib/wire.h"

enum { ANSWER_MS = 5000, STATE_LISTENING = 0x0A };

/* Other doors to the outside, by the port they are usually at (XA9). */
static const struct {
    guint port;
    const char *advice;
} WAYS[] = {
    {80, "a web server: if it has webmail, the agent's login must not get in"},
    {443, "a web server: if it has webmail or JMAP, the agent's login must not get in"},
    {143, "IMAP: no folder of it may send what is put there, and no rule"},
    {993, "IMAP: no folder of it may send what is put there, and no rule"},
    {4190, "ManageSieve: the agent's login must not change rules, they can redirect (XA10)"},
};

static void
finding_free(gpointer data)
{
    Finding *finding = data;

    g_free(finding->place);
    g_free(finding->text);
    g_free(finding);
}

GPtrArray *
findings_new(void)
{
    return g_ptr_array_new_with_free_func(finding_free);
}

void
findings_add(GPtrArray *findings, FindingState state, const char *place, const char *format,
             ...)
{
    Finding *finding = g_new(Finding, 1);
    va_list arguments;

    finding->state = state;
    finding->place = g_strdup(place);
    va_start(arguments, format);
    finding->text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_ptr_array_add(findings, finding);
}

/* A line: "  0: 0100007F:0019 00000000:0000 0A ..." */
static gboolean
listens(const char *table, guint port)
{
    g_auto(GStrv) lines = g_strsplit(table, "\n", -1);

    for (guint i = 0; lines[i] != NULL; i++) {
        guint found, state;
        /* The widths keep the numbers small. NOLINTNEXTLINE(cert-err34-c) */
        if (sscanf(lines[i], " %*[0-9]: %*[0-9A-Fa-f]:%4x %*[0-9A-Fa-f]:%*4x %2x", &found,
                   &state) == 2 &&
            found == port && state == STATE_LISTENING)
            return TRUE;
    }
    return FALSE;
}

void
doctor_ports(const char *table, GPtrArray *findings)
{
    for (gsize i = 0; i < G_N_ELEMENTS(WAYS); i++) {
        g_autofree char *place = g_strdup_printf("port %u", WAYS[i].port);
        if (listens(table, WAYS[i].port))
            findings_add(findings, FINDING_UNKNOWN, place, "look at it: %s (XA9)",
                         WAYS[i].advice);
    }
}

/* 0, or what went wrong. */
static int
try_address(int family, const struct sockaddr *address, socklen_t size)
{
    int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int failed = 0;
    socklen_t length = sizeof failed;

    if (fd < 0)
        return errno;
    if (connect(fd, address, size) < 0) {
        struct pollfd wait = {.fd = fd, .events = POLLOUT};
        failed = errno;
        if (failed == EINPROGRESS)
            failed = poll(&wait, 1, ANSWER_MS) == 1 &&
                             getsockopt(fd, SOL_SOCKET, SO_ERROR, &failed, &length) == 0
                         ? failed
                         : ETIMEDOUT;
    }
    close(fd);
    return failed;
}

static int
try_path(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    g_strlcpy(address.sun_path, path, sizeof address.sun_path);
    return try_address(AF_UNIX, (const struct sockaddr *)&address, sizeof address);
}

/* port@host */
static int
try_port(const char *text)
{
    const char *host = strchr(text, '@');
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    int failed = EHOSTUNREACH;

    if (host == NULL)
        return EINVAL;
    g_autofree char *port = g_strndup(text, (gsize)(host - text));
    if (getaddrinfo(host + 1, port, &hints, &found) != 0)
        return EHOSTUNREACH;
    for (const struct addrinfo *at = found; at != NULL && failed != 0; at = at->ai_next)
        failed = try_address(at->ai_family, at->ai_addr, at->ai_addrlen);
    freeaddrinfo(found);
    return failed;
}

/* The relay answers nobody else what the milter asks. */
static gboolean
is_of_user(const char *socket, uid_t user, GPtrArray *findings)
{
    struct stat status;

    if (stat(socket, &status) != 0 || status.st_uid == user)
        return TRUE;
    findings_add(findings, FINDING_FAULT, "exeat-milter",
                 "it runs as user %u, milter-user is %u, and agents hear 451: "
                 "make them the same",
                 (guint)status.st_uid, (guint)user);
    return FALSE;
}

static void
look_at_milter(const Config *config, GPtrArray *findings)
{
    const char *socket = config->milter_socket;
    const char *address = socket + strcspn(socket, ":") + 1;
    const char *path = strncmp(socket, "unix:", strlen("unix:")) == 0 ? address : NULL;
    int failed = path != NULL ? try_path(path) : try_port(address);

    if (failed != 0)
        findings_add(findings, FINDING_FAULT, "exeat-milter",
                     "no answer at %s: %s; start it, until then nobody's mail is taken",
                     socket, g_strerror(failed));
    else if (path == NULL || is_of_user(path, config->milter_user, findings))
        findings_add(findings, FINDING_OK, "exeat-milter", "it answers at %s", socket);
}

/* Any reply will do, "you may not ask this" as well. */
static gboolean
relay_answers(const char *path, GError **error)
{
    g_autoptr(Wire) wire = wire_connect(path, ANSWER_MS, error);
    g_autofree char *reply = NULL;
    g_autoptr(GVariant) answer = NULL;

    if (wire == NULL || !wire_send(wire, "status", NULL, -1, ANSWER_MS, error) ||
        !wire_receive(wire, WIRE_LIMIT_MILTER, ANSWER_MS, &reply, &answer, NULL, error))
        return FALSE;
    if (reply == NULL)
        g_set_error_literal(error, G_FILE_ERROR, G_FILE_ERROR_IO, "it closed the connection");
    return reply != NULL;
}

void
doctor_daemons(const Config *config, GPtrArray *findings)
{
    g_autoptr(GError) error = NULL;

    look_at_milter(config, findings);
    if (relay_answers(config->relay_socket, &error))
        findings_add(findings, FINDING_OK, "exeat-relay", "it answers at %s",
                     config->relay_socket);
    else
        findings_add(findings, FINDING_FAULT, "exeat-relay",
                     "%s; start it, until then nobody's mail is taken", error->message);
}

static gboolean
writes_mail(const Config *config)
{
    for (guint i = 0; i < config->accounts->len; i++) {
        const Account *account = g_ptr_array_index(config->accounts, i);

        if (*account->notices_to != '\0' || *account->digest_to != '\0' ||
            account->notify[0] != NULL)
            return TRUE;
    }
    return FALSE;
}

void
doctor_sender(const Config *config, GPtrArray *findings)
{
    const char *domain = address_domain(config->notices_from);

    if (!writes_mail(config))
        return;
    if (strchr(domain, '.') != NULL)
        findings_add(findings, FINDING_OK, "notices-from", "%s", config->notices_from);
    else
        findings_add(findings, FINDING_UNKNOWN, "notices-from",
                     "%s: a server elsewhere may refuse a sender at a name without a dot, and "
                     "then nobody hears of what waits; set the key",
                     config->notices_from);
}
