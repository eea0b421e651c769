#include "relay/audits.h"

#include <string.h>

#include "lib/log.h"
#include "relay/action.h"
#include "relay/people.h"
#include "relay/record.h"
#include "store/audit.h"

/* A page of an answer, and what is looked at for it. */
enum { FOUND_MOST = 200, BYTES_MOST = 1024 * 1024, LOOK_MOST = 2000, CHECK_MOST = 5000 };

enum { FAULTS_MOST = 100, USERS_MOST = 1000, ID_LENGTH = 12, HOUR = 3600 };

typedef struct {
    Request *request;
    const char *account, *kind, *item, *tier, *approver, *word; /* NULL: any */
    gint64 since;
    gboolean confirmed;
    GVariantBuilder entries;
    guint looked, found;
    gsize bytes;
    gint64 last; /* number of the last entry looked at */
    GError *error;
} Search;

static gboolean
is_wanted(const char *wanted, const char *text)
{
    return wanted == NULL || g_str_equal(wanted, text);
}

static gboolean
has_word(const char *word, const char *text)
{
    g_autofree char *folded_word = g_utf8_casefold(word, -1);
    g_autofree char *folded = g_utf8_casefold(text, -1);

    return strstr(folded, folded_word) != NULL;
}

/* What the entry itself tells. */
static gboolean
fits(const Search *search, const ChainEntry *entry)
{
    return people_may_know(search->request, entry->account) && entry->at >= search->since &&
           is_wanted(search->account, entry->account) &&
           is_wanted(search->kind, entry->kind) && is_wanted(search->item, entry->item) &&
           (search->approver == NULL || (g_str_has_prefix(entry->who, "user ") &&
                                         has_word(search->approver, entry->who))) &&
           (search->word == NULL || has_word(search->word, entry->details));
}

static GVariant *
parse(const char *details)
{
    GVariant *parsed = g_variant_parse(G_VARIANT_TYPE_VARDICT, details, NULL, NULL, NULL);

    return parsed != NULL ? parsed : g_variant_ref_sink(g_variant_new("a{sv}", NULL));
}

static void
add_entry(Search *search, const ChainEntry *entry, const char *seal, GVariant *content,
          const Action *action)
{
    GVariantDict dict;

    g_variant_dict_init(&dict, NULL);
    g_variant_dict_insert(&dict, "seq", "x", entry->seq);
    g_variant_dict_insert(&dict, "at", "x", entry->at);
    g_variant_dict_insert(&dict, "kind", "s", entry->kind);
    g_variant_dict_insert(&dict, "account", "s", entry->account);
    g_variant_dict_insert(&dict, "item", "s", entry->item);
    g_variant_dict_insert(&dict, "who", "s", entry->who);
    g_variant_dict_insert(&dict, "details", "s", entry->details);
    g_variant_dict_insert(&dict, "seal", "s", seal);
    g_variant_dict_insert_value(&dict, "content", content);
    if (action != NULL)
        g_variant_dict_insert_value(&dict, "action",
                                    action_view(action, entry->at, entry->who, content));
    g_variant_builder_add_value(&search->entries, g_variant_dict_end(&dict));
    search->found++;
    search->bytes += 2 * strlen(entry->details);
}

/* tier and confirmed speak of a submission and what became of it. */
static void
look_at_submission(Search *search, const ChainEntry *entry, const char *seal,
                   GVariant *content)
{
    g_auto(Action) action = {0};
    const char *tier = "";

    g_variant_lookup(content, "tier", "&s", &tier);
    if (!is_wanted(search->tier, tier) ||
        !action_follow(search->request->relay->db, entry->item, &action, &search->error) ||
        (search->confirmed && !action.confirmed))
        return;
    add_entry(search, entry, seal, content, &action);
}

static gboolean
look(const ChainEntry *entry, const char *seal, gpointer data)
{
    Search *search = data;

    search->looked++;
    search->last = entry->seq;
    if (fits(search, entry)) {
        g_autoptr(GVariant) content = parse(entry->details);

        if (g_str_equal(entry->kind, "submitted"))
            look_at_submission(search, entry, seal, content);
        else if (search->tier == NULL && !search->confirmed)
            add_entry(search, entry, seal, content, NULL);
    }
    return search->error == NULL && search->found < FOUND_MOST && search->bytes < BYTES_MOST;
}

static void
read_wishes(Search *search)
{
    const struct {
        const char *name;
        const char **member;
    } texts[] = {
        {"account", &search->account},   {"kind", &search->kind},
        {"item", &search->item},         {"tier", &search->tier},
        {"approver", &search->approver}, {"word", &search->word},
    };
    GVariant *arguments = search->request->arguments;

    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++)
        g_variant_lookup(arguments, texts[i].name, "&s", texts[i].member);
    g_variant_lookup(arguments, "since", "x", &search->since);
    g_variant_lookup(arguments, "confirmed", "b", &search->confirmed);
}

gboolean
audits_search(Request *request, GError **error)
{
    Search search = {.request = request};
    GVariantDict dict;
    gint64 after = 0;

    read_wishes(&search);
    g_variant_lookup(request->arguments, "after", "x", &after);
    g_variant_builder_init(&search.entries, G_VARIANT_TYPE("aa{sv}"));
    gboolean walked = audit_walk(request->relay->db, after, LOOK_MOST, look, &search, error);
    if (!walked || search.error != NULL) {
        g_variant_builder_clear(&search.entries);
        if (walked)
            g_propagate_error(error, search.error);
        return FALSE;
    }
    gboolean more =
        search.looked == LOOK_MOST || search.found == FOUND_MOST || search.bytes >= BYTES_MOST;
    g_variant_dict_init(&dict, NULL);
    g_variant_dict_insert_value(&dict, "entries", g_variant_builder_end(&search.entries));
    g_variant_dict_insert(&dict, "next", "x", more ? search.last : (gint64)0);
    request->reply = g_variant_ref_sink(g_variant_dict_end(&dict));
    return TRUE;
}

