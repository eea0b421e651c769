#include "relay/observe.h"

#include "lib/address.h"
#include "relay/arrival.h"
#include "relay/stop.h"
#include "relay/world.h"
#include "store/history.h"

gboolean
observe_read(Request *request, GError **error)
{
    return arrival_read(request, TRUE, error);
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

/* By its own marks, or because nobody can answer it (RFC 3834, 2). */
static gboolean
is_program(const Item *item)
{
    return item->extract->automatic || *item->envelope->sender == '\0';
}

gboolean
observe_message(Request *request, GError **error)
{
    const Extract *extract = request->item->extract;
    const char *login = request->came.login;
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
        .automatic = is_program(request->item) || extract->lists[0] != NULL,
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
    g_autofree char *who = g_strdup_printf("human login %s", login);
    /* Else whoever wants to be known only has to ask for a receipt, or to meet a vacation. */
    observation.kind = is_program(request->item) ? OBSERVED_AGENT : OBSERVED_HUMAN;
    observation.who = who;
    observation.account = account->name;
    return history_observe(request->relay->db, &observation, request->now, error) &&
           world_sent(request->relay->db, account->name, request->came.item, login, extract,
                      request->now, error) &&
           world_answered(request->relay->db, account->name, WORLD_HUMAN, extract,
                          request->now, error);
}
