#include "relay/later.h"

#include "relay/arrival.h"
#include "relay/report.h"
#include "store/audit.h"
#include "store/owed.h"

static void
ask_again(Request *request, const char *id)
{
    g_autofree char *text = g_strdup_printf(
        "kept as %s, what becomes of it is not known yet: try again later", id);

    arrival_answer(request, "later", id, text);
}

gboolean
later_answer(Request *request, const Account *account, GError **error)
{
    const Item *item = request->item;
    /* Without an id of its own it has another one each time it comes. */
    gboolean lasting = *request->came.key == '\0' && *item->message_id != '\0';

    if (!account->answer_later) {
        arrival_answer(request, "keep", item->id, "");
        return TRUE;
    }
    ask_again(request, item->id);
    return owed_add(request->relay->db, item, lasting, error);
}

static gboolean
record(Request *request, const Item *item, GError **error)
{
    g_autofree char *who = g_strdup_printf("agent login %s", item->login);
    GVariantDict details;

    g_variant_dict_init(&details, NULL);
    g_variant_dict_insert(&details, "state", "s", state_name(item->state));
    const AuditEntry entry = {.kind = "answered",
                              .account = item->account,
                              .item = item->id,
                              .who = who,
                              .details = g_variant_dict_end(&details)};
    return audit_append(request->relay->db, &entry, request->now, error);
}

/* The client hears the end, or that the gate has it, and that it need not come again. */
static gboolean
tell(Request *request, const Item *item, GError **error)
{
    g_autofree char *status = NULL;
    g_autofree char *reply = report_reply(item, &status);
    gboolean first;

    if (reply != NULL) {
        g_autofree char *text = g_strdup_printf("%s: %s", item->id, reply);
        g_autofree char *valid = g_utf8_make_valid(text, -1);

        arrival_refuse(request, item->id, status, valid);
    } else {
        arrival_answer(request, "keep", item->id, "");
    }
    return owed_tell(request->relay->db, item->id, request->now, &first, error) &&
           (!first || record(request, item, error));
}

gboolean
later_find(Request *request, const Account *account, gboolean *found_out, GError **error)
{
    Db *db = request->relay->db;
    g_autofree char *id = NULL;
    g_autoptr(Item) item = NULL;

    if (!owed_find(db, account->name, request->item->key, request->now, &id, error) ||
        (id != NULL && !queue_load(db, id, &item, error)))
        return FALSE;
    *found_out = item != NULL;
    if (item == NULL)
        return TRUE;
    if (!state_is_waiting(item->state) || !account->answer_later)
        return tell(request, item, error);
    ask_again(request, id);
    return TRUE;
}
