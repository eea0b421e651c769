#include "relay/edit.h"

#include <string.h>

#include "lib/address.h"
#include "lib/compose.h"
#include "lib/digest.h"
#include "lib/spool.h"
#include "relay/judge.h"
#include "relay/password.h"
#include "relay/people.h"
#include "relay/stop.h"
#include "store/approval.h"
#include "store/audit.h"

/* A request of an approver has room for that much; Message-IDs beyond are not carried along.
 */
enum { TEXT_MOST = 256 * 1024, PARENTS_MOST = 20, PARENT_MOST = 250 };
#define SPOOL_MOST ((gsize)1024 * 1024)

/* What the approver wrote; borrowed from the request. */
typedef struct {
    const char *subject;
    const char *text;
    const char **to, **blind;
} Words;

static void
words_clear(Words *words)
{
    g_free(words->to);
    g_free(words->blind);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Words, words_clear)

static gboolean
is_text(const char *text)
{
    for (const char *c = text; *c != '\0'; c++)
        if (*c != '\n' && *c != '\t' && g_ascii_iscntrl(*c))
            return FALSE;
    return strlen(text) <= TEXT_MOST;
}

/* Why the message cannot be written anew: the new one would leave something out, or an editor
 * would be shown what steers a terminal. NULL: it can. */
static const char *
find_hindrance(const Item *item)
{
    const Extract *extract = item->extract;

    if (extract->parts->len > 0)
        return "it has attachments";
    if (*extract->html != '\0' || extract->opaque[0] != NULL || extract->attendees[0] != NULL)
        return "it is more than plain text";
    if (!is_text(extract->text) || !is_text(extract->subject) ||
        strpbrk(extract->subject, "\n\t") != NULL)
        return "it is too long, or has control characters";
    return extract->from[0] == NULL || !g_str_is_ascii(extract->from[0])
               ? "its From is no plain address"
               : NULL;
}

/* The peer's item, if it waits for a person and can be written anew. */
static Item *
load(Request *request, GError **error)
{
    g_autoptr(Item) item = people_item(request, error);

    if (item == NULL || !people_is_state(item, STATE_HELD, STATE_DRAFT, "edited", error))
        return NULL;
    const char *hindrance = find_hindrance(item);
    if (hindrance == NULL)
        return g_steal_pointer(&item);
    g_set_error(error, REQUEST_ERROR, REQUEST_CONFLICT, "%s cannot be edited: %s", item->id,
                hindrance);
    return NULL;
}

/* The recipients that To and Cc name, or the others. */
static GVariant *
list_recipients(const Item *item, gboolean named)
{
    GVariantBuilder builder;

    g_variant_builder_init(&builder, G_VARIANT_TYPE("as"));
    for (guint i = 0; i < item->envelope->recipients->len; i++) {
        const EnvelopeRecipient *recipient = item->envelope->recipients->pdata[i];
        g_autofree char *normal = address_normalise(recipient->address, NULL);
        g_autofree char *valid = g_utf8_make_valid(recipient->address, -1);
        gboolean in_header =
            normal != NULL &&
            g_strv_contains((const char *const *)item->extract->to_cc, normal);

        if (in_header == named)
            g_variant_builder_add(&builder, "s", valid);
    }
    return g_variant_builder_end(&builder);
}

gboolean
edit_letter(Request *request, GError **error)
{
    g_autoptr(Item) item = load(request, error);
    GVariantDict dict;

    if (item == NULL)
        return FALSE;
    const AuditEntry entry = {
        .kind = "shown", .account = item->account, .item = item->id, .who = request->who};
    if (!audit_append(request->relay->db, &entry, request->now, error))
        return FALSE;
    g_variant_dict_init(&dict, NULL);
    g_variant_dict_insert(&dict, "digest", "s", item->digest);
    g_variant_dict_insert(&dict, "from", "s", item->extract->from[0]);
    g_variant_dict_insert(&dict, "subject", "s", item->extract->subject);
    g_variant_dict_insert(&dict, "text", "s", item->extract->text);
    g_variant_dict_insert_value(&dict, "to", list_recipients(item, TRUE));
    g_variant_dict_insert_value(&dict, "blind", list_recipients(item, FALSE));
    request->reply = g_variant_ref_sink(g_variant_dict_end(&dict));
    return TRUE;
}

