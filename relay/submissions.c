#include "relay/submissions.h"

#include <sys/stat.h>

#include "lib/address.h"
#include "lib/digest.h"
#include "lib/error.h"
#include "lib/log.h"
#include "relay/courier.h"
#include "relay/judge.h"
#include "relay/send.h"
#include "relay/handover.h"
#include "relay/stop.h"
#include "relay/world.h"
#include "store/approval.h"
#include "store/history.h"
#include "store/keep.h"

static const char *
text_or_empty(const Request *request, const char *name)
{
    const char *text = "";

    g_variant_lookup(request->arguments, name, "&s", &text);
    return text;
}

/* An item is made with empty texts, never NULL ones. Takes text. */
static void
replace(char **member, char *text)
{
    g_free(*member);
    *member = text;
}

static gboolean
read_envelope(Request *request, GError **error)
{
    g_autoptr(GVariant) variant = g_variant_lookup_value(request->arguments, "envelope", NULL);

    if (variant == NULL) {
        g_set_error(error, EXEAT_ERROR, ERROR_PROTOCOL, "a message without its envelope");
        return FALSE;
    }
    g_clear_pointer(&request->item->envelope, envelope_free);
    request->item->envelope = envelope_from_variant(variant, error);
    return request->item->envelope != NULL;
}

static gboolean
read_extract(Request *request, GError **error)
{
    g_autoptr(GVariant) variant =
        g_variant_lookup_value(request->arguments, "extract", G_VARIANT_TYPE_VARDICT);

    if (variant == NULL) {
        g_set_error(error, EXEAT_ERROR, ERROR_PROTOCOL, "a message without its extract");
        return FALSE;
    }
    g_clear_pointer(&request->item->extract, extract_free);
    request->item->extract = extract_from_variant(variant, error);
    return request->item->extract != NULL;
}

static gboolean
read_bytes(Request *request, const char *account, GError **error)
{
    struct stat status;

    if (request->fd < 0 || fstat(request->fd, &status) != 0 || !S_ISREG(status.st_mode)) {
        g_set_error(error, EXEAT_ERROR, ERROR_PROTOCOL, "a message without its bytes");
        return FALSE;
    }
    Item *item = request->item;
    item->size = (guint64)status.st_size;
    replace(&item->account, g_strdup(account));
    replace(&item->digest, digest_action(account, item->envelope, request->fd, error));
    return item->digest != NULL;
}

static void
read_claims(Request *request)
{
    g_autoptr(GVariantIter) iter = NULL;
    const char *name, *value;

    g_clear_pointer(&request->item->claims, g_hash_table_unref);
    request->item->claims = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    if (!g_variant_lookup(request->arguments, "claims", "a{ss}", &iter))
        return;
    while (g_variant_iter_next(iter, "{&s&s}", &name, &value))
        g_hash_table_insert(request->item->claims, g_strdup(name), g_strdup(value));
}

/* The same login, envelope and bytes make the same key, whatever we added to them (XF22).
 * Claims are no part of the bytes that leave, but another claim is another submission. */
static char *
submission_key(const Request *request)
{
    g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
    const Item *item = request->item;
    const char *came = text_or_empty(request, "key");
    g_autoptr(GVariant) envelope = g_variant_ref_sink(envelope_to_variant(item->envelope));
    g_autoptr(GList) names =
        g_list_sort(g_hash_table_get_keys(item->claims), (GCompareFunc)strcmp);

    g_checksum_update(sum, (const guchar *)item->login, (gssize)strlen(item->login) + 1);
    g_checksum_update(sum, g_variant_get_data(envelope), (gssize)g_variant_get_size(envelope));
    if (*came != '\0') {
        g_checksum_update(sum, (const guchar *)came, -1);
        return g_strdup(g_checksum_get_string(sum));
    }
    g_checksum_update(sum, (const guchar *)item->digest, -1);
    for (GList *name = names; name != NULL; name = name->next) {
        const char *value = g_hash_table_lookup(item->claims, name->data);

        g_checksum_update(sum, name->data, (gssize)strlen(name->data) + 1);
        g_checksum_update(sum, (const guchar *)value, (gssize)strlen(value) + 1);
    }
    return g_strdup(g_checksum_get_string(sum));
}

