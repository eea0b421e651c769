#include "relay/views.h"

#include <string.h>

#include "lib/address.h"
#include "lib/claims.h"

/* What a line of a list shows: so many recipients, so many bytes of each, and of a text: five
 * hundred lines must fit into an answer, whatever an agent submits. */
enum { ADDRESSES_MOST = 3, ADDRESS_MOST = 320, TEXT_MOST = 300 };

/* The record of a recipient as written; NULL for a refused message, whose recipients were not
 * judged. */
static const ItemRecipient *
recipient_of(const Item *item, const char *written)
{
    g_autofree char *normal = address_normalise(written, NULL);

    for (guint i = 0; normal != NULL && i < item->recipients->len; i++) {
        const ItemRecipient *recipient = g_ptr_array_index(item->recipients, i);

        if (g_str_equal(recipient->normal, normal))
            return recipient;
    }
    return NULL;
}

/* 0 to 3: never written to and external comes first, so that no stranger hides among many
 * (XD7). */
static guint
concern(GHashTable *judged, const EnvelopeRecipient *written)
{
    g_autofree char *normal = address_normalise(written->address, NULL);
    const ItemRecipient *recipient = normal ? g_hash_table_lookup(judged, normal) : NULL;

    if (recipient == NULL)
        return 3;
    return (recipient->known ? 0 : 2) + (recipient->external ? 1 : 0);
}

/* Envelope recipients in order of concern, else in the client's. */
static GPtrArray *
by_concern(const Item *item)
{
    const GPtrArray *written = item->envelope->recipients;
    GPtrArray *sorted = g_ptr_array_sized_new(written->len);
    g_autofree guint *levels = g_new(guint, written->len);
    g_autoptr(GHashTable) judged = g_hash_table_new(g_str_hash, g_str_equal);

    for (guint i = 0; i < item->recipients->len; i++) {
        ItemRecipient *recipient = g_ptr_array_index(item->recipients, i);

        g_hash_table_insert(judged, recipient->normal, recipient);
    }
    for (guint i = 0; i < written->len; i++)
        levels[i] = concern(judged, g_ptr_array_index(written, i));
    for (guint level = 4; level-- > 0;)
        for (guint i = 0; i < written->len; i++)
            if (levels[i] == level)
                g_ptr_array_add(sorted, g_ptr_array_index(written, i));
    return sorted;
}

/* Addresses may hold any bytes but those of a line end; GVariant strings are UTF-8. */
static void
insert_text(GVariantDict *dict, const char *key, const char *text)
{
    g_autofree char *valid = g_utf8_make_valid(text ? text : "", -1);

    g_variant_dict_insert(dict, key, "s", valid);
}

static GVariant *
valid_texts(char *const *texts)
{
    GVariantBuilder builder;

    g_variant_builder_init(&builder, G_VARIANT_TYPE("as"));
    for (guint i = 0; texts[i] != NULL; i++) {
        g_autofree char *valid = g_utf8_make_valid(texts[i], -1);

        g_variant_builder_add(&builder, "s", valid);
    }
    return g_variant_builder_end(&builder);
}

/* The recipients of most concern and how many more: a list must stay short whatever an agent
 * submits. */
static void
insert_addresses(GVariantDict *dict, const Item *item)
{
    g_autoptr(GPtrArray) sorted = by_concern(item);
    GVariantBuilder builder;

    g_variant_builder_init(&builder, G_VARIANT_TYPE("as"));
    for (guint i = 0; i < MIN(sorted->len, ADDRESSES_MOST); i++) {
        const EnvelopeRecipient *recipient = g_ptr_array_index(sorted, i);
        g_autofree char *cut = g_strndup(recipient->address, ADDRESS_MOST);
        g_autofree char *valid = g_utf8_make_valid(cut, -1);

        g_variant_builder_add(&builder, "s", valid);
    }
    g_variant_dict_insert_value(dict, "to", g_variant_builder_end(&builder));
    g_variant_dict_insert(dict, "more", "u", sorted->len - MIN(sorted->len, ADDRESSES_MOST));
}

/* With a mark where it was cut. */
static void
insert_cut(GVariantDict *dict, const char *key, const char *text)
{
    g_autofree char *cut = g_strndup(text, TEXT_MOST);
    g_autofree char *marked = g_strconcat(cut, strlen(text) > TEXT_MOST ? "…" : "", NULL);

    insert_text(dict, key, marked);
}

