#include "relay/reasons.h"

#include "lib/address.h"
#include "relay/likeness.h"

void
reason_free(Reason *reason)
{
    if (reason == NULL)
        return;
    history_story_free(reason->story);
    g_free(reason->like);
    g_free(reason);
}

static gboolean
has_many_readers(const Config *config, const Account *account, const char *address)
{
    AliasLead lead = {0};

    if (g_strv_contains((const char *const *)account->internal, address_domain(address)))
        aliases_follow(config->aliases, address, account->internal, &lead);
    return lead.many || g_strv_contains((const char *const *)account->lists, address);
}

gboolean
reason_find(Db *db, const Config *config, const Account *account, const char *address,
            Reason **reason_out, GError **error)
{
    g_autoptr(Reason) reason = g_new0(Reason, 1);
    g_autoptr(Likeness) likeness = likeness_new(db, account);

    if (!history_tell(db, account->name, address, &reason->story, error) ||
        !likeness_find(likeness, address, &reason->like, error))
        return FALSE;
    reason->list = reason->story->address.list || has_many_readers(config, account, address);
    *reason_out = g_steal_pointer(&reason);
    return TRUE;
}
