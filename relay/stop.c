#include "relay/stop.h"

#include <string.h>

#include "relay/people.h"
#include "relay/record.h"
#include "relay/schedule.h"
#include "store/approval.h"

enum { MAILED_WHY_LIMIT = 200 };

static gboolean
conflict(const char *account, const char *what, GError **error)
{
    g_set_error(error, REQUEST_ERROR, REQUEST_CONFLICT, "%s is %s",
                *account != '\0' ? account : "everything", what);
    return FALSE;
}

/* meant: the account that a reason for everything is the name of; "" otherwise. */
static void
set_reply(Request *request, const char *account, const char *halt, guint held,
          const char *meant)
{
    GVariantDict dict;

    g_variant_dict_init(&dict, NULL);
    g_variant_dict_insert(&dict, "account", "s", account);
    g_variant_dict_insert(&dict, "halt", "s", halt);
    g_variant_dict_insert(&dict, "held", "u", held);
    g_variant_dict_insert(&dict, "meant", "s", meant);
    request->reply = g_variant_ref_sink(g_variant_dict_end(&dict));
}

/* Voids the item's approvals. What leaves by itself or is approved waits for a person again;
 * of what is delayed, with overdue only what should have left by now. */
static gboolean
take_authority(Request *request, const Item *item, gboolean overdue, const char *why,
               guint *held, GError **error)
{
    Db *db = request->relay->db;
    Move done = MOVE_REFUSED;

    if (!approval_void(db, item->id, request->now, error))
        return FALSE;
    if (item->state != STATE_APPROVED &&
        (item->state != STATE_DELAYED || (overdue && item->due > request->now)))
        return TRUE;
    if (!queue_move(db, item->id, item->state, STATE_HELD, request->who, why, request->now,
                    &done, error))
        return FALSE;
    *held += done == MOVE_DONE;
    return TRUE;
}

/* The same for every item of the account ("": of all) that may have authority. One that is
 * being sent finds out when it asks for it. */
static gboolean
take_all(Request *request, const char *account, gboolean overdue, const char *why,
         guint *held_out, GError **error)
{
    static const State states[] = {STATE_APPROVED, STATE_DELAYED, STATE_HELD, STATE_DRAFT,
                                   STATE_SENDING};
    Db *db = request->relay->db;

    *held_out = 0;
    for (guint i = 0; i < G_N_ELEMENTS(states); i++) {
        g_autoptr(GPtrArray) ids = queue_in_state(db, states[i], error);

        for (guint j = 0; ids != NULL && j < ids->len; j++) {
            g_autoptr(Item) item = NULL;

            if (!schedule_load(db, g_ptr_array_index(ids, j), &item, error))
                return FALSE;
            if (item != NULL && (*account == '\0' || g_str_equal(account, item->account)) &&
                !take_authority(request, item, overdue, why, held_out, error))
                return FALSE;
        }
        if (ids == NULL)
            return FALSE;
    }
    return TRUE;
}

/* everything: "" is one, too. */
static gboolean
is_account(const Request *request, const char *account, gboolean everything, GError **error)
{
    if (*account == '\0' ? everything : config_account(request->config, account) != NULL)
        return TRUE;
    g_set_error(error, REQUEST_ERROR, REQUEST_NOT_FOUND, "there is no account %s", account);
    return FALSE;
}

static gboolean
halt(Request *request, HaltKind kind, GError **error)
{
    const char *account = request_text(request, "account", error);
    const char *why = account ? request_line(request, "why", error) : NULL;
    gboolean set;
    guint held = 0;

    if (why == NULL || !is_account(request, account, kind == HALT_STOPPED, error))
        return FALSE;
    const Halt wanted = {.kind = kind,
                         .account = (char *)account,
                         .why = (char *)why,
                         .who = request->who,
                         .since = request->now};
    g_autofree char *reason = halt_describe(&wanted);
    if (!halt_set(request->relay->db, &wanted, &set, error))
        return FALSE;
    if (!set)
        return conflict(account, halt_kind_name(kind), error);
    if (kind != HALT_STOPPED && !take_all(request, account, FALSE, reason, &held, error))
        return FALSE;
    request->said = g_strdup_printf("%s %s by %s", *account != '\0' ? account : "everything",
                                    reason, request->who);
    gboolean named = *account == '\0' && config_account(request->config, why) != NULL;
    set_reply(request, account, halt_kind_name(kind), held, named ? why : "");
    return TRUE;
}

gboolean
stop_begin(Request *request, GError **error)
{
    return halt(request, HALT_STOPPED, error);
}

gboolean
stop_suspend(Request *request, GError **error)
{
    return halt(request, HALT_SUSPENDED, error);
}

gboolean
stop_revoke(Request *request, GError **error)
{
    return halt(request, HALT_REVOKED, error);
}

static gboolean
lifted(Request *request, const char *account, guint held)
{
    request->said = g_strdup_printf("%s is on again, by %s",
                                    *account != '\0' ? account : "everything", request->who);
    set_reply(request, account, "", held, "");
    request->wake = TRUE;
    return TRUE;
}

