#include "relay/people.h"

#include <config.h>
#include <string.h>

#include "lib/digest.h"
#include "lib/error.h"
#include "relay/authority.h"
#include "relay/drafts.h"
#include "relay/history.h"
#include "relay/notice.h"
#include "relay/reload.h"
#include "relay/stop.h"
#include "relay/supersede.h"
#include "relay/views.h"
#include "store/approval.h"
#include "store/audit.h"
#include "store/stats.h"

enum { LIST_MOST = 500, FAILED_SHOWN = 7 * 86400 };

static gboolean
not_found(const char *id, GError **error)
{
    g_set_error(error, REQUEST_ERROR, REQUEST_NOT_FOUND, "there is no item %s", id);
    return FALSE;
}

gboolean
people_may_know(const Request *request, const char *account)
{
    return request->admin || g_strv_contains((const char *const *)request->accounts, account);
}

Item *
people_item(Request *request, GError **error)
{
    const char *id = request_text(request, "id", error);
    g_autoptr(Item) item = NULL;

    if (id == NULL || !queue_load(request->relay->db, id, &item, error))
        return NULL;
    if (item == NULL ||
        !g_strv_contains((const char *const *)request->accounts, item->account)) {
        not_found(id, error);
        return NULL;
    }
    return g_steal_pointer(&item);
}

gboolean
people_is_state(const Item *item, State first, State second, const char *verb, GError **error)
{
    if (item->state == first || item->state == second)
        return TRUE;
    gboolean for_reject = item->state == STATE_HELD || item->state == STATE_DRAFT;
    gboolean for_veto = item->state == STATE_DELAYED || item->state == STATE_APPROVED;
    g_set_error(error, REQUEST_ERROR, REQUEST_CONFLICT, "%s cannot be %s: it is %s%s",
                item->id, verb, state_name(item->state),
                for_reject                     ? "; you can reject it"
                : item->state == STATE_DELAYED ? "; you can veto it, or let it leave now"
                : for_veto                     ? "; you can veto it"
                                               : "");
    return FALSE;
}

gboolean
people_move(Request *request, const Item *item, State to, const char *why, GError **error)
{
    Move done;

    if (!queue_move(request->relay->db, item->id, item->state, to, request->who, why,
                    request->now, &done, error))
        return FALSE;
    if (done == MOVE_DONE)
        return TRUE;
    g_set_error(error, REQUEST_ERROR, REQUEST_CONFLICT, "%s is not %s any more", item->id,
                state_name(item->state));
    return FALSE;
}

void
people_answer_state(Request *request, State state)
{
    GVariantDict dict;

    g_variant_dict_init(&dict, NULL);
    g_variant_dict_insert(&dict, "state", "s", state_name(state));
    request->reply = g_variant_ref_sink(g_variant_dict_end(&dict));
}

/* A damaged record hides no other. */
static gboolean
add_line(Request *request, const char *id, GVariantBuilder *items, GError **error)
{
    g_autoptr(GError) trouble = NULL;
    g_autoptr(Item) item = NULL;

    if (!queue_load(request->relay->db, id, &item, &trouble)) {
        if (!g_error_matches(trouble, EXEAT_ERROR, ERROR_INTEGRITY)) {
            g_propagate_error(error, g_steal_pointer(&trouble));
            return FALSE;
        }
        g_variant_builder_add_value(items, view_damaged_line(id));
    } else if (item != NULL) {
        g_variant_builder_add_value(items, view_item_line(item));
    }
    return TRUE;
}

gboolean
people_list(Request *request, GError **error)
{
    gboolean all = FALSE;
    GVariantBuilder items;

    g_variant_lookup(request->arguments, "all", "b", &all);
    Db *db = request->relay->db;
    const char *const *accounts = (const char *const *)request->accounts;
    g_autoptr(GPtrArray) ids =
        all ? queue_list(db, accounts, LIST_MOST, error)
            : queue_agenda(db, accounts, request->now - FAILED_SHOWN, LIST_MOST, error);
    if (ids == NULL)
        return FALSE;
    g_variant_builder_init(&items, G_VARIANT_TYPE("aa{sv}"));
    for (guint i = 0; i < ids->len; i++) {
        if (!add_line(request, g_ptr_array_index(ids, i), &items, error)) {
            g_variant_builder_clear(&items);
            return FALSE;
        }
    }
    GVariantDict dict;
    g_variant_dict_init(&dict, NULL);
    g_variant_dict_insert_value(&dict, "items", g_variant_builder_end(&items));
    request->reply = g_variant_ref_sink(g_variant_dict_end(&dict));
    return TRUE;
}

