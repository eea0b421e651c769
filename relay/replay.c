#include "relay/replay.h"

#include <string.h>

#include "lib/policies.h"
#include "relay/judge.h"
#include "relay/people.h"

/* A page: what the writer loads at once. */
enum { ITEMS_MOST = 200, TEXT_MOST = 4 * 1024 * 1024 };

typedef struct {
    Request *request;
    const Account *account;
    const char *after;
    gint64 since;
    GPtrArray *items; /* of Item * */
    guint damaged;    /* whose records cannot be read */
    char *last;       /* the item after which the next page begins; NULL before the first */
    gboolean ended;   /* the account has no more */
} Page;

static gboolean
load_page(gpointer data, GError **error)
{
    Page *page = data;
    Db *db = page->request->relay->db;
    g_autoptr(GPtrArray) ids =
        queue_since(db, page->account->name, page->since, page->after, ITEMS_MOST, error);
    gsize bytes = 0;
    guint taken = 0;

    if (ids == NULL)
        return FALSE;
    for (; taken < ids->len && bytes < TEXT_MOST; taken++) {
        Item *item = NULL;

        if (!queue_load_sound(db, g_ptr_array_index(ids, taken), &item, error))
            return FALSE;
        page->damaged += item == NULL;
        if (item == NULL)
            continue;
        bytes += strlen(item->extract->text) + strlen(item->extract->html);
        g_ptr_array_add(page->items, item);
    }
    page->last = taken > 0 ? g_strdup(g_ptr_array_index(ids, taken - 1)) : NULL;
    page->ended = taken == ids->len && ids->len < ITEMS_MOST;
    return TRUE;
}

/* The policy that came with the request, below the floor; NULL without error: none came. */
static Policy *
read_policy(const Request *request, GError **error)
{
    g_autoptr(GHashTable) texts = g_hash_table_new(g_str_hash, g_str_equal);
    g_autoptr(GVariantIter) iter = NULL;
    g_autoptr(GError) trouble = NULL;
    const char *name, *path, *text;

    if (!g_variant_lookup(request->arguments, "name", "&s", &name) ||
        !g_variant_lookup(request->arguments, "files", "a{ss}", &iter))
        return NULL;
    while (g_variant_iter_next(iter, "{&s&s}", &path, &text))
        g_hash_table_insert(texts, (gpointer)path, (gpointer)text);
    g_autoptr(Policy) policy = policies_parse_texts(name, texts, &trouble);
    if (policy == NULL)
        g_set_error_literal(error, REQUEST_ERROR, REQUEST_USAGE, trouble->message);
    else if (request->config->floor != NULL)
        policy_set_floor(policy, request->config->floor);
    return g_steal_pointer(&policy);
}

static gboolean
is_wanted(const Request *request, const Account *account, const char *wanted)
{
    return people_may_know(request, account->name) &&
           (*wanted == '\0' || g_str_equal(wanted, account->name));
}

/* The account of this page, or the one after it; NULL: there is none. at "": the first. */
static const Account *
find_account(const Request *request, const char *wanted, const char *at, gboolean next)
{
    const GPtrArray *accounts = request->config->accounts;
    gboolean passed = *at == '\0';

    for (guint i = 0; i < accounts->len; i++) {
        const Account *account = g_ptr_array_index(accounts, i);
        gboolean here = g_str_equal(account->name, at);

        if ((passed || (here && !next)) && is_wanted(request, account, wanted))
            return account;
        passed = passed || here;
    }
    return NULL;
}

/* Items that could not be judged then, or not be read any more, are not now. */
static guint
judge_page(const Page *page, const Policy *policy, GVariantBuilder *rows)
{
    guint unjudged = page->damaged;

    for (guint i = 0; i < page->items->len; i++) {
        const Item *item = g_ptr_array_index(page->items, i);
        g_autofree const char **lent = NULL;
        Facts facts;

        if (!judge_has_facts(item)) {
            unjudged++;
            continue;
        }
        judge_lend(item, &facts, &lent);
        g_autoptr(Verdict) verdict = policy_judge(policy, &facts, page->account->mode, 0);
        g_variant_builder_add(rows, "(xssss)", item->created, item->id, tier_name(item->tier),
                              tier_name(verdict->tier), verdict->reason);
    }
    return unjudged;
}

static void
set_reply(Page *page, const Policy *given, const char *wanted)
{
    Request *request = page->request;
    const Policy *policy = given != NULL ? given : page->account->policy;
    const Account *next =
        page->ended ? find_account(request, wanted, page->account->name, TRUE) : page->account;
    const char *last = page->ended ? NULL : page->last;
    GVariantBuilder rows;
    GVariantDict dict;

    g_variant_builder_init(&rows, G_VARIANT_TYPE("a(xssss)"));
    guint unjudged = judge_page(page, policy, &rows);
    g_variant_dict_init(&dict, NULL);
    g_variant_dict_insert_value(&dict, "rows", g_variant_builder_end(&rows));
    g_variant_dict_insert(&dict, "unjudged", "u", unjudged);
    g_variant_dict_insert(&dict, "at", "s", next != NULL ? next->name : "");
    g_variant_dict_insert(&dict, "after", "s", last != NULL ? last : "");
    request->reply = g_variant_ref_sink(g_variant_dict_end(&dict));
}

gboolean
replay_ask(Request *request, GError **error)
{
    const char *wanted = "", *at = "";
    g_autoptr(GError) trouble = NULL;
    g_autoptr(GPtrArray) items = g_ptr_array_new_with_free_func((GDestroyNotify)item_free);
    Page page = {.request = request, .after = "", .items = items};

    g_variant_lookup(request->arguments, "account", "&s", &wanted);
    g_variant_lookup(request->arguments, "at", "&s", &at);
    g_variant_lookup(request->arguments, "after", "&s", &page.after);
    g_variant_lookup(request->arguments, "since", "x", &page.since);
    page.account = find_account(request, wanted, at, FALSE);
    if (page.account == NULL) {
        g_set_error(error, REQUEST_ERROR, REQUEST_NOT_FOUND, "there is no account %s", wanted);
        return FALSE;
    }
    g_autoptr(Policy) policy = read_policy(request, &trouble);
    if (trouble != NULL) {
        g_propagate_error(error, g_steal_pointer(&trouble));
        return FALSE;
    }
    if (!writer_run(request->relay->writer, load_page, &page, error))
        return FALSE;
    set_reply(&page, policy, wanted);
    g_free(page.last);
    return TRUE;
}