gboolean
stop_end(Request *request, GError **error)
{
    const char *account = request_text(request, "account", error);
    gboolean done;
    guint held;

    if (account == NULL || !halt_lift(request->relay->db, HALT_STOPPED, account, request->who,
                                      request->now, &done, error))
        return FALSE;
    if (!done)
        return is_account(request, account, TRUE, error) &&
               conflict(account, "not stopped", error);
    return take_all(request, account, TRUE, "it was stopped meanwhile", &held, error) &&
           lifted(request, account, held);
}

gboolean
stop_resume(Request *request, GError **error)
{
    const char *account = request_text(request, "account", error);
    Db *db = request->relay->db;
    gboolean suspended, revoked;

    if (account == NULL ||
        !halt_lift(db, HALT_SUSPENDED, account, request->who, request->now, &suspended,
                   error) ||
        !halt_lift(db, HALT_REVOKED, account, request->who, request->now, &revoked, error))
        return FALSE;
    /* One that the configuration has no more may still be switched off. */
    if (suspended || revoked)
        return lifted(request, account, 0);
    return is_account(request, account, FALSE, error) &&
           conflict(account, "neither suspended nor revoked", error);
}

gboolean
stop_judge(Db *db, Item *item, GError **error)
{
    /* Only rules have lines: without one it is no message of this login. */
    gboolean foreign = item->tier == TIER_REFUSE && item->line == 0;
    g_autoptr(Halt) found = NULL;

    if (!halt_find(db, item->account, &found, error))
        return FALSE;
    if (found == NULL || foreign)
        return TRUE;
    gboolean refused = found->kind == HALT_REVOKED;
    item->tier = refused ? TIER_REFUSE : TIER_HOLD;
    item_set_line(item, 0, NULL);
    item->due = 0;
    g_free(item->reason);
    item->reason =
        refused ? g_strdup("this login may not send any more") : halt_describe(found);
    return TRUE;
}

/* What follows the word stop; NULL when the subject does not begin with it. */
static const char *
after_stop(const char *subject)
{
    const char *word = subject + strspn(subject, " \t");

    if (g_ascii_strncasecmp(word, "stop", 4) != 0 ||
        g_unichar_isalnum(g_utf8_get_char(word + 4)))
        return NULL;
    return word + 4 + strspn(word + 4, " \t:,.!-");
}

static gboolean
is_addressed(const Account *account, char *const *recipients)
{
    for (char **address = account->stop_addresses; *address != NULL; address++)
        if (g_strv_contains((const char *const *)recipients, *address))
            return TRUE;
    return FALSE;
}

gboolean
stop_observe(Request *request, const Account *account, char *const *recipients,
             gboolean *stopped_out, GError **error)
{
    const char *rest = after_stop(request->item->extract->subject);
    const char *login = request_text(request, "login", error);
    gboolean set;

    if (login == NULL)
        return FALSE;
    *stopped_out = rest != NULL && is_addressed(account, recipients);
    if (!*stopped_out)
        return TRUE;
    g_autofree char *cut =
        g_utf8_substring(rest, 0, MIN(g_utf8_strlen(rest, -1), MAILED_WHY_LIMIT));
    g_autofree char *who = g_strdup_printf("human login %s", login);
    const Halt wanted = {.kind = HALT_STOPPED,
                         .account = account->name,
                         .why = *cut != '\0' ? cut : (char *)"by mail",
                         .who = who,
                         .since = request->now};
    record_make_firm(request->relay);
    if (!halt_set(request->relay->db, &wanted, &set, error))
        return FALSE;
    request->said = g_strdup_printf("%s stopped by mail of %s", account->name, who);
    return TRUE;
}

gboolean
stop_allows(Request *request, const char *account, GError **error)
{
    g_autoptr(Halt) found = NULL;

    if (!halt_find(request->relay->db, account, &found, error))
        return FALSE;
    if (found == NULL)
        return TRUE;
    g_autofree char *reason = halt_describe(found);
    return conflict(found->account, reason, error);
}

GVariant *
stop_view(const Request *request, const GPtrArray *halts)
{
    GVariantBuilder builder;

    g_variant_builder_init(&builder, G_VARIANT_TYPE("aa{sv}"));
    for (guint i = 0; i < halts->len; i++) {
        const Halt *found = g_ptr_array_index(halts, i);
        GVariantDict dict;

        if (*found->account != '\0' && !people_may_know(request, found->account))
            continue;
        g_variant_dict_init(&dict, NULL);
        g_variant_dict_insert(&dict, "account", "s", found->account);
        g_variant_dict_insert(&dict, "halt", "s", halt_kind_name(found->kind));
        g_variant_dict_insert(&dict, "why", "s", found->why);
        g_variant_dict_insert(&dict, "who", "s", found->who);
        g_variant_dict_insert(&dict, "since", "x", found->since);
        g_variant_builder_add_value(&builder, g_variant_dict_end(&dict));
    }
    return g_variant_builder_end(&builder);
}
