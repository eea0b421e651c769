#include "relay/evidence.h"

#include <string.h>

#include "lib/address.h"
#include "relay/guard.h"
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

typedef struct {
    guint external, novel, external_novel, mentioned, lists, outside, hidden, lookalike;
    gint64 thread_days, contact_days;
    gboolean mine; /* the human wrote in the conversation */
} Tally;

/* Whole days from then to now, when there was a then (A29). */
static gint64
count_days(gboolean ever, gint64 then, gint64 now)
{
    return ever ? CLAMP((now - then) / DAY, 0, FACT_DAYS_MAX) : FACT_DAYS_MAX;
}

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
tally_likeness(Likeness *likeness, const char *address, const HistoryAddress *found,
               Tally *tally, GError **error)
{
    g_autofree char *like = NULL;

    if (!found->known && !likeness_find(likeness, address, &like, error))
        return FALSE;
    tally->lookalike += like != NULL;
    return TRUE;
}

static void
tally_ages(const HistoryAddress *found, gboolean self, gint64 now, Tally *tally)
{
    gint64 thread = count_days(found->takes_part, found->written, now);
    gint64 contact = count_days(found->known, MAX(found->last, found->vouched), now);

    tally->thread_days = MIN(tally->thread_days, thread);
    if (!self)
        tally->contact_days = MAX(tally->contact_days, contact);
}

/* What the aliases and the history say of each recipient. The human is known to the human. */
static gboolean
tally_recipients(Db *db, const Config *config, const Account *account, Item *item, gint64 now,
                 Tally *tally, GError **error)
{
    g_autoptr(Likeness) likeness = likeness_new(db, account);

    tally->thread_days = FACT_DAYS_MAX;
    for (guint i = 0; i < item->recipients->len; i++) {
        ItemRecipient *recipient = g_ptr_array_index(item->recipients, i);
        gboolean self = lists_address(account->addresses, recipient->normal);
        HistoryAddress found = {0};
        gboolean many = follow_alias(config, account, recipient);

        if (!history_look_up(db, account->name, recipient->normal, item->conversation, &found,
                             error) ||
            !tally_likeness(likeness, recipient->normal, &found, tally, error))
            return FALSE;
        if (found.forged && !guard_report(db, account->name, recipient->normal, now, error))
            return FALSE;
        recipient->mentioned = found.mentioned && !self;
        recipient->known = (found.known || self) && !recipient->mentioned;
        recipient->outside = !found.takes_part && !(self && tally->mine);
        tally->external += recipient->external;
        tally->novel += !recipient->known;
        tally->external_novel += recipient->external && !recipient->known;
        tally->mentioned += recipient->mentioned;
        tally->lists += many || found.list || lists_address(account->lists, recipient->normal);
        tally->outside += recipient->outside;
        tally->hidden += !lists_address(item->extract->to_cc, recipient->normal);
        tally_ages(&found, self, now, tally);
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
    facts_set(facts, FACT_IN_THREAD, tally->mine);
    facts_set(facts, FACT_MINE, tally->mine);
    facts_set(facts, FACT_OUTSIDE_THREAD, tally->outside);
    facts_set(facts, FACT_THREAD_DAYS, tally->thread_days);
    facts_set(facts, FACT_CONTACT_DAYS, tally->contact_days);
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
                 item_find_recipient(item, extract->attendees[i]) == NULL;
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
        header_only += item_find_recipient(item, extract->to_cc[i]) == NULL;

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
    guint fanout;

    if (!queue_count_reached(db, item, now - DAY, &fanout, error))
        return FALSE;
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

/* What has left, or will, without a person. A conversation in which the human never wrote has
 * its count, too: two machines stop there as well (B12). */
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

static void
declare(Item *item)
{
    const char *class =
        item->claims ? g_hash_table_lookup(item->claims, "agent-action") : NULL;

    g_strlcpy(item->facts.declared, class ? class : "", sizeof item->facts.declared);
}

gboolean
evidence_gather(Db *db, const Config *config, const Account *account, Item *item, gint64 now,
                GError **error)
{
    Tally tally = {0};
    gboolean answers_machine = FALSE;

    if (!history_conversation(db, account->name, (const char *const *)item->extract->parents,
                              &item->conversation, &tally.mine, &answers_machine, error) ||
        !tally_recipients(db, config, account, item, now, &tally, error))
        return FALSE;
    set_audience(item, &tally);
    set_content(account, item, &tally);
    declare(item);
    /* Two machines that answer each other never end (RFC 3834, 2). Any id that the message
     * names counts: which of them it answers, the agent says. */
    facts_set(&item->facts, FACT_LOOP, item->extract->automatic || answers_machine);
    return count_sends(db, item, now, error);
}
