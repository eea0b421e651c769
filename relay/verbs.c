#include "relay/verbs.h"

#include <stddef.h>

#include "lib/log.h"
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
#include "relay/stats.h"
#include "relay/stop.h"
#include "relay/submissions.h"

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
    {"accept", PEER_ADMIN, NULL, guard_accept},
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

    g_strfreev(request->served);
    request->served = find_accounts(request, offsetof(Account, agent_users), FALSE);
    g_strfreev(request->accounts);
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
check_rights(Request *request, const Verb *verb, GError **error)
{
    if (may_ask(request, verb))
        return TRUE;
    log_warning("uid %u may not ask for %s", (guint)request->uid, verb->verb);
    g_set_error(error, REQUEST_ERROR, REQUEST_DENIED,
                "user %u may not do this: only %s named in exeat.conf may",
                (guint)request->uid, needed_names[verb->needed]);
    return FALSE;
}

/* What was read again while the request waited for its turn decides: whoever was told that it
 * is in force shall see nothing done by what was before. */
static gboolean
follow_config(Request *request, const Verb *verb, GError **error)
{
    g_autoptr(Config) latest = relay_config(request->relay);

    if (latest == request->config)
        return TRUE;
    config_unref(request->config);
    request->config = g_steal_pointer(&latest);
    return check_rights(request, verb, error);
}

static gboolean
run_job(gpointer data, GError **error)
{
    gpointer *pair = data;
    const Verb *verb = pair[0];
    Request *request = pair[1];

    if (!follow_config(request, verb, error))
        return FALSE;
    /* What is told by time, a day's digest say, is told in the order of the commits. */
    request->now = relay_now();
    if (g_strv_contains(firm_verbs, verb->verb))
        record_make_firm(request->relay);
    return verb->job(request, error);
}

gboolean
verbs_answer(Request *request, const char *name, GError **error)
{
    for (guint i = 0; i < G_N_ELEMENTS(verbs); i++) {
        const Verb *verb = &verbs[i];
        gpointer pair[] = {(gpointer)verb, request};

        if (!g_str_equal(verb->verb, name))
            continue;
        return check_rights(request, verb, error) &&
               (verb->read == NULL || verb->read(request, error)) &&
               (verb->job == NULL || writer_run(request->relay->writer, run_job, pair, error));
    }
    g_set_error(error, REQUEST_ERROR, REQUEST_USAGE, "there is no request of this name");
    return FALSE;
}