static void
insert_line(GVariantDict *dict, const Item *item)
{
    insert_text(dict, "id", item->id);
    insert_text(dict, "account", item->account);
    insert_text(dict, "state", state_name(item->state));
    insert_text(dict, "tier", tier_name(item->tier));
    insert_cut(dict, "subject", item->extract->subject);
    insert_text(dict, "reason", item->reason);
    g_variant_dict_insert(dict, "line", "u", item->line);
    insert_text(dict, "file", item->file);
    g_variant_dict_insert(dict, "created", "x", item->created);
    g_variant_dict_insert(dict, "due", "x", item->due);
    g_variant_dict_insert(dict, "expires", "x", item->expires);
    insert_addresses(dict, item);
}

GVariant *
view_item_line(const Item *item)
{
    GVariantDict dict;

    g_variant_dict_init(&dict, NULL);
    insert_line(&dict, item);
    insert_cut(&dict, "why", item->why);
    insert_cut(&dict, "answer", item->answer);
    return g_variant_dict_end(&dict);
}

GVariant *
view_damaged_line(const char *id)
{
    g_autoptr(Item) item = item_new();
    GVariantDict dict;

    g_free(item->id);
    item->id = g_strdup(id);
    g_variant_dict_init(&dict, NULL);
    insert_line(&dict, item);
    insert_text(&dict, "state", "damaged");
    insert_text(&dict, "reason", "its record cannot be read");
    return g_variant_dict_end(&dict);
}

static GVariant *
view_sighting(const HistorySighting *sighting)
{
    GVariantDict dict;

    g_variant_dict_init(&dict, NULL);
    if (sighting->when != 0) {
        insert_text(&dict, "message", sighting->message);
        insert_text(&dict, "sender", sighting->sender);
        g_variant_dict_insert(&dict, "when", "x", sighting->when);
    }
    return g_variant_dict_end(&dict);
}

static void
insert_reason(GVariantDict *dict, const Reason *reason)
{
    const HistoryStory *story = reason->story;

    g_variant_dict_insert(dict, "list", "b", reason->list);
    g_variant_dict_insert(dict, "times", "x", story->address.times);
    g_variant_dict_insert(dict, "first", "x", story->address.first);
    g_variant_dict_insert(dict, "last", "x", story->address.last);
    g_variant_dict_insert(dict, "vouched", "x", story->address.vouched);
    insert_text(dict, "voucher", story->voucher);
    g_variant_dict_insert_value(dict, "first_named", view_sighting(&story->first));
    g_variant_dict_insert_value(dict, "last_named", view_sighting(&story->last));
    g_variant_dict_insert(dict, "forgotten", "b",
                          !story->address.known && story->letters->len > 0);
    insert_text(dict, "looks_like", reason->like);
}

static guint
place_of(const Item *item, const EnvelopeRecipient *written)
{
    guint place = 0;

    g_ptr_array_find(item->envelope->recipients, written, &place);
    return place;
}

/* What became of the message for this recipient, as far as the next hop said; "" before. */
static const char *
outcome_of(const Item *item, guint place, const char **answer_out)
{
    guint kind = item_reply(item, place, answer_out) / 100;

    if (kind == 5)
        return "refused";
    if (item->state == STATE_SENT)
        return kind == 2 ? "accepted" : "";
    return kind == 4 ? "put off" : "";
}

static GVariant *
view_recipient(const Item *item, const EnvelopeRecipient *written, GHashTable *reasons)
{
    const ItemRecipient *recipient = recipient_of(item, written->address);
    const char *answer;
    const Reason *reason = recipient ? g_hash_table_lookup(reasons, recipient->normal) : NULL;
    GVariantDict dict;

    g_variant_dict_init(&dict, NULL);
    insert_text(&dict, "address", written->address);
    insert_text(&dict, "normal", recipient ? recipient->normal : "");
    g_variant_dict_insert_value(&dict, "parameters", valid_texts(written->parameters));
    g_variant_dict_insert(&dict, "known", "b", recipient && recipient->known);
    g_variant_dict_insert(&dict, "external", "b", recipient == NULL || recipient->external);
    g_variant_dict_insert(&dict, "mentioned", "b", recipient && recipient->mentioned);
    g_variant_dict_insert(&dict, "outside", "b", recipient == NULL || recipient->outside);
    insert_text(&dict, "outcome", outcome_of(item, place_of(item, written), &answer));
    insert_text(&dict, "answer", answer);
    if (reason != NULL)
        insert_reason(&dict, reason);
    return g_variant_dict_end(&dict);
}

