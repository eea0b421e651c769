#include "relay/submissions.h"

#include "lib/error.h"
#include "lib/log.h"
#include "lib/sum.h"
#include "relay/arrival.h"
#include "relay/handover.h"
#include "relay/judge.h"
#include "relay/later.h"
#include "relay/limits.h"
#include "relay/send.h"
#include "relay/stop.h"
#include "relay/supersede.h"
#include "relay/trace.h"
#include "store/lost.h"

/* An item is made with empty texts, never NULL ones. Takes text. */
static void
replace(char **member, char *text)
{
    g_free(*member);
    *member = text;
}

/* The same login, envelope and bytes make the same key, whatever we added to them, or the way
 * here did (XF22). Claims are no part of the bytes that leave, but another claim is another
 * submission. NULL: ERROR_TEMP. */
static char *
submission_key(const Request *request, GError **error)
{
    g_autoptr(Sum) sum = sum_new();
    const Item *item = request->item;
    const char *came = request->came.key;
    g_autoptr(GVariant) envelope = g_variant_ref_sink(envelope_to_variant(item->envelope));
    g_autoptr(GList) names =
        g_list_sort(g_hash_table_get_keys(item->claims), (GCompareFunc)strcmp);

    sum_add(sum, item->login, strlen(item->login) + 1);
    sum_add(sum, g_variant_get_data(envelope), g_variant_get_size(envelope));
    if (*came != '\0') {
        sum_add(sum, came, strlen(came));
        return sum_end(g_steal_pointer(&sum));
    }
    g_autofree char *traceless = trace_sum(request->fd, item->size, error);
    if (traceless == NULL)
        return NULL;
    const char *bytes = *traceless != '\0' ? traceless : item->digest;
    sum_add(sum, bytes, strlen(bytes));
    for (GList *name = names; name != NULL; name = name->next) {
        const char *value = g_hash_table_lookup(item->claims, name->data);

        sum_add(sum, name->data, strlen(name->data) + 1);
        sum_add(sum, value, strlen(value) + 1);
    }
    return sum_end(g_steal_pointer(&sum));
}

/* The account whose agent submits; NULL with error. name: which it has to be, NULL for any. */
static const Account *
find_account(const Request *request, const char *name, GError **error)
{
    const char *login = request->came.login;
    Role role = ROLE_NONE;
    const Account *account = config_login(request->config, login, &role);

    if (account != NULL && role == ROLE_AGENT &&
        (name == NULL || g_str_equal(account->name, name)))
        return account;
    g_set_error(error, EXEAT_ERROR, ERROR_TEMP, "the login %s is no agent's of %s", login,
                name != NULL ? name : "an account");
    return NULL;
}

gboolean
submissions_read_submit(Request *request, GError **error)
{
    if (!arrival_read(request, TRUE, error))
        return FALSE;
    const Account *account = find_account(request, NULL, error);
    if (account == NULL)
        return FALSE;
    replace(&request->item->login, g_ascii_strdown(request->came.login, -1));
    if (!arrival_read_bytes(request, account->name, error))
        return FALSE;
    replace(&request->item->message_id, g_strdup(request->item->extract->message_id));
    replace(&request->item->key, submission_key(request, error));
    return request->item->key != NULL;
}

static void
settle(Request *request)
{
    Item *item = request->item;

    item->created = request->now;
    item->expires =
        request->now + request->config->expire; /* counts while it waits for a person */
    item->automatic = item->tier == TIER_RELEASE || item->tier == TIER_DELAY;
    switch (item->tier) {
    case TIER_RELEASE:
        item->state = STATE_RELEASED;
        break;
    case TIER_DELAY:
        item->state = STATE_DELAYED;
        break;
    case TIER_DRAFT:
        item->state = STATE_DRAFT;
        break;
    case TIER_HOLD:
        item->state = STATE_HELD;
        break;
    case TIER_REFUSE:
        item->state = STATE_REFUSED;
        break;
    }
}

static gboolean
store(Request *request, GError **error)
{
    Db *db = request->relay->db;
    Item *item = request->item;
    gboolean kept = state_is_waiting(item->state);
    gboolean texts = item->state != STATE_REFUSED; /* nobody will decide on it */

    if ((kept && !limits_room(request, error)) ||
        (!kept && texts && !limits_texts(request, &texts, error)))
        return FALSE;
    if (!texts)
        extract_drop_texts(item->extract);
    if (!queue_add(db, item, kept ? request->fd : -1, request->now, error) ||
        !limits_count(request, error))
        return FALSE;
    return item->state != STATE_RELEASED || send_learn(db, item, request->now, error);
}

/* The latest item made of the same submission, NULL when there is none. Only with an id of its
 * own: who says the same every day, and leaves the id to us, means it every day. */
