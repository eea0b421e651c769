#include "cli/doctor.h"

#include <errno.h>
#include <grp.h>
#include <netdb.h>
#include <poll.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/escape.h"
#include "lib/policies.h"

#define USUAL_PORTS "25,465,587"

enum { REACH_MS = 3000 };

/* A server that no agent may reach. */
typedef struct {
    struct sockaddr_storage address;
    socklen_t size;
    char *name;
    gboolean reached; /* by root */
} Target;

typedef struct {
    const Config *config;
    const char *postfix;
    GPtrArray *targets; /* of Target * */
    gboolean compared;  /* root has tried the targets */
    GPtrArray *rules;   /* names of the files that decide what leaves */
    const char *place;
    GPtrArray *findings;
    guint faults;
} Look;

static void
target_free(gpointer data)
{
    Target *target = data;

    g_free(target->name);
    g_free(target);
}

/* Adds every address of a host. FALSE: there is no such host or port. */
static gboolean
add_targets(GPtrArray *targets, const char *host, const char *port)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    char number[NI_MAXHOST];

    if (getaddrinfo(host, port, &hints, &found) != 0)
        return FALSE;
    for (const struct addrinfo *at = found; at != NULL; at = at->ai_next) {
        if (getnameinfo(at->ai_addr, at->ai_addrlen, number, sizeof number, NULL, 0,
                        NI_NUMERICHOST) != 0)
            continue;
        Target *target = g_new0(Target, 1);
        memcpy(&target->address, at->ai_addr, at->ai_addrlen);
        target->size = at->ai_addrlen;
        target->name = g_strdup_printf("%s port %s", number, port);
        g_ptr_array_add(targets, target);
    }
    freeaddrinfo(found);
    return TRUE;
}

/* "host", "host:port,port", "[2001:db8::1]:port". */
static gboolean
read_outside(const char *outside, GPtrArray *targets)
{
    const char *colon = strrchr(outside, ':');
    const char *bracket = strrchr(outside, ']');
    g_autofree char *host = NULL;

    if (colon != NULL && bracket != NULL && colon < bracket)
        colon = NULL;
    host = colon != NULL ? g_strndup(outside, (gsize)(colon - outside)) : g_strdup(outside);
    g_strdelimit(host, "[]", ' ');
    g_strstrip(host);
    g_auto(GStrv) ports = g_strsplit(colon != NULL ? colon + 1 : USUAL_PORTS, ",", -1);
    for (guint i = 0; ports[i] != NULL; i++)
        if (*host == '\0' || *ports[i] == '\0' || !add_targets(targets, host, ports[i]))
            return FALSE;
    return targets->len > 0;
}