static GVariant *
view_recipients(const Item *item, GHashTable *reasons)
{
    g_autoptr(GPtrArray) sorted = by_concern(item);
    GVariantBuilder builder;

    g_variant_builder_init(&builder, G_VARIANT_TYPE("aa{sv}"));
    for (guint i = 0; i < sorted->len; i++)
        g_variant_builder_add_value(
            &builder, view_recipient(item, g_ptr_array_index(sorted, i), reasons));
    return g_variant_builder_end(&builder);
}

static void
insert_facts(GVariantDict *dict, const Facts *facts)
{
    GVariantDict known;
    GVariantBuilder unknown;

    g_variant_dict_init(&known, NULL);
    g_variant_builder_init(&unknown, G_VARIANT_TYPE("as"));
    for (Fact fact = 0; fact < FACT_COUNT; fact++) {
        const FactValue *value = &facts->values[fact];

        if (!value->known)
            g_variant_builder_add(&unknown, "s", fact_name(fact));
        else if (fact_kind(fact) == FACT_KIND_FLAG)
            g_variant_dict_insert(&known, fact_name(fact), "b", value->number != 0);
        else
            g_variant_dict_insert(&known, fact_name(fact), "x", value->number);
    }
    g_variant_dict_insert_value(dict, "facts", g_variant_dict_end(&known));
    g_variant_dict_insert_value(dict, "unknown", g_variant_builder_end(&unknown));
}

static GVariant *
view_parts(const GPtrArray *parts)
{
    GVariantBuilder builder;

    g_variant_builder_init(&builder, G_VARIANT_TYPE("aa{sv}"));
    for (guint i = 0; i < parts->len; i++) {
        const ExtractPart *part = g_ptr_array_index(parts, i);
        GVariantDict dict;

        g_variant_dict_init(&dict, NULL);
        insert_text(&dict, "name", part->name);
        insert_text(&dict, "type", part->type);
        insert_text(&dict, "sha256", part->sha256);
        g_variant_dict_insert(&dict, "size", "t", part->size);
        g_variant_builder_add_value(&builder, g_variant_dict_end(&dict));
    }
    return g_variant_builder_end(&builder);
}

/* Who gets it without being named, and who is named without getting it. */
static void
insert_differences(GVariantDict *dict, const Item *item)
{
    char **to_cc = item->extract->to_cc;
    g_autoptr(GStrvBuilder) hidden = g_strv_builder_new();
    g_autoptr(GStrvBuilder) header_only = g_strv_builder_new();

    for (guint i = 0; i < item->recipients->len; i++) {
        const ItemRecipient *recipient = g_ptr_array_index(item->recipients, i);

        if (!g_strv_contains((const char *const *)to_cc, recipient->normal))
            g_strv_builder_add(hidden, recipient->normal);
    }
    for (guint i = 0; to_cc[i] != NULL; i++)
        if (recipient_of(item, to_cc[i]) == NULL)
            g_strv_builder_add(header_only, to_cc[i]);

    g_auto(GStrv) hidden_names = g_strv_builder_end(hidden);
    g_auto(GStrv) header_names = g_strv_builder_end(header_only);
    g_variant_dict_insert_value(dict, "hidden", valid_texts(hidden_names));
    g_variant_dict_insert_value(dict, "header_only", valid_texts(header_names));
}

static void
insert_content(GVariantDict *dict, const Extract *extract)
{
    insert_text(dict, "text", extract->text);
    insert_text(dict, "html", extract->html);
    g_variant_dict_insert_value(dict, "from", valid_texts(extract->from));
    insert_text(dict, "from_field", extract->from_field);
    g_variant_dict_insert(dict, "differs", "b", extract->differs);
    g_variant_dict_insert_value(dict, "diverted", valid_texts(extract->diverted));
    g_variant_dict_insert_value(dict, "attendees", valid_texts(extract->attendees));
    g_variant_dict_insert_value(dict, "opaque", valid_texts(extract->opaque));
    g_variant_dict_insert_value(dict, "parts", view_parts(extract->parts));
    g_variant_dict_insert(dict, "capped", "b", extract->capped);
}

