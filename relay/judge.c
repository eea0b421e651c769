#include "relay/judge.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "lib/address.h"
#include "lib/error.h"
#include "policy/trace.h"
#include "relay/handover.h"
#include "relay/likeness.h"
#include "store/history.h"

enum { HOUR = 3600, DAY = 24 * HOUR, WEEK = 7 * DAY };

static gboolean
lists_address(char *const *list, const char *address)
{
    return list != NULL && g_strv_contains((const char *const *)list, address);
}

static gboolean
is_own(const Account *account, const char *address)
{
    return lists_address(account->addresses, address) ||
           lists_address(account->senders, address);
}

/* What makes a message no message of this login (cases/README, row 2). The words reach the
 * agent, so they name the fault and no threshold (XF21). NULL: nothing. */
static char *
find_fault(const Config *config, const Account *account, const Item *item)
{
    const Extract *extract = item->extract;
    g_autofree char *sender = address_normalise(item->envelope->sender, NULL);

    if (sender == NULL || !lists_address(account->senders, sender))
        return g_strdup("the envelope sender is none this login may use");
    if (extract->malformed)
        return g_strdup(
            "a bare carriage return, a bare line feed or a zero byte in the message");
    if (extract->doubled[0] != NULL)
        return g_strdup_printf("the field %s stands more than once", extract->doubled[0]);
    if (extract->from[0] == NULL)
        return g_strdup("the message has no From with an address");
    if (g_strv_length(extract->from) != 1 ||
        !lists_address(account->senders, extract->from[0]))
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

static const ItemRecipient *
find_recipient(const GPtrArray *recipients, const char *normal)
{
    for (guint i = 0; i < recipients->len; i++) {
        const ItemRecipient *recipient = g_ptr_array_index(recipients, i);

        if (g_str_equal(recipient->normal, normal))
            return recipient;
    }
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
        if (find_recipient(item->recipients, normal) != NULL)
            continue;
        ItemRecipient *recipient = g_new0(ItemRecipient, 1);
        recipient->external = !lists_address(account->internal, address_domain(normal));
        recipient->normal = g_steal_pointer(&normal);
        g_ptr_array_add(item->recipients, recipient);
    }
    return NULL;
}

typedef struct {
    guint external, novel, external_novel, mentioned, lists, outside, hidden, lookalike;
} Tally;

/* Tells whether an inside recipient is one address for many; it is external when it leads
 * outside (XA11). */
static gboolean
follow_alias(const Config *config, const Account *account, ItemRecipient *recipient)
{
    AliasLead lead = {0};

    if (!recipient->external)
        aliases_follow(config->aliases, recipient->normal, account->internal, &lead);
    recipient->external |= lead.outside;
    return lead.many;
}

/* Who is known by himself is taken for nobody else. */
static gboolean
tally_likeness(Db *db, const Account *account, const char *address,
               const HistoryAddress *found, Tally *tally, GError **error)
{
    g_autofree char *like = NULL;

    if (!found->known && !likeness_find(db, account, address, &like, error))
        return FALSE;
    tally->lookalike += like != NULL;
    return TRUE;
}

/* What the aliases and the history say of each recipient. The human is known to the human. */
static gboolean
tally_recipients(Db *db, const Config *config, const Account *account, Item *item,
                 Tally *tally, GError **error)
{
    for (guint i = 0; i < item->recipients->len; i++) {
        ItemRecipient *recipient = g_ptr_array_index(item->recipients, i);
        gboolean self = lists_address(account->addresses, recipient->normal);
        HistoryAddress found = {0};
        gboolean takes_part = FALSE;
        gboolean many = follow_alias(config, account, recipient);

        if (!history_look_up(db, account->name, recipient->normal, &found, error) ||
            !tally_likeness(db, account, recipient->normal, &found, tally, error))
            return FALSE;
        if (item->conversation != 0 &&
            !history_takes_part(db, account->name, item->conversation, recipient->normal,
                                &takes_part, error))
            return FALSE;
        recipient->mentioned = found.mentioned && !self;
        recipient->known = (found.known || self) && !recipient->mentioned;
        recipient->outside = !takes_part && !(self && item->conversation != 0);
        tally->external += recipient->external;
        tally->novel += !recipient->known;
        tally->external_novel += recipient->external && !recipient->known;
        tally->mentioned += recipient->mentioned;
        tally->lists += many || found.list || lists_address(account->lists, recipient->normal);
        tally->outside += recipient->outside;
        tally->hidden += !lists_address(item->extract->to_cc, recipient->normal);
    }
    return TRUE;
}