static GVariant *
view_approvals(const GPtrArray *approvals)
{
    GVariantBuilder builder;

    g_variant_builder_init(&builder, G_VARIANT_TYPE("aa{sv}"));
    for (guint i = 0; i < approvals->len; i++) {
        const Approval *approval = g_ptr_array_index(approvals, i);
        GVariantDict dict;

        g_variant_dict_init(&dict, NULL);
        g_variant_dict_insert(&dict, "who", "s", approval->approver);
        g_variant_dict_insert(&dict, "uid", "x", approval->uid);
        g_variant_dict_insert(&dict, "created", "x", approval->created);
        g_variant_dict_insert(&dict, "expires", "x", approval->expires);
        g_variant_builder_add_value(&builder, g_variant_dict_end(&dict));
    }
    return g_variant_builder_end(&builder);
}

/* Which approvals an item has and needs, while it may be approved. */
static gboolean
add_standing(Request *request, const Item *item, GVariantDict *dict, GError **error)
{
    const Account *account = config_account(request->config, item->account);
    g_auto(Standing) standing = {0};

    if (account == NULL || (item->state != STATE_HELD && item->state != STATE_DRAFT &&
                            item->state != STATE_APPROVED))
        return TRUE;
    if (!authority_standing(request->relay->db, request->config, account, item, request->now,
                            &standing, error))
        return FALSE;
    g_variant_dict_insert(dict, "approvals_needed", "u", standing.needed);
    g_variant_dict_insert_value(dict, "approvals", view_approvals(standing.approvals));
    return TRUE;
}

/* With the length of the text, which tells how long it takes to read (A33). */
static gboolean
record_shown(Request *request, const Item *item, GError **error)
{
    guint32 characters = (guint32)g_utf8_strlen(item->extract->text, -1);
    GVariantDict details;

    g_variant_dict_init(&details, NULL);
    g_variant_dict_insert(&details, "characters", "u", characters);
    const AuditEntry entry = {.kind = "shown",
                              .account = item->account,
                              .item = item->id,
                              .who = request->who,
                              .details = g_variant_dict_end(&details)};
    return audit_append(request->relay->db, &entry, request->now, error);
}

gboolean
people_show(Request *request, GError **error)
{
    g_autoptr(Item) item = people_item(request, error);
    GVariantDict dict;

    if (item == NULL)
        return FALSE;
    g_autoptr(GVariant) moves = queue_moves(request->relay->db, item->id, error);
    if (moves == NULL)
        return FALSE;
    g_variant_ref_sink(moves);
    g_autoptr(GHashTable) reasons = history_reasons(request, item, error);
    if (reasons == NULL)
        return FALSE;
    if (!record_shown(request, item, error))
        return FALSE;
    g_autoptr(GVariant) view = g_variant_ref_sink(view_item(item, moves, reasons));
    g_variant_dict_init(&dict, view);
    if (!add_standing(request, item, &dict, error) ||
        !drafts_describe(request, item, &dict, error) ||
        !supersede_describe(request, item, &dict, error)) {
        g_variant_dict_clear(&dict);
        return FALSE;
    }
    request->reply = g_variant_ref_sink(g_variant_dict_end(&dict));
    return TRUE;
}

gboolean
people_digest_matches(const Item *item, const char *prefix, GError **error)
{
    if (strlen(prefix) < DIGEST_PREFIX) {
        g_set_error(error, REQUEST_ERROR, REQUEST_USAGE,
                    "the digest needs at least %d digits, as the item shows it",
                    DIGEST_PREFIX);
        return FALSE;
    }
    if (g_ascii_strncasecmp(item->digest, prefix, strlen(prefix)) == 0)
        return TRUE;
    g_set_error(error, REQUEST_ERROR, REQUEST_CONFLICT,
                "%s has another digest than %s: look at it again before you decide", item->id,
                prefix);
    return FALSE;
}

