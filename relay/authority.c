#include "relay/authority.h"

#include "relay/judge.h"
#include "relay/world.h"
#include "store/approval.h"
#include "store/halt.h"
#include "store/history.h"

/* Judges the item with today's facts and rules; again is a new item. */
static gboolean
judge_again(Db *db, const Config *config, const Account *account, const Item *item, gint64 now,
            Item *again, GError **error)
{
    g_free(again->id);
    again->id = g_strdup(item->id);
    g_free(again->account);
    again->account = g_strdup(item->account);
    g_free(again->login);
    again->login = g_strdup(item->login);
    again->size = item->size;
    g_clear_pointer(&again->envelope, envelope_free);
    g_clear_pointer(&again->extract, extract_free);
    g_clear_pointer(&again->claims, g_hash_table_unref);
    again->envelope = item->envelope;
    again->extract = item->extract;
    again->claims = item->claims ? g_hash_table_ref(item->claims) : NULL;
    gboolean judged = judge_item(db, config, account, again, now, error);
    again->envelope = NULL; /* both were only lent */
    again->extract = NULL;
    return judged;
}

void
standing_clear(Standing *standing)
{
    g_clear_pointer(&standing->approvals, g_ptr_array_unref);
    g_clear_pointer(&standing->refused, g_free);
}

static gboolean
is_of_person(gconstpointer approval, gconstpointer other)
{
    return ((const Approval *)approval)->uid == ((const Approval *)other)->uid;
}

/* Leaves the approvals that count, one for each person. stricter: today's verdict is stricter
 * than the one that was shown, which voids what was granted under another policy. */
static void
keep_counting(const Account *account, GPtrArray *approvals, gboolean stricter)
{
    for (guint i = approvals->len; i-- > 0;) {
        const Approval *approval = g_ptr_array_index(approvals, i);
        gboolean old = !g_str_equal(approval->policy, policy_version(account->policy));

        if ((old && stricter) ||
            !people_include(&account->approvers, (uid_t)approval->uid, (gid_t)approval->gid))
            g_ptr_array_remove_index(approvals, i);
    }
    for (guint i = approvals->len; i-- > 0;) {
        guint first = i;

        g_ptr_array_find_with_equal_func(approvals, approvals->pdata[i], is_of_person, &first);
        if (first != i)
            g_ptr_array_remove_index(approvals, i);
    }
}

/* again: today's verdict on the item. */
static gboolean
find_standing(Db *db, const Account *account, const Item *item, const Item *again, gint64 now,
              Standing *standing, GError **error)
{
    gboolean stricter = tier_strictness(again->tier) > tier_strictness(item->tier) ||
                        again->approvals > item->approvals;

    standing->approvals = approval_find(db, item->id, item->account, item->digest, now, error);
    if (standing->approvals == NULL)
        return FALSE;
    keep_counting(account, standing->approvals, stricter);
    standing->needed = MAX(item->approvals, again->approvals);
    if (again->tier == TIER_REFUSE)
        standing->refused = g_strdup(again->reason);
    return TRUE;
}

gboolean
authority_standing(Db *db, const Config *config, const Account *account, const Item *item,
                   gint64 now, Standing *standing, GError **error)
{
    g_autoptr(Item) again = item_new();

    return judge_again(db, config, account, item, now, again, error) &&
           find_standing(db, account, item, again, now, standing, error);
}

/* NULL in *why_out: the approvals let it go. */
static gboolean
check_approvals(Db *db, const Account *account, const Item *item, const Item *again,
                gint64 now, char **why_out, GError **error)
{
    g_auto(Standing) standing = {0};

    if (!find_standing(db, account, item, again, now, &standing, error))
        return FALSE;
    if (standing.refused != NULL)
        *why_out = g_strdup_printf("today it would be refused: %s", standing.refused);
    else if (standing.approvals->len == 0)
        *why_out = g_strdup("the approval is not valid any more");
    else if (standing.approvals->len < standing.needed)
        *why_out = g_strdup_printf("only %u of %u approvals are valid",
                                   standing.approvals->len, standing.needed);
    return TRUE;
}

/* What stands in the way before rules and approvals are looked at; NULL: nothing. */
static const char *
find_obstacle(const Config *config, const Account *account, const Item *item)
{
    Role role = ROLE_NONE;

    if (account == NULL)
        return "the account is no longer configured";
    if (account->mode == MODE_DRAFT)
        return "the account is in mode draft: nothing leaves";
    if (config_login(config, item->login, &role) != account || role != ROLE_AGENT)
        return "the login is no agent's of this account any more";
    return NULL;
}

/* Fills in *why_out when the human has sent the message from another program. */
static gboolean
find_sent(Db *db, const Item *item, char **why_out, GError **error)
{
    gboolean sent;

    if (!history_is_of_human(db, item->account, item->message_id, item->created, &sent, error))
        return FALSE;
    if (sent)
        *why_out = g_strdup(WORLD_SENT);
    return TRUE;
}

/* Fills in *why_out when somebody has switched the account off (XF8, XC13). */
static gboolean
find_halt(Db *db, const Account *account, char **why_out, GError **error)
{
    g_autoptr(Halt) halt = NULL;

    if (!halt_find(db, account->name, &halt, error))
        return FALSE;
    if (halt != NULL)
        *why_out = halt_describe(halt);
    return TRUE;
}

gboolean
authority_check(Db *db, const Config *config, const Item *item, gint64 now,
                gboolean *valid_out, Tier *tier_out, char **why_out, GError **error)
{
    const Account *account = config_account(config, item->account);
    const char *obstacle = find_obstacle(config, account, item);
    g_autofree char *why = g_strdup(obstacle);
    g_autoptr(Item) again = item_new();

    again->tier = account != NULL && account->mode == MODE_DRAFT ? TIER_DRAFT : TIER_HOLD;
    if (obstacle == NULL && !find_halt(db, account, &why, error))
        return FALSE;
    if (why == NULL && !find_sent(db, item, &why, error))
        return FALSE;
    if (why == NULL) {
        if (!judge_again(db, config, account, item, now, again, error))
            return FALSE;
        if (!item->automatic) {
            if (!check_approvals(db, account, item, again, now, &why, error))
                return FALSE;
        } else if (again->tier != TIER_RELEASE && again->tier != TIER_DELAY) {
            why = g_strdup(again->reason); /* the stricter verdict wins (A34, XB32) */
        }
    }
    *valid_out = why == NULL;
    *tier_out = again->tier;
    *why_out = g_steal_pointer(&why);
    return TRUE;
}