static void
set_audience(Item *item, const Tally *tally)
{
    Facts *facts = &item->facts;

    facts_set(facts, FACT_RECIPIENTS, item->recipients->len);
    facts_set(facts, FACT_EXTERNAL, tally->external);
    facts_set(facts, FACT_NOVEL, tally->novel);
    facts_set(facts, FACT_EXTERNAL_NOVEL, tally->external_novel);
    facts_set(facts, FACT_KNOWN, item->recipients->len - tally->novel);
    facts_set(facts, FACT_FROM_BODY, tally->mentioned);
    facts_set(facts, FACT_LISTS, tally->lists);
    facts_set(facts, FACT_IN_THREAD, item->conversation != 0);
    facts_set(facts, FACT_MINE, item->conversation != 0);
    facts_set(facts, FACT_OUTSIDE_THREAD, tally->outside);
    facts_set(facts, FACT_HIDDEN, tally->hidden);
    facts_set(facts, FACT_LOOKALIKE, tally->lookalike);
}

/* Whom answers reach besides: the addresses the message asks to send them to, and people whom
 * an invitation names without the message being for them (XB22, XB23). */
static guint
count_diverted(const Account *account, const Item *item)
{
    const Extract *extract = item->extract;
    guint count = 0;

    for (guint i = 0; extract->diverted[i] != NULL; i++)
        count += !is_own(account, extract->diverted[i]);
    for (guint i = 0; extract->attendees[i] != NULL; i++)
        count += !is_own(account, extract->attendees[i]) &&
                 find_recipient(item->recipients, extract->attendees[i]) == NULL;
    return count;
}

static void
set_content(const Account *account, Item *item, const Tally *tally)
{
    const Extract *extract = item->extract;
    Facts *facts = &item->facts;
    guint64 bytes = 0;
    guint header_only = 0;

    for (guint i = 0; i < extract->parts->len; i++)
        bytes += ((const ExtractPart *)g_ptr_array_index(extract->parts, i))->size;
    for (guint i = 0; extract->to_cc[i] != NULL; i++)
        header_only += find_recipient(item->recipients, extract->to_cc[i]) == NULL;

    facts_set(facts, FACT_OPAQUE, extract->opaque[0] != NULL);
    facts_set(facts, FACT_SIZE, (gint64)item->size);
    if (extract->capped)
        return; /* what was not read to its end can be counted by nobody */
    facts_set(facts, FACT_ATTACHMENTS, extract->parts->len);
    facts_set(facts, FACT_ATTACHMENT_BYTES, (gint64)MIN(bytes, (guint64)G_MAXINT64));
    facts_set(facts, FACT_FORWARD,
              extract->forward || (extract->quoted && tally->outside > 0));
    facts_set(facts, FACT_DIVERTED, count_diverted(account, item));
    facts_set(facts, FACT_HEADER_ONLY, header_only);
}

/* Distinct recipients of the last day, this message's included: forty single mails are an
 * audience of forty (XB14). */
static gboolean
count_fanout(Db *db, Item *item, gint64 now, GError **error)
{
    g_autoptr(GHashTable) day = queue_fanout(db, item->account, now - DAY, item->id, error);

    if (day == NULL)
        return FALSE;
    guint fanout = g_hash_table_size(day);
    for (guint i = 0; i < item->recipients->len; i++) {
        const ItemRecipient *recipient = g_ptr_array_index(item->recipients, i);

        fanout += !g_hash_table_contains(day, recipient->normal);
    }
    facts_set(&item->facts, FACT_FANOUT_DAY, fanout);
    return TRUE;
}