static gboolean
read_words(const Request *request, Words *words, GError **error)
{
    words->subject = request_text(request, "subject", error);
    words->text = words->subject ? request_text(request, "text", error) : NULL;
    if (words->text == NULL ||
        (*words->subject != '\0' && request_line(request, "subject", error) == NULL))
        return FALSE;
    if (g_variant_lookup(request->arguments, "to", "^a&s", &words->to) &&
        g_variant_lookup(request->arguments, "blind", "^a&s", &words->blind) &&
        is_text(words->text))
        return TRUE;
    g_set_error(error, REQUEST_ERROR, REQUEST_USAGE,
                "a text of at most %d bytes without control characters, and whom it is for, "
                "are needed",
                TEXT_MOST);
    return FALSE;
}

/* Adds the recipients to the envelope, and to named when it is not NULL. */
static gboolean
add_recipients(Envelope *envelope, const char *const *addresses, GStrvBuilder *named,
               GError **error)
{
    for (; *addresses != NULL; addresses++) {
        const char *const path[] = {*addresses, NULL};
        g_autofree char *normal = address_normalise(*addresses, NULL);

        if (normal == NULL || !g_str_is_ascii(*addresses) ||
            strpbrk(*addresses, "<>,") != NULL) {
            g_set_error(error, REQUEST_ERROR, REQUEST_USAGE, "“%s” is no plain address",
                        *addresses);
            return FALSE;
        }
        envelope_add_recipient(envelope, path, NULL);
        if (named != NULL)
            g_strv_builder_add(named, normal);
    }
    return TRUE;
}

static gboolean
address_item(Item *item, const Item *old, const Words *words, GError **error)
{
    const char *const sender[] = {old->envelope->sender, NULL};
    g_autoptr(GStrvBuilder) named = g_strv_builder_new();

    envelope_set_sender(item->envelope, sender);
    if (!add_recipients(item->envelope, words->to, named, error) ||
        !add_recipients(item->envelope, words->blind, NULL, error))
        return FALSE;
    g_strfreev(item->extract->to_cc);
    item->extract->to_cc = g_strv_builder_end(named);
    return TRUE;
}

/* The ids that lead to the conversation, as far as they are fit to stand in a field of ours.
 */
static char **
keep_parents(char *const *parents)
{
    g_autoptr(GStrvBuilder) kept = g_strv_builder_new();

    for (guint i = 0; parents[i] != NULL && i < PARENTS_MOST; i++) {
        gboolean good = strlen(parents[i]) <= PARENT_MOST;

        for (const char *c = parents[i]; *c != '\0'; c++)
            good = good && g_ascii_isgraph(*c);
        if (good)
            g_strv_builder_add(kept, parents[i]);
    }
    return g_strv_builder_end(kept);
}

static void
replace(char **member, const char *text)
{
    g_free(*member);
    *member = g_strdup(text);
}

/* What the milter would have read in the message that is made of this. A quote stays one: the
 * words around it may have changed, not where it came from. */
static void
describe(Item *item, const Item *old, const Words *words)
{
    Extract *extract = item->extract;
    const char *from[] = {old->extract->from[0], NULL};

    g_free(item->message_id);
    item->message_id = compose_message_id(address_domain(from[0]));
    replace(&extract->message_id, item->message_id);
    replace(&extract->subject, words->subject);
    replace(&extract->text, words->text);
    g_strfreev(extract->from);
    extract->from = g_strdupv((char **)from);
    g_strfreev(extract->parents);
    extract->parents = keep_parents(old->extract->parents);
    extract->forward = old->extract->forward;
    extract->quoted = old->extract->quoted;
}