GVariant *
view_item(const Item *item, GVariant *moves, GHashTable *reasons)
{
    GVariantDict dict;

    g_variant_dict_init(&dict, NULL);
    insert_line(&dict, item);
    insert_text(&dict, "subject", item->extract->subject);
    insert_text(&dict, "login", item->login);
    insert_text(&dict, "author", item->author);
    insert_text(&dict, "policy", item->policy);
    insert_text(&dict, "why", item->why);
    insert_text(&dict, "answer", item->answer);
    insert_text(&dict, "digest", item->digest);
    insert_text(&dict, "message_id", item->message_id);
    insert_text(&dict, "sender", item->envelope->sender);
    g_variant_dict_insert_value(&dict, "sender_parameters",
                                valid_texts(item->envelope->parameters));
    g_variant_dict_insert(&dict, "size", "t", item->size);
    g_variant_dict_insert_value(&dict, "recipients", view_recipients(item, reasons));
    g_variant_dict_insert_value(&dict, "claims", claims_to_variant(item->claims));
    g_variant_dict_insert_value(&dict, "moves", moves);
    insert_facts(&dict, &item->facts);
    insert_differences(&dict, item);
    insert_content(&dict, item->extract);
    return g_variant_dict_end(&dict);
}

/* In the client's order: the order of concern would tell an agent who is known. */
static GVariant *
written_addresses(const Envelope *envelope)
{
    g_autoptr(GPtrArray) written = g_ptr_array_new();

    for (guint i = 0; i < envelope->recipients->len; i++) {
        const EnvelopeRecipient *recipient = g_ptr_array_index(envelope->recipients, i);

        g_ptr_array_add(written, recipient->address);
    }
    g_ptr_array_add(written, NULL);
    return valid_texts((char **)written->pdata);
}

GVariant *
view_fate(const Item *item, const char *outcome, gint64 when)
{
    GVariantDict dict;

    g_variant_dict_init(&dict, NULL);
    insert_text(&dict, "id", item->id);
    insert_cut(&dict, "subject", item->extract->subject);
    insert_text(&dict, "outcome", outcome);
    g_variant_dict_insert(&dict, "when", "x", when);
    g_variant_dict_insert_value(&dict, "to", written_addresses(item->envelope));
    return g_variant_dict_end(&dict);
}

GVariant *
view_account(const Account *account, const guint *counts, guint held)
{
    GVariantBuilder states;
    GVariantDict dict;

    g_variant_builder_init(&states, G_VARIANT_TYPE("a{su}"));
    for (guint state = 0; state < STATE_COUNT; state++)
        if (counts[state] != 0)
            g_variant_builder_add(&states, "{su}", state_name((State)state), counts[state]);
    g_variant_dict_init(&dict, NULL);
    insert_text(&dict, "name", account->name);
    insert_text(&dict, "mode", mode_name(account->mode));
    insert_text(&dict, "policy", policy_version(account->policy));
    g_variant_dict_insert(&dict, "held", "u", held);
    g_variant_dict_insert_value(&dict, "counts", g_variant_builder_end(&states));
    return g_variant_dict_end(&dict);
}

static GVariant *
view_letters(const Reason *reason)
{
    const GPtrArray *letters = reason->story->letters;
    GVariantBuilder builder;

    g_variant_builder_init(&builder, G_VARIANT_TYPE("aa{sv}"));
    for (guint i = 0; i < letters->len; i++) {
        const HistoryLetter *letter = g_ptr_array_index(letters, i);
        GVariantDict dict;

        g_variant_dict_init(&dict, NULL);
        g_variant_dict_insert(&dict, "conversation", "x", letter->conversation);
        insert_text(&dict, "message", letter->message);
        g_variant_dict_insert(&dict, "when", "x", letter->when);
        g_variant_builder_add_value(&builder, g_variant_dict_end(&dict));
    }
    return g_variant_builder_end(&builder);
}

GVariant *
view_history(const char *account, const char *address, const Reason *reason)
{
    GVariantDict dict;

    g_variant_dict_init(&dict, NULL);
    insert_text(&dict, "account", account);
    insert_text(&dict, "address", address);
    g_variant_dict_insert(&dict, "known", "b", reason->story->address.known);
    g_variant_dict_insert(&dict, "mentioned", "b", reason->story->address.mentioned);
    g_variant_dict_insert_value(&dict, "conversations", view_letters(reason));
    insert_reason(&dict, reason);
    return g_variant_dict_end(&dict);
}
