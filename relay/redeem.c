#include "relay/redeem.h"

#include "lib/address.h"
#include "lib/error.h"
#include "relay/arrival.h"
#include "relay/courier.h"
#include "relay/send.h"
#include "store/approval.h"

gboolean
redeem_read(Request *request, GError **error)
{
    if (request_text(request, "ticket", error) == NULL)
        return FALSE;
    if (!arrival_read(request, FALSE, error))
        return FALSE;

    g_autofree char *sender = address_normalise(request->item->envelope->sender, NULL);
    const Account *account = sender ? config_address(request->config, sender) : NULL;
    return arrival_read_bytes(request, account ? account->name : "", error);
}

gboolean
redeem_ticket(Request *request, GError **error)
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
            arrival_answer(request, "pass", "", "");
            return TRUE;
        }
        arrival_answer(request, "refuse", "", "the ticket is not valid for this message");
        return TRUE;
    case TICKET_USED:
        arrival_answer(request, "keep", id, "this message has passed before: it is discarded");
        return TRUE;
    case TICKET_GOOD:
        break;
    }
    if (!send_use_authority(request->relay, request->config, id, request->came.queue_id,
                            request->now, &why, error))
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
        arrival_answer(request, "refuse", id, why);
        return TRUE;
    }
    if (!queue_load(db, id, &item, error))
        return FALSE;
    arrival_pass(request, item);
    return TRUE;
}