gboolean
submissions_read_submit(Request *request, GError **error)
{
    const char *login = request_text(request, "login", error);
    Role role = ROLE_NONE;

    if (login == NULL)
        return FALSE;
    const Account *account = config_login(request->config, login, &role);
    if (account == NULL || role != ROLE_AGENT) {
        g_set_error(error, EXEAT_ERROR, ERROR_TEMP, "the login %s is no agent's", login);
        return FALSE;
    }
    request->item = item_new();
    replace(&request->item->login, g_ascii_strdown(login, -1));
    read_claims(request);
    if (!read_envelope(request, error) || !read_extract(request, error) ||
        !read_bytes(request, account->name, error))
        return FALSE;
    replace(&request->item->key, submission_key(request));
    replace(&request->item->message_id, g_strdup(request->item->extract->message_id));
    return TRUE;
}

static void
set_reply(Request *request, const char *action, const char *item, const char *text)
{
    GVariantDict dict;

    g_variant_dict_init(&dict, NULL);
    g_variant_dict_insert(&dict, "action", "s", action);
    g_variant_dict_insert(&dict, "item", "s", item);
    g_variant_dict_insert(&dict, "text", "s", text);
    request->reply = g_variant_ref_sink(g_variant_dict_end(&dict));
}

/* It may go on. What no person approved says so where the account wants that. */
static void
set_pass(Request *request, const Item *item)
{
    const Account *account = config_account(request->config, item->account);
    GVariantDict dict;

    g_variant_dict_init(&dict, NULL);
    g_variant_dict_insert(&dict, "action", "s", "pass");
    g_variant_dict_insert(&dict, "item", "s", item->id);
    g_variant_dict_insert(&dict, "automatic", "b",
                          item->automatic && account != NULL && account->mark_automatic);
    request->reply = g_variant_ref_sink(g_variant_dict_end(&dict));
}

/* These limits are ours, so they are a "try later", not a refusal (XC14). */
static gboolean
has_room(Request *request, GError **error)
{
    guint counts[STATE_COUNT], waiting;
    guint64 bytes;

    if (!queue_count(request->relay->db, request->item->account, counts, error))
        return FALSE;
    waiting = counts[STATE_HELD] + counts[STATE_DRAFT] + counts[STATE_DELAYED] +
              counts[STATE_APPROVED];
    if (waiting >= request->config->waiting_limit) {
        g_set_error(error, EXEAT_ERROR, ERROR_TEMP,
                    "account %s has %u waiting items: the waiting-limit is reached",
                    request->item->account, waiting);
        return FALSE;
    }
    if (!keep_sum(request->relay->db, request->item->account, &bytes, error))
        return FALSE;
    if (bytes + request->item->size <= request->config->store_limit)
        return TRUE;
    g_set_error(error, EXEAT_ERROR, ERROR_TEMP,
                "account %s keeps %" G_GUINT64_FORMAT " bytes: the store-limit is reached",
                request->item->account, bytes);
    return FALSE;
}

static gboolean
move(Request *request, const char *id, State from, State to, const char *why, Move *move_out,
     GError **error)
{
    g_autofree char *who = g_strdup_printf("agent login %s", request->item->login);

    return queue_move(request->relay->db, id, from, to, who, why, request->now, move_out,
                      error);
}

/* Same Message-ID, other bytes: the older item gives way and its approvals are void. */
static gboolean
supersede(Request *request, GError **error)
{
    Db *db = request->relay->db;
    g_autofree char *old = NULL;
    g_autoptr(Item) item = NULL;
    g_autofree char *why = g_strdup_printf("superseded by %s", request->item->id);
    Move done = MOVE_REFUSED;

    if (*request->item->message_id == '\0')
        return TRUE;
    if (!queue_find_message(db, request->item->account, request->item->message_id, &old,
                            error))
        return FALSE;
    if (old == NULL)
        return TRUE;
    if (!queue_load(db, old, &item, error) || item == NULL)
        return item == NULL && error != NULL && *error == NULL;

    State state = item->state;
    if (state == STATE_APPROVED) {
        if (!approval_void(db, old, request->now, error) ||
            !move(request, old, STATE_APPROVED, STATE_HELD, why, &done, error))
            return FALSE;
        state = STATE_HELD;
    }
    if (state == STATE_DELAYED)
        return move(request, old, state, STATE_WITHDRAWN, why, &done, error);
    if (state == STATE_HELD || state == STATE_DRAFT)
        return move(request, old, state, STATE_SUPERSEDED, why, &done, error);
    return TRUE; /* it is leaving already */
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

    if (kept && !has_room(request, error))
        return FALSE;
    if (item->state == STATE_REFUSED)
        extract_drop_texts(item->extract); /* nobody will decide on it */
    else if (!supersede(request, error))
        return FALSE;
    if (!queue_add(db, item, kept ? request->fd : -1, request->now, error))
        return FALSE;
    return item->state != STATE_RELEASED || send_learn(db, item, request->now, error);
}