gboolean
people_reject(Request *request, GError **error)
{
    const char *reason = request_line(request, "reason", error);
    g_autoptr(Item) item = reason ? people_item(request, error) : NULL;

    if (item == NULL || !people_is_state(item, STATE_HELD, STATE_DRAFT, "rejected", error) ||
        !people_move(request, item, STATE_REJECTED, reason, error))
        return FALSE;
    people_answer_state(request, STATE_REJECTED);
    return TRUE;
}

gboolean
people_veto(Request *request, GError **error)
{
    g_autoptr(Item) item = people_item(request, error);

    if (item == NULL ||
        !people_is_state(item, STATE_DELAYED, STATE_APPROVED, "vetoed", error) ||
        !approval_void(request->relay->db, item->id, request->now, error) ||
        !people_move(request, item, STATE_VETOED, "no reason given", error))
        return FALSE;
    people_answer_state(request, STATE_VETOED);
    return TRUE;
}

gboolean
people_resolve(Request *request, GError **error)
{
    const char *name = request_text(request, "state", error);
    g_autoptr(Item) item = name ? people_item(request, error) : NULL;
    State state;

    if (item == NULL ||
        !people_is_state(item, STATE_UNCERTAIN, STATE_UNCERTAIN, "resolved", error))
        return FALSE;
    if (!state_find(name, &state) || (state != STATE_SENT && state != STATE_FAILED)) {
        g_set_error(error, REQUEST_ERROR, REQUEST_USAGE, "expected sent or failed");
        return FALSE;
    }
    if (!people_move(request, item, state, "a person looked", error))
        return FALSE;
    people_answer_state(request, state);
    return TRUE;
}

gboolean
people_status(Request *request, GError **error)
{
    Relay *relay = request->relay;
    GVariantBuilder accounts;
    guint64 jobs, commits;
    gint64 next_due;

    g_autoptr(GPtrArray) halts = halt_list(relay->db, error);

    if (halts == NULL || !queue_next_due(relay->db, &next_due, error))
        return FALSE;
    g_variant_builder_init(&accounts, G_VARIANT_TYPE("aa{sv}"));
    for (guint i = 0; i < request->config->accounts->len; i++) {
        const Account *account = g_ptr_array_index(request->config->accounts, i);
        guint counts[STATE_COUNT], held;

        if (!people_may_know(request, account->name))
            continue;
        if (!queue_count(relay->db, account->name, counts, error) ||
            !stats_count_held(relay->db, account->name, request->now, &held, error)) {
            g_variant_builder_clear(&accounts);
            return FALSE;
        }
        g_variant_builder_add_value(&accounts, view_account(account, counts, held));
    }
    writer_counts(relay->writer, &jobs, &commits);

    GVariantDict dict;
    g_variant_dict_init(&dict, NULL);
    g_variant_dict_insert(&dict, "version", "s", PACKAGE_VERSION);
    g_variant_dict_insert(&dict, "started", "x", relay->started);
    g_variant_dict_insert(&dict, "next_due", "x", next_due == G_MAXINT64 ? 0 : next_due);
    g_variant_dict_insert(&dict, "next_hop", "s", request->config->hop.target);
    g_variant_dict_insert(&dict, "jobs", "t", jobs);
    g_variant_dict_insert(&dict, "commits", "t", commits);
    g_variant_dict_insert_value(&dict, "accounts", g_variant_builder_end(&accounts));
    g_variant_dict_insert(&dict, "hold_target", "u", request->config->hold_target);
    g_variant_dict_insert_value(&dict, "notices_failed", notifier_view(request));
    g_variant_dict_insert_value(&dict, "mailboxes_failed", drafts_view(request));
    reload_describe(relay, &dict);
    g_variant_dict_insert_value(&dict, "halts", stop_view(request, halts));
    request->reply = g_variant_ref_sink(g_variant_dict_end(&dict));
    return TRUE;
}