static gboolean
find_same(Request *request, Item **latest_out, GError **error)
{
    Db *db = request->relay->db;
    const Item *item = request->item;
    g_autofree char *id = NULL;
    g_autoptr(Item) latest = NULL;

    if (*request->came.key == '\0' && *item->message_id != '\0' &&
        (!queue_find_latest(db, item->account, item->message_id, &id, error) ||
         (id != NULL && !queue_load(db, id, &latest, error))))
        return FALSE;
    if (latest != NULL && g_str_equal(latest->key, item->key))
        *latest_out = g_steal_pointer(&latest);
    return TRUE;
}

/* Who is refused and tries again is refused again, which is on record already (XF22). */
static gboolean
is_refused_again(Request *request, const Item *same)
{
    const Item *item = request->item;

    if (item->tier != TIER_REFUSE || same == NULL || same->state != STATE_REFUSED)
        return FALSE;
    arrival_answer(request, "refuse", same->id, item->reason);
    return TRUE;
}

/* A client that did not hear our answer comes again with the same bytes: same item (XF22). It
 * may come so late that the message has left by itself, and would do so again; what was
 * approved waits for a person again instead (XC23). */
static gboolean
find_again(Request *request, Item **same_out, gboolean *found_out, GError **error)
{
    g_autofree char *id = NULL;
    Item *item = request->item;

    if (!queue_find_key(request->relay->db, item->account, item->key, &id, error) ||
        (id == NULL && !find_same(request, same_out, error)))
        return FALSE;
    const Item *same = *same_out;
    if (same != NULL && same->automatic && same->state == STATE_SENT)
        id = g_strdup(same->id);
    *found_out = id != NULL;
    if (id != NULL)
        arrival_answer(request, "keep", id, "");
    return TRUE;
}

/* Whether it left before: by an item that is there, or by one that the database, an older
 * copy, does not have any more (XC12). */
static gboolean
find_left(Request *request, const Item *same, char **why_out, GError **error)
{
    g_autofree char *id = NULL;

    if (!lost_find(request->relay->db, request->item->digest, &id, error))
        return FALSE;
    if (id != NULL)
        *why_out = g_strdup_printf("handed on before as %s, which was lost", id);
    else if (same != NULL && (same->state == STATE_SENT || same->state == STATE_BY_HUMAN))
        *why_out = g_strdup_printf("this very message was sent before, as %s", same->id);
    return TRUE;
}

/* Only a person can mean it twice (XC23). */
static gboolean
judge_repeated(Request *request, const Item *same, GError **error)
{
    Item *item = request->item;
    char *why = NULL;

    if (item->tier == TIER_REFUSE)
        return TRUE;
    if (!find_left(request, same, &why, error))
        return FALSE;
    if (why == NULL)
        return TRUE;
    item->tier = TIER_HOLD;
    item_set_line(item, 0, NULL);
    item->due = 0;
    replace(&item->reason, why);
    return TRUE;
}

gboolean
submissions_submit(Request *request, GError **error)
{
    Item *item = request->item;
    const Account *account = find_account(request, item->account, error);
    g_autoptr(Item) same = NULL;
    gboolean found = FALSE;

    g_clear_pointer(&request->reply, g_variant_unref);
    if (account == NULL)
        return FALSE;
    if (!later_find(request, account, &found, error) ||
        (!found && !find_again(request, &same, &found, error)))
        return FALSE;
    if (found)
        return TRUE;

    replace(&item->id, item_new_id(request->now));
    if (!limits_pace(request, error) ||
        !judge_item(request->relay->db, request->config, account, item, request->now, error) ||
        !stop_judge(request->relay->db, item, error) || !judge_repeated(request, same, error))
        return FALSE;
    if (is_refused_again(request, same))
        return TRUE;
    if (item->tier != TIER_REFUSE && !supersede_take(request, error))
        return FALSE;
    settle(request);
    if (!store(request, error) || !handover_take(request, error))
        return FALSE;
    switch (item->tier) {
    case TIER_RELEASE:
        arrival_pass(request, item);
        break;
    case TIER_REFUSE:
        arrival_answer(request, "refuse", item->id, item->reason);
        break;
    case TIER_DELAY:
    case TIER_DRAFT:
    case TIER_HOLD:
        if (!later_answer(request, account, error))
            return FALSE;
        break;
    }
    request->wake = item->tier == TIER_DELAY;
    request->sent = g_steal_pointer(&request->item);
    return TRUE;
}

void
submissions_log(const Request *request)
{
    const Item *item = request->sent;

    log_info("%s: account %s, login %s, queue id %s: %s: %s", item->id, item->account,
             item->login, request->came.queue_id, state_name(item->state), item->reason);
}