/* The new item, and its bytes in spool. */
static Item *
write_item(const Request *request, const Item *old, const Words *words, Spool *spool,
           GError **error)
{
    g_autoptr(Item) item = item_new();

    if (!address_item(item, old, words, error))
        return NULL;
    describe(item, old, words);
    const Letter letter = {.from = item->extract->from[0],
                           .to = words->to,
                           .subject = words->subject,
                           .message_id = item->message_id,
                           .parents = (const char *const *)item->extract->parents,
                           .text = words->text};
    g_autoptr(GString) message = compose_message(&letter, request->now);
    if (!spool_append(spool, message->str, message->len, error))
        return NULL;
    g_free(item->id);
    item->id = item_new_id(request->now);
    replace(&item->key, item->id); /* no submission comes again as this */
    replace(&item->account, old->account);
    replace(&item->login, old->login);
    replace(&item->author, request->who);
    item->size = message->len;
    return g_steal_pointer(&item);
}

/* Judged as what it is, a message of this account; but a person wrote it, so a person decides
 * on it, whatever the rules would do. */
static gboolean
judge(Request *request, Item *item, GError **error)
{
    const Account *account = config_account(request->config, item->account);
    Db *db = request->relay->db;

    if (account == NULL) {
        g_set_error(error, REQUEST_ERROR, REQUEST_CONFLICT, "account %s is not configured",
                    item->account);
        return FALSE;
    }
    if (!password_suffices(request, account, error) ||
        !judge_item(db, request->config, account, item, request->now, error) ||
        !stop_judge(db, item, error))
        return FALSE;
    if (item->tier == TIER_REFUSE) {
        g_set_error(error, REQUEST_ERROR, REQUEST_CONFLICT, "this would be refused: %s",
                    item->reason);
        return FALSE;
    }
    char *reason = g_strdup_printf("edited: %s", item->reason);
    g_free(item->reason);
    item->reason = reason;
    item->tier = TIER_HOLD;
    item->state = STATE_HELD;
    item->due = 0;
    item->created = request->now;
    item->expires = request->now + request->config->expire;
    return TRUE;
}

/* One takes the other's place. The old one first: the new one must not wait for it. */
static gboolean
exchange(Request *request, const Item *old, Item *item, int fd, GError **error)
{
    g_autofree char *why = g_strdup_printf("edited, see %s", item->id);
    Db *db = request->relay->db;

    g_free(item->digest);
    item->digest = digest_action(item->account, item->envelope, fd, error);
    return item->digest != NULL && approval_void(db, old->id, request->now, error) &&
           people_move(request, old, STATE_SUPERSEDED, why, error) &&
           judge(request, item, error) && queue_add(db, item, fd, request->now, error);
}

gboolean
edit_item(Request *request, GError **error)
{
    const char *digest = request_text(request, "digest", error);
    g_auto(Words) words = {0};
    g_autoptr(Spool) spool = spool_new(SPOOL_MOST, g_get_tmp_dir());
    GVariantDict dict;

    if (digest == NULL || !read_words(request, &words, error))
        return FALSE;
    g_autoptr(Item) old = load(request, error);
    if (old == NULL || !people_digest_matches(old, digest, error))
        return FALSE;
    g_autoptr(Item) item = write_item(request, old, &words, spool, error);
    int fd = item ? spool_descriptor(spool, error) : -1;
    if (fd < 0 || !exchange(request, old, item, fd, error))
        return FALSE;
    g_variant_dict_init(&dict, NULL);
    g_variant_dict_insert(&dict, "id", "s", item->id);
    g_variant_dict_insert(&dict, "state", "s", state_name(item->state));
    g_variant_dict_insert(&dict, "digest", "s", item->digest);
    request->reply = g_variant_ref_sink(g_variant_dict_end(&dict));
    return TRUE;
}