typedef struct {
    const Seal *seal;
    ChainHead head;
    guint checked, found;
    GVariantBuilder faults;
} Check;

static gboolean
check(const ChainEntry *entry, const char *claimed, gpointer data)
{
    Check *done = data;
    g_autofree char *fault = chain_follow(done->seal, &done->head, entry, claimed);

    done->checked++;
    if (fault != NULL) {
        GVariantDict dict;

        g_variant_dict_init(&dict, NULL);
        g_variant_dict_insert(&dict, "seq", "x", entry->seq);
        g_variant_dict_insert(&dict, "fault", "s", fault);
        g_variant_builder_add_value(&done->faults, g_variant_dict_end(&dict));
        done->found++;
    }
    return done->found < FAULTS_MOST;
}

/* Where the piece before ended: its seal is needed for the first entry of this one. */
static gboolean
find_start(Request *request, Check *done, GError **error)
{
    done->seal = db_seal(request->relay->db);
    g_variant_lookup(request->arguments, "after", "x", &done->head.seq);
    return done->head.seq <= 0 || audit_seal(request->relay->db, &done->head, error);
}

gboolean
audits_verify(Request *request, GError **error)
{
    Check done = {0};
    GVariantDict dict;

    if (!find_start(request, &done, error))
        return FALSE;
    g_variant_builder_init(&done.faults, G_VARIANT_TYPE("aa{sv}"));
    if (!audit_walk(request->relay->db, done.head.seq, CHECK_MOST, check, &done, error)) {
        g_variant_builder_clear(&done.faults);
        return FALSE;
    }
    gboolean more = done.checked == CHECK_MOST || done.found == FAULTS_MOST;
    g_variant_dict_init(&dict, NULL);
    g_variant_dict_insert_value(&dict, "faults", g_variant_builder_end(&done.faults));
    g_variant_dict_insert(&dict, "next", "x", more ? done.head.seq : (gint64)0);
    g_variant_dict_insert(&dict, "head", "x", done.head.seq);
    g_variant_dict_insert(&dict, "seal", "s", done.head.seal);
    g_variant_dict_insert(&dict, "known", "x", record_known(request->relay));
    request->reply = g_variant_ref_sink(g_variant_dict_end(&dict));
    return TRUE;
}

/* The how manieth refusal of a user within the hour, from 1; USERS_MOST have a count of their
 * own, for the others it is 0. */
static guint
count_refusal(uid_t uid, gint64 now)
{
    static GMutex lock;
    static gint64 hour;
    static GHashTable *counts; /* uid to number */
    g_autoptr(GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new(&lock);

    if (counts == NULL)
        counts = g_hash_table_new(NULL, NULL);
    if (now / HOUR != hour)
        g_hash_table_remove_all(counts);
    hour = now / HOUR;
    guint count = GPOINTER_TO_UINT(g_hash_table_lookup(counts, GUINT_TO_POINTER(uid)));
    if (count == 0 && g_hash_table_size(counts) >= USERS_MOST)
        return 0;
    count += count < G_MAXUINT;
    g_hash_table_insert(counts, GUINT_TO_POINTER(uid), GUINT_TO_POINTER(count));
    return count;
}

typedef struct {
    Request *request;
    const char *verb;
    const char *why;
} Refusal;

/* The item named, when there is one, with its account: its approvers are to see it. */
static gboolean
record_refusal(gpointer data, GError **error)
{
    const Refusal *refusal = data;
    Request *request = refusal->request;
    const char *id = "";
    g_autoptr(Item) item = NULL;
    GVariantDict details;

    g_variant_lookup(request->arguments, "id", "&s", &id);
    if (strlen(id) == ID_LENGTH && !queue_load_sound(request->relay->db, id, &item, error))
        return FALSE;
    g_variant_dict_init(&details, NULL);
    g_variant_dict_insert(&details, "request", "s", refusal->verb);
    g_variant_dict_insert(&details, "why", "s", refusal->why);
    const AuditEntry entry = {.kind = "denied",
                              .account = item ? item->account : NULL,
                              .item = item ? item->id : NULL,
                              .who = request->who,
                              .details = g_variant_dict_end(&details)};
    return audit_append(request->relay->db, &entry, request->now, error);
}

/* Entries never go, and whoever can reach the socket is refused as often as it likes. */
void
audits_refusal(Request *request, const char *verb, const GError *refusal)
{
    g_autoptr(GError) error = NULL;

    if (refusal->domain != REQUEST_ERROR || refusal->code == REQUEST_USAGE)
        return;
    guint count = count_refusal(request->uid, request->now);
    guint most = request->config->refusal_limit;
    if (count == 0 || count > most)
        return;
    g_autofree char *why = g_strdup_printf(
        "%s%s", refusal->message,
        count == most ? "; what this user is refused besides in this hour is not recorded"
                      : "");
    Refusal refused = {request, verb, why};
    if (!writer_run(request->relay->writer, record_refusal, &refused, &error))
        log_error("a refusal is not in the audit record: %s", error->message);
}