/* It may come so late that the message has left by itself, and would do so again; what was
 * approved waits for a person again instead (XC23). Only with an id of its own: who says the
 * same every day, and leaves the id to us, means it every day. */
static gboolean
find_sent(Request *request, char **id_out, GError **error)
{
    Db *db = request->relay->db;
    const Item *item = request->item;
    g_autofree char *id = NULL;
    g_autoptr(Item) latest = NULL;

    if (*text_or_empty(request, "key") != '\0' || *item->message_id == '\0')
        return TRUE;
    if (!queue_find_latest(db, item->account, item->message_id, &id, error) ||
        (id != NULL && !queue_load(db, id, &latest, error)))
        return FALSE;
    if (latest != NULL && latest->automatic && latest->state == STATE_SENT &&
        g_str_equal(latest->key, item->key))
        *id_out = g_steal_pointer(&id);
    return TRUE;
}

/* A client that did not hear our answer comes again with the same bytes: same item (XF22). */
static gboolean
find_again(Request *request, gboolean *found_out, GError **error)
{
    g_autofree char *id = NULL;
    Item *item = request->item;

    if (!queue_find_key(request->relay->db, item->account, item->key, &id, error) ||
        (id == NULL && !find_sent(request, &id, error)))
        return FALSE;
    *found_out = id != NULL;
    if (id != NULL)
        set_reply(request, "keep", id, "");
    return TRUE;
}

gboolean
submissions_submit(Request *request, GError **error)
{
    Item *item = request->item;
    const Account *account = config_account(request->config, item->account);
    gboolean found = FALSE;

    g_clear_pointer(&request->reply, g_variant_unref);
    if (!find_again(request, &found, error) || found)
        return found;

    replace(&item->id, item_new_id());
    if (!judge_item(request->relay->db, request->config, account, item, request->now, error) ||
        !stop_judge(request->relay->db, item, error))
        return FALSE;
    settle(request);
    if (!store(request, error) || !handover_take(request, error))
        return FALSE;
    switch (item->tier) {
    case TIER_RELEASE:
        set_pass(request, item);
        break;
    case TIER_REFUSE:
        set_reply(request, "refuse", item->id, item->reason);
        break;
    case TIER_DELAY:
    case TIER_DRAFT:
    case TIER_HOLD:
        set_reply(request, "keep", item->id, "");
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
             item->login, text_or_empty(request, "queue-id"), state_name(item->state),
             item->reason);
}

gboolean
submissions_read_redeem(Request *request, GError **error)
{
    if (request_text(request, "ticket", error) == NULL)
        return FALSE;
    request->item = item_new();
    if (!read_envelope(request, error))
        return FALSE;

    g_autofree char *sender = address_normalise(request->item->envelope->sender, NULL);
    const Account *account = sender ? config_address(request->config, sender) : NULL;
    return read_bytes(request, account ? account->name : "", error);
}