static gboolean
count_to_recipients(Db *db, Item *item, gint64 now, GError **error)
{
    guint most = 0;

    for (guint i = 0; i < item->recipients->len; i++) {
        const ItemRecipient *recipient = g_ptr_array_index(item->recipients, i);
        guint count;

        if (!queue_count_automatic(db, item->account, now - WEEK, 0, recipient->normal,
                                   item->id, &count, error))
            return FALSE;
        most = MAX(most, count);
    }
    facts_set(&item->facts, FACT_AUTO_RECIPIENT, most);
    return TRUE;
}

/* What has left, or will, without a person. Outside a conversation there is none to count in.
 */
static gboolean
count_sends(Db *db, Item *item, gint64 now, GError **error)
{
    const char *account = item->account;
    guint conversation = 0, hour, day;
    gboolean pending = FALSE, locked = FALSE;

    if (item->conversation != 0 &&
        (!queue_count_automatic(db, account, 0, item->conversation, NULL, item->id,
                                &conversation, error) ||
         !queue_has_pending(db, account, item->conversation, item->id, &pending, error)))
        return FALSE;
    if (!handover_find(db, item, &locked, error) ||
        !queue_count_automatic(db, account, now - HOUR, 0, NULL, item->id, &hour, error) ||
        !queue_count_automatic(db, account, now - DAY, 0, NULL, item->id, &day, error))
        return FALSE;
    facts_set(&item->facts, FACT_AUTO_SENDS, conversation);
    facts_set(&item->facts, FACT_SENT_HOUR, hour);
    facts_set(&item->facts, FACT_SENT_DAY, day);
    facts_set(&item->facts, FACT_PENDING, pending);
    facts_set(&item->facts, FACT_LOCKED, locked);
    return count_to_recipients(db, item, now, error) && count_fanout(db, item, now, error);
}

/* Two machines that answer each other never end (RFC 3834, 2). Any id that the message names
 * counts: which of them it answers, the agent says. */
static gboolean
find_loop(Db *db, Item *item, GError **error)
{
    char **parents = item->extract->parents;
    gboolean loop = item->extract->automatic;
    gint64 conversation;

    for (guint i = 0; !loop && parents[i] != NULL && i < HISTORY_PARENTS_MAX; i++) {
        if (!history_trace(db, item->account, parents[i], &conversation, &loop, error))
            return FALSE;
    }
    facts_set(&item->facts, FACT_LOOP, loop);
    return TRUE;
}

static void
declare(Item *item)
{
    const char *class =
        item->claims ? g_hash_table_lookup(item->claims, "agent-action") : NULL;

    g_strlcpy(item->facts.declared, class ? class : "", sizeof item->facts.declared);
}

static gboolean
gather_facts(Db *db, const Config *config, const Account *account, Item *item, gint64 now,
             GError **error)
{
    Tally tally = {0};

    if (!history_conversation(db, account->name, (const char *const *)item->extract->parents,
                              &item->conversation, error) ||
        !tally_recipients(db, config, account, item, &tally, error))
        return FALSE;
    set_audience(item, &tally);
    set_content(account, item, &tally);
    declare(item);
    return find_loop(db, item, error) && count_sends(db, item, now, error);
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
    item->line = 0;
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
    if (!gather_facts(db, config, account, item, now, error) || !roll(&dice, error))
        return FALSE;

    judge_lend(item, &facts, &lent);
    g_autoptr(Trace) trace = policy_explain(account->policy, &facts, account->mode, dice);
    Verdict *verdict = trace->verdict;
    g_free(item->lines);
    item->lines = list_lines(trace);
    item->tier = verdict->tier;
    item->approvals = verdict->approvals;
    item->line = verdict->line;
    g_free(item->reason);
    item->reason = g_steal_pointer(&verdict->reason);
    item->due = item->tier == TIER_DELAY ? now + verdict->wait : 0;
    return TRUE;
}
