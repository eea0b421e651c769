#include "relay/approve.h"

#include "relay/authority.h"
#include "relay/password.h"
#include "relay/people.h"
#include "relay/stop.h"
#include "store/approval.h"

static gboolean
may_leave(Request *request, const Item *item, GError **error)
{
    const Account *account = config_account(request->config, item->account);

    if (account != NULL && account->mode != MODE_DRAFT)
        return stop_allows(request, account->name, error);
    g_set_error(error, REQUEST_ERROR, REQUEST_CONFLICT,
                "account %s is in mode draft: nothing leaves, not even approved",
                item->account);
    return FALSE;
}

static gboolean
grant(Request *request, const Account *account, const Item *item, GError **error)
{
    const Approval approval = {
        .item = item->id,
        .account = item->account,
        .digest = item->digest,
        .approver = request->who,
        .uid = request->uid,
        .gid = request->gid,
        .policy = (char *)policy_version(account->policy),
        .created = request->now,
        .expires = request->now + request->config->approval_life,
    };

    return approval_grant(request->relay->db, &approval, error);
}

/* Whether this person's approval would add anything. */
static gboolean
may_approve(const Request *request, const Item *item, const Standing *standing, GError **error)
{
    if (standing->refused != NULL) {
        g_set_error(error, REQUEST_ERROR, REQUEST_CONFLICT, "today %s would be refused: %s",
                    item->id, standing->refused);
        return FALSE;
    }
    for (guint i = 0; i < standing->approvals->len; i++) {
        const Approval *approval = g_ptr_array_index(standing->approvals, i);

        if (approval->uid != request->uid)
            continue;
        g_set_error(error, REQUEST_ERROR, REQUEST_CONFLICT,
                    "%s has your approval; it needs %u different people", item->id,
                    standing->needed);
        return FALSE;
    }
    return TRUE;
}

/* An item in one of both states; verb and why: for the sentences. */
static gboolean
let_go(Request *request, State first, State second, const char *verb, const char *why,
       GError **error)
{
    const char *prefix = request_text(request, "digest", error);
    g_autoptr(Item) item = prefix ? people_item(request, error) : NULL;
    g_auto(Standing) standing = {0};

    if (item == NULL || !people_is_state(item, first, second, verb, error) ||
        !people_digest_matches(item, prefix, error) || !may_leave(request, item, error))
        return FALSE;
    const Account *account = config_account(request->config, item->account);
    if (!authority_standing(request->relay->db, request->config, account, item, request->now,
                            &standing, error) ||
        !may_approve(request, item, &standing, error) ||
        !password_suffices(request, account, error) || !grant(request, account, item, error))
        return FALSE;
    if (standing.approvals->len + 1 < standing.needed) {
        people_answer_state(request, item->state);
        return TRUE;
    }
    if (!people_move(request, item, STATE_APPROVED, why, error))
        return FALSE;
    people_answer_state(request, STATE_APPROVED);
    request->wake = TRUE;
    return TRUE;
}

gboolean
approve_item(Request *request, GError **error)
{
    return let_go(request, STATE_HELD, STATE_DRAFT, "approved", "approved", error);
}

gboolean
approve_now(Request *request, GError **error)
{
    return let_go(request, STATE_DELAYED, STATE_DELAYED, "sent now", "approved to leave now",
                  error);
}