gboolean
submissions_redeem(Request *request, GError **error)
{
    Db *db = request->relay->db;
    const char *ticket = request_text(request, "ticket", error);
    const char *digest = request->item->digest;
    g_autofree char *id = NULL, *why = NULL;
    g_autoptr(Item) item = NULL;
    TicketState state;

    if (ticket == NULL ||
        !ticket_look_up(db, ticket, digest, request->now, &state, &id, error))
        return FALSE;
    switch (state) {
    case TICKET_UNKNOWN:
        if (courier_redeem(ticket, digest)) {
            set_reply(request, "pass", "", "");
            return TRUE;
        }
        set_reply(request, "refuse", "", "the ticket is not valid for this message");
        return TRUE;
    case TICKET_USED:
        set_reply(request, "keep", id, "this message has passed before: it is discarded");
        return TRUE;
    case TICKET_GOOD:
        break;
    }
    if (!send_use_authority(request->relay, request->config, id,
                            text_or_empty(request, "queue-id"), request->now, &why, error))
        return FALSE;
    if (why == NULL) {
        gboolean used = FALSE;

        if (!ticket_redeem(db, ticket, digest, request->now, &used, error))
            return FALSE;
        if (!used) {
            g_set_error(error, EXEAT_ERROR, ERROR_INTEGRITY,
                        "%s: its ticket was used meanwhile", id);
            return FALSE;
        }
    }
    if (why != NULL) {
        set_reply(request, "refuse", id, why);
        return TRUE;
    }
    if (!queue_load(db, id, &item, error))
        return FALSE;
    set_pass(request, item);
    return TRUE;
}

gboolean
submissions_read_observe(Request *request, GError **error)
{
    request->item = item_new();
    return read_envelope(request, error) && read_extract(request, error);
}

static char **
normal_recipients(const Envelope *envelope)
{
    g_autoptr(GStrvBuilder) builder = g_strv_builder_new();

    for (guint i = 0; i < envelope->recipients->len; i++) {
        const EnvelopeRecipient *recipient = g_ptr_array_index(envelope->recipients, i);
        g_autofree char *normal = address_normalise(recipient->address, NULL);

        if (normal != NULL)
            g_strv_builder_add(builder, normal);
    }
    return g_strv_builder_end(builder);
}

static char **
join(char *const *first, char *const *second)
{
    g_autoptr(GStrvBuilder) builder = g_strv_builder_new();

    g_strv_builder_addv(builder, (const char **)first);
    g_strv_builder_addv(builder, (const char **)second);
    return g_strv_builder_end(builder);
}

/* The accounts an inbound message is for, by its envelope recipients. */
static gboolean
observe_inbound(Request *request, Observation *observation, char *const *recipients,
                GError **error)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);

    for (guint i = 0; recipients[i] != NULL; i++) {
        const Account *account = config_address(request->config, recipients[i]);

        if (account == NULL || !g_hash_table_add(seen, account->name))
            continue;
        observation->account = account->name;
        if (!history_observe(request->relay->db, observation, request->now, error) ||
            !world_answered(request->relay->db, account->name, WORLD_RECEIVED,
                            request->item->extract, request->now, error))
            return FALSE;
    }
    return TRUE;
}

/* By its own marks, or because nobody can answer it (RFC 3834, 2), or because a list sent it.
 */
static gboolean
is_automatic(const Item *item)
{
    return item->extract->automatic || item->extract->lists[0] != NULL ||
           *item->envelope->sender == '\0';
}

gboolean
submissions_observe(Request *request, GError **error)
{
    const Extract *extract = request->item->extract;
    const char *login = text_or_empty(request, "login");
    g_auto(GStrv) recipients = normal_recipients(request->item->envelope);
    g_auto(GStrv) own = join(extract->from, extract->to_cc);
    const char *from = extract->from[0];
    Observation observation = {
        .kind = OBSERVED_RECEIVED,
        .message_id = extract->message_id,
        .parents = (const char *const *)extract->parents,
        .recipients = (const char *const *)recipients,
        .sender = from != NULL ? from : request->item->envelope->sender,
        .correspondents = (const char *const *)own,
        .mentioned = (const char *const *)extract->mentioned,
        .lists = (const char *const *)extract->lists,
        .automatic = is_automatic(request->item),
    };
    Role role = ROLE_NONE;
    gboolean stopped;

    request->reply = g_variant_ref_sink(g_variant_new("a{sv}", NULL));
    if (*login == '\0')
        return observe_inbound(request, &observation, recipients, error);

    const Account *account = config_login(request->config, login, &role);
    if (role != ROLE_HUMAN)
        return TRUE; /* the configuration changed meanwhile: it teaches nothing */
    if (!stop_observe(request, account, recipients, &stopped, error))
        return FALSE;
    if (stopped)
        return TRUE; /* nor does an order to us */
    observation.kind = OBSERVED_HUMAN;
    observation.account = account->name;
    return history_observe(request->relay->db, &observation, request->now, error) &&
           world_answered(request->relay->db, account->name, WORLD_HUMAN, extract,
                          request->now, error);
}
