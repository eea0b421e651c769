#include "relay/judge.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "lib/address.h"
#include "lib/error.h"
#include "policy/trace.h"
#include "relay/evidence.h"

/* What makes a message no message of this login (cases/README, row 2). The words reach the
 * agent, so they name the fault and no threshold (XF21). NULL: nothing. */
static char *
find_fault(const Config *config, const Account *account, const Item *item)
{
    const Extract *extract = item->extract;
    g_autofree char *sender = address_normalise(item->envelope->sender, NULL);

    if (sender == NULL || !g_strv_contains((const char *const *)account->senders, sender))
        return g_strdup("the envelope sender is none this login may use");
    if (extract->malformed)
        return g_strdup(
            "a bare carriage return, a bare line feed or a zero byte in the message");
    if (extract->doubled[0] != NULL)
        return g_strdup_printf("the field %s stands more than once", extract->doubled[0]);
    if (extract->from[0] == NULL)
        return g_strdup("the message has no From whose addresses can be read");
    if (g_strv_length(extract->from) != 1 ||
        !g_strv_contains((const char *const *)account->senders, extract->from[0]))
        return g_strdup("the From address is none this login may use");
    if (item->size > config->size_limit)
        return g_strdup("the message is too large");
    return NULL;
}

/* The written address decides; the mail server may not make another domain of it. */
static char *
find_recipient_fault(const EnvelopeRecipient *recipient, char **normal_out)
{
    AddressProblem problem;
    g_autofree char *normal = address_normalise(recipient->address, &problem);

    if (normal == NULL)
        return g_strdup_printf("a recipient address is refused: %s",
                               address_problem_text(problem));
    if (recipient->resolved != NULL && *recipient->resolved != '\0') {
        g_autofree char *resolved = address_normalise(recipient->resolved, NULL);

        if (resolved == NULL || !g_str_equal(address_domain(resolved), address_domain(normal)))
            return g_strdup("a recipient address leads to another domain than it names");
    }
    *normal_out = g_steal_pointer(&normal);
    return NULL;
}

/* The distinct recipients as normal forms; a fault instead when one cannot be had. */
static char *
collect_recipients(const Account *account, Item *item)
{
    GPtrArray *written = item->envelope->recipients;

    if (written->len == 0)
        return g_strdup("the message has no recipient");
    for (guint i = 0; i < written->len; i++) {
        g_autofree char *normal = NULL;
        char *fault = find_recipient_fault(g_ptr_array_index(written, i), &normal);

        if (fault != NULL)
            return fault;
        if (item_find_recipient(item, normal) != NULL)
            continue;
        ItemRecipient *recipient = g_new0(ItemRecipient, 1);
        recipient->external =
            !g_strv_contains((const char *const *)account->internal, address_domain(normal));
        recipient->normal = g_steal_pointer(&normal);
        g_ptr_array_add(item->recipients, recipient);
    }
    return NULL;
}

/* A login that may only answer (D26) starts nothing, and brings nobody in. */
static gboolean
is_reply(const Item *item)
{
    return item->facts.values[FACT_MINE].number != 0 &&
           item->facts.values[FACT_OUTSIDE_THREAD].number == 0;
}

static gboolean
roll(guint64 *dice_out, GError **error)
{
    if (getrandom(dice_out, sizeof *dice_out, 0) == (ssize_t)sizeof *dice_out)
        return TRUE;
    g_set_error(error, EXEAT_ERROR, ERROR_TEMP, "no random numbers: %s", g_strerror(errno));
    return FALSE;
}

gboolean
judge_has_facts(const Item *item)
{
    return item->facts.values[FACT_RECIPIENTS].known;
}

void
judge_lend(const Item *item, Facts *facts_out, const char ***lent_out)
{
    const char **recipients = g_new0(const char *, item->recipients->len + 1);
    Facts facts = item->facts;

    for (guint i = 0; i < item->recipients->len; i++) {
        const ItemRecipient *recipient = g_ptr_array_index(item->recipients, i);

        recipients[i] = recipient->normal;
    }
    facts.recipients = recipients;
    facts.subject = item->extract->subject;
    facts.text = item->extract->text;
    facts.html = item->extract->html;
    *facts_out = facts;
    *lent_out = recipients;
}

/* Every line of the policy and whether it applied (A21): "standard: 2 no, 3 yes; floor: 1 no".
 */
static char *
list_lines(const Trace *trace)
{
    static const char *const truths[] = {
        [TRUTH_NO] = "no", [TRUTH_UNKNOWN] = "unknown", [TRUTH_YES] = "yes"};
    g_autoptr(GString) list = g_string_new(NULL);
    const char *file = NULL;

    for (guint i = 0; i < trace->lines->len; i++) {
        const TraceLine *line = g_ptr_array_index(trace->lines, i);
        gboolean same = g_strcmp0(file, line->file) == 0;
        g_autofree char *name = g_path_get_basename(line->file);

        if (!same)
            g_string_append_printf(list, "%s%s:", i > 0 ? "; " : "", name);
        g_string_append_printf(list, "%s %u %s", same ? "," : "", line->line,
                               truths[line->truth]);
        file = line->file;
    }
    return g_string_free(g_steal_pointer(&list), FALSE);
}

static void
refuse(Item *item, char *fault)
{
    item->tier = TIER_REFUSE;
    item_set_line(item, 0, NULL);
    item->due = 0;
    g_free(item->reason);
    item->reason = fault;
}

gboolean
judge_item(Db *db, const Config *config, const Account *account, Item *item, gint64 now,
           GError **error)
{
    guint64 dice;
    Facts facts;
    g_autofree const char **lent = NULL;
    char *fault = find_fault(config, account, item);

    memset(&item->facts, 0, sizeof item->facts);
    g_ptr_array_set_size(item->recipients, 0);
    item->conversation = 0;
    g_free(item->policy);
    item->policy = g_strdup(policy_version(account->policy));
    if (fault == NULL)
        fault = collect_recipients(account, item);
    if (fault != NULL) {
        refuse(item, fault);
        return TRUE;
    }
    if (!evidence_gather(db, config, account, item, now, error) || !roll(&dice, error))
        return FALSE;

    if (config_only_replies(account, item->login) && !is_reply(item)) {
        memset(&item->facts, 0, sizeof item->facts); /* no rule was asked */
        refuse(item, g_strdup("this login may only answer, to those who take part"));
        return TRUE;
    }
    judge_lend(item, &facts, &lent);
    g_autoptr(Trace) trace = policy_explain(account->policy, &facts, account->mode, dice);
    Verdict *verdict = trace->verdict;
    g_free(item->lines);
    item->lines = list_lines(trace);
    item->tier = verdict->tier;
    item->approvals = verdict->approvals;
    item_set_line(item, verdict->line, verdict->file);
    g_free(item->reason);
    item->reason = g_steal_pointer(&verdict->reason);
    item->due = item->tier == TIER_DELAY ? now + verdict->wait : 0;
    return TRUE;
}