/* Connects to all at once; reached: one for each target. */
static void
reach(const GPtrArray *targets, gboolean *reached)
{
    g_autofree struct pollfd *waits = g_new0(struct pollfd, targets->len);
    gint64 end = g_get_monotonic_time() + REACH_MS * 1000;
    guint open = 0;

    for (guint i = 0; i < targets->len; i++) {
        const Target *target = targets->pdata[i];
        int fd =
            socket(target->address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        gboolean begun = fd >= 0 && (connect(fd, (const struct sockaddr *)&target->address,
                                             target->size) == 0 ||
                                     errno == EINPROGRESS);
        if (fd >= 0 && !begun)
            close(fd);
        waits[i] = (struct pollfd){.fd = begun ? fd : -1, .events = POLLOUT};
        open += begun;
    }
    while (open > 0) {
        gint64 left = (end - g_get_monotonic_time()) / 1000;
        if (left <= 0 || poll(waits, targets->len, (int)left) <= 0)
            break;
        for (guint i = 0; i < targets->len; i++) {
            int failed = 1;
            socklen_t size = sizeof failed;
            if (waits[i].fd < 0 || waits[i].revents == 0)
                continue;
            reached[i] = getsockopt(waits[i].fd, SOL_SOCKET, SO_ERROR, &failed, &size) == 0 &&
                         failed == 0;
            close(waits[i].fd);
            waits[i].fd = -1;
            open--;
        }
    }
    for (guint i = 0; i < targets->len; i++)
        if (waits[i].fd >= 0)
            close(waits[i].fd);
}

static void
try_outside(Look *look)
{
    g_autofree gboolean *reached = g_new0(gboolean, look->targets->len + 1);

    if (look->targets->len == 0)
        findings_add(look->findings, FINDING_UNKNOWN, look->place,
                     "whether it reaches a mail server outside was not tried: name one that "
                     "answers with --outside (XA1)");
    reach(look->targets, reached);
    for (guint i = 0; i < look->targets->len; i++) {
        const Target *target = look->targets->pdata[i];
        if (reached[i])
            findings_add(look->findings, FINDING_FAULT, look->place,
                         "it reaches %s and can send past the gate: close it in the firewall "
                         "(XA1)",
                         target->name);
        else if (target->reached)
            findings_add(look->findings, FINDING_OK, look->place,
                         "it does not reach %s, root does", target->name);
        else
            findings_add(look->findings, FINDING_UNKNOWN, look->place,
                         "it does not reach %s, but %s: closed for all, or nobody is there",
                         target->name, look->compared ? "nor does root" : "nobody compared");
    }
}

/* One thing that the user must not be able to do with a path. */
static void
forbid(Look *look, const char *path, int mode, const char *danger)
{
    const char *what = mode == R_OK ? "read" : mode == W_OK ? "write" : "enter";

    if (path == NULL || *path == '\0')
        return;
    if (access(path, mode) == 0) {
        look->faults++;
        findings_add(look->findings, FINDING_FAULT, look->place, "it may %s %s: %s", what,
                     path, danger);
    } else if (errno != EACCES && errno != ENOENT && errno != ENOTDIR) {
        look->faults++;
        findings_add(look->findings, FINDING_UNKNOWN, look->place, "whether it may %s %s: %s",
                     what, path, g_strerror(errno));
    }
}

/* Neither the file nor, by another of the same name, what it says. */
static void
forbid_change(Look *look, const char *path, const char *danger)
{
    if (path == NULL || *path == '\0')
        return;
    g_autofree char *folder = g_path_get_dirname(path);
    forbid(look, path, W_OK, danger);
    forbid(look, folder, W_OK, danger);
}

static void
forbid_secret(Look *look, const char *path)
{
    forbid(look, path, R_OK, "make it readable by its owner only (XE13)");
    forbid_change(look, path, "make it writable by its owner only (XE13)");
}

static void
forbid_secrets(Look *look, const Secret *secret)
{
    forbid_secret(look, secret->password_file);
    forbid_secret(look, secret->token_file);
}

static void
try_hop(Look *look, const NextHop *hop)
{
    if (hop->gated && g_str_has_prefix(hop->target, "unix:"))
        forbid_change(look, hop->target + strlen("unix:"),
                      "this door is the relay's alone: see who is in its group (XA6)");
    forbid_secrets(look, &hop->secret);
    forbid_secret(look, hop->key_file);
}

/* What the relay starts is the relay. */
static void
forbid_program(Look *look, char **command)
{
    forbid_change(look, command[0],
                  "the relay runs it: make it writable by its owner only (XE13)");
}

static void
try_programs(Look *look)
{
    const Config *config = look->config;

    forbid_program(look, config->anchor);
    forbid_program(look, config->reconcile);
    forbid_program(look, config->hop.secret.token_command);
    for (guint i = 0; i < config->accounts->len; i++) {
        const Account *account = config->accounts->pdata[i];
        forbid_program(look, account->notify_command);
        forbid_program(look, account->hop.secret.token_command);
        forbid_program(look, account->drafts.secret.token_command);
    }
}

static void
try_files(Look *look)
{
    static const char *const RULES = "who may write it, decides what leaves (XF16)";
    const Config *config = look->config;
    g_autofree char *runs = g_path_get_dirname(config->relay_socket);
    g_autofree char *main_cf = g_build_filename(look->postfix, "main.cf", NULL);
    g_autofree char *master_cf = g_build_filename(look->postfix, "master.cf", NULL);

    forbid(look, config->state, X_OK, "chmod 700, it is the relay's alone (XE13)");
    forbid(look, config->state, R_OK, "chmod 700, it is the relay's alone (XE13)");
    forbid(look, config->state, W_OK, "chmod 700, it is the relay's alone (XE13)");
    forbid(look, runs, W_OK, "it could put a socket of its own there (XF11)");
    if (g_str_has_prefix(config->milter_socket, "unix:"))
        forbid_change(look, config->milter_socket + strlen("unix:"),
                      "only the mail server may talk to the gate (XF11)");
    for (guint i = 0; i < look->rules->len; i++)
        forbid_change(look, look->rules->pdata[i], RULES);
    forbid_secret(look, config->password_file);
    forbid_change(look, main_cf, RULES);
    forbid(look, master_cf, W_OK, RULES);
    try_hop(look, &config->hop);
    for (guint i = 0; i < config->accounts->len; i++) {
        const Account *account = config->accounts->pdata[i];
        try_hop(look, &account->hop);
        forbid_secrets(look, &account->drafts.secret);
    }
    try_programs(look);
    if (look->faults == 0)
        findings_add(look->findings, FINDING_OK, look->place,
                     "it is kept from the relay's folder, keys, rules and doors");
}

/* Becomes the user, with the groups it has. */
static gboolean
become(uid_t uid)
{
    const struct passwd *user = getpwuid(uid);
    gid_t gid = user != NULL ? user->pw_gid : uid;
    int failed = user != NULL ? initgroups(user->pw_name, gid) : setgroups(0, NULL);

    return failed == 0 && setresgid(gid, gid, gid) == 0 && setresuid(uid, uid, uid) == 0;
}

/* In the child: a line for each finding, and one at the end. */
static void
tell(const GPtrArray *findings, int fd)
{
    g_autoptr(GString) lines = g_string_new("");

    for (guint i = 0; i < findings->len; i++) {
        const Finding *finding = findings->pdata[i];
        g_autofree char *safe = escape_line(finding->text);
        g_string_append_printf(lines, "%d%s\n", finding->state, safe);
    }
    g_string_append(lines, ".\n");
    for (gsize done = 0; done < lines->len;) {
        ssize_t size = write(fd, lines->str + done, lines->len - done);
        if (size <= 0)
            return;
        done += (gsize)size;
    }
}

static char *
read_all(int fd)
{
    g_autoptr(GString) text = g_string_new("");
    char buffer[4096];
    ssize_t size;

    while ((size = read(fd, buffer, sizeof buffer)) > 0)
        g_string_append_len(text, buffer, size);
    return g_string_free(g_steal_pointer(&text), FALSE);
}

static void
hear(const char *text, const Look *look)
{
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    gboolean whole = FALSE;

    for (guint i = 0; lines[i] != NULL; i++) {
        whole = whole || g_str_equal(lines[i], ".");
        if (g_ascii_isdigit(lines[i][0]))
            findings_add(look->findings, (FindingState)(lines[i][0] - '0'), look->place, "%s",
                         lines[i] + 1);
    }
    if (!whole)
        findings_add(look->findings, FINDING_FAULT, look->place,
                     "what it may do could not be tried: becoming this user failed");
}

/* All of it in a child with the user's identity. */
static void
look_as(const Look *general, uid_t uid)
{
    g_autofree char *place = g_strdup_printf("agent's user %u", uid);
    Look look = *general;
    int ends[2];

    look.place = place;
    if (pipe(ends) != 0) {
        hear("", &look);
        return;
    }
    pid_t child = fork();
    if (child == 0) {
        look.findings = findings_new();
        if (uid == geteuid() || become(uid)) {
            try_files(&look);
            try_outside(&look);
            tell(look.findings, ends[1]);
        }
        _exit(EXIT_SUCCESS);
    }
    close(ends[1]);
    g_autofree char *said = read_all(ends[0]);
    close(ends[0]);
    if (child > 0)
        waitpid(child, NULL, 0);
    hear(said, &look);
}

/* Those whom the group lists, and those whose own group it is. */
static void
add_members(GArray *uids, gid_t gid)
{
    const struct group *group = getgrgid(gid);
    const struct passwd *user;

    for (char **name = group != NULL ? group->gr_mem : NULL; name != NULL && *name != NULL;
         name++)
        if ((user = getpwnam(*name)) != NULL)
            g_array_append_val(uids, user->pw_uid);
    setpwent();
    while ((user = getpwent()) != NULL)
        if (user->pw_gid == gid)
            g_array_append_val(uids, user->pw_uid);
    endpwent();
}

/* The users of agent-users, members of its groups among them. */
static GArray *
list_users(const Config *config)
{
    GArray *uids = g_array_new(FALSE, FALSE, sizeof(uid_t));

    for (guint i = 0; i < config->accounts->len; i++) {
        const People *people = &((const Account *)config->accounts->pdata[i])->agent_users;
        g_array_append_vals(uids, people->uids->data, people->uids->len);
        for (guint j = 0; j < people->gids->len; j++)
            add_members(uids, g_array_index(people->gids, gid_t, j));
    }
    return uids;
}

static GPtrArray *
list_rules(const Config *config)
{
    GPtrArray *rules = g_ptr_array_new_with_free_func(g_free);

    g_ptr_array_add(rules, g_strdup(config->path));
    if (*config->floor_file != '\0')
        policies_list(config->floor_file, rules);
    for (guint i = 0; i < config->accounts->len; i++)
        policies_list(((const Account *)config->accounts->pdata[i])->policy_file, rules);
    for (char **file = config->alias_files; *file != NULL; file++)
        g_ptr_array_add(rules, g_strdup(strchr(*file, ':') + 1));
    return rules;
}

static void
compare(Look *look)
{
    g_autofree gboolean *reached = g_new0(gboolean, look->targets->len + 1);

    reach(look->targets, reached);
    for (guint i = 0; i < look->targets->len; i++)
        ((Target *)look->targets->pdata[i])->reached = reached[i];
    look->compared = TRUE;
}

gboolean
doctor_agents(const Config *config, const char *postfix, const char *outside,
              GPtrArray *findings)
{
    g_autoptr(GPtrArray) targets = g_ptr_array_new_with_free_func(target_free);
    g_autoptr(GArray) uids = list_users(config);
    g_autoptr(GPtrArray) rules = list_rules(config);
    Look look = {.config = config,
                 .postfix = postfix,
                 .targets = targets,
                 .rules = rules,
                 .findings = findings};

    if (outside != NULL && !read_outside(outside, targets))
        return FALSE;
    if (geteuid() == 0) {
        compare(&look);
        for (guint i = 0; i < uids->len; i++) {
            uid_t uid = g_array_index(uids, uid_t, i);
            gboolean again = FALSE;
            for (guint j = 0; j < i; j++)
                again = again || g_array_index(uids, uid_t, j) == uid;
            if (!again)
                look_as(&look, uid);
        }
    } else if (config_is_agent_user(config, geteuid(), getegid())) {
        look_as(&look, geteuid());
    }
    if (uids->len == 0)
        findings_add(findings, FINDING_UNKNOWN, "agent's user",
                     "nobody is in agent-users of exeat.conf");
    else if (geteuid() != 0)
        findings_add(findings, FINDING_UNKNOWN, "agent's user",
                     "what it may do can only be tried by root");
    return TRUE;
}
