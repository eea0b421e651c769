#include "relay/import.h"

#include "lib/lesson.h"
#include "store/audit.h"
#include "store/history.h"

/* The account that the request names, or the only one. NULL with error. */
static const Account *
find_account(const Request *request, GError **error)
{
    const GPtrArray *accounts = request->config->accounts;
    const Account *account = accounts->len == 1 ? accounts->pdata[0] : NULL;
    const char *name;

    if (g_variant_lookup(request->arguments, "account", "&s", &name)) {
        account = config_account(request->config, name);
        if (account == NULL)
            g_set_error(error, REQUEST_ERROR, REQUEST_NOT_FOUND, "there is no account %s",
                        name);
    } else if (account == NULL) {
        g_set_error(error, REQUEST_ERROR, REQUEST_USAGE,
                    "there are %u accounts: name one with --account", accounts->len);
    }
    return account;
}

static gboolean
misused(GError **error, const char *what)
{
    g_set_error_literal(error, REQUEST_ERROR, REQUEST_USAGE, what);
    return FALSE;
}

static void
set_reply(Request *request, GVariantDict *dict)
{
    request->reply = g_variant_ref_sink(g_variant_dict_end(dict));
}

gboolean
import_account(Request *request, GError **error)
{
    const Account *account = find_account(request, error);
    GVariantDict dict;

    if (account == NULL)
        return FALSE;
    g_variant_dict_init(&dict, NULL);
    g_variant_dict_insert(&dict, "account", "s", account->name);
    g_variant_dict_insert(&dict, "addresses", "^as", account->addresses);
    set_reply(request, &dict);
    return TRUE;
}

gboolean
import_novel(Request *request, GError **error)
{
    const Account *account = find_account(request, error);
    g_autoptr(GVariantIter) addresses = NULL;
    g_autoptr(GStrvBuilder) novel = g_strv_builder_new();
    const char *address;
    GVariantDict dict;

    if (account == NULL)
        return FALSE;
    if (!g_variant_lookup(request->arguments, "addresses", "as", &addresses))
        return misused(error, "the request has no addresses");
    while (g_variant_iter_next(addresses, "&s", &address)) {
        HistoryAddress found;

        if (!history_look_up(request->relay->db, account->name, address, 0, &found, error))
            return FALSE;
        if (!found.known)
            g_strv_builder_add(novel, address);
    }
    g_auto(GStrv) found = g_strv_builder_end(novel);
    g_variant_dict_init(&dict, NULL);
    g_variant_dict_insert(&dict, "addresses", "^as", found);
    set_reply(request, &dict);
    return TRUE;
}

/* What a batch has in common, and what came of it. */
typedef struct {
    HistoryTally tally;
    HistoryNumbers numbers;
    Warrant warrant;
} Learning;

static gboolean
learn(Request *request, const char *account, const Lesson *lesson, Learning *learning,
      GError **error)
{
    const Observation observation = {
        .kind = lesson->sent ? OBSERVED_HUMAN : OBSERVED_RECEIVED,
        .account = account,
        .message_id = lesson->message_id,
        .parents = lesson->parents,
        .recipients = lesson->recipients,
        .sender = lesson->sender,
        .correspondents = lesson->correspondents,
        .mentioned = lesson->mentioned,
        .lists = lesson->lists,
        .automatic = lesson->automatic,
        .tally = &learning->tally,
        .numbers = &learning->numbers,
        .warrant = &learning->warrant,
    };

    /* Whoever sets the date of a message may have set it to a day to come. */
    return history_observe(request->relay->db, &observation,
                           CLAMP(lesson->when, 1, request->now), error);
}

static gboolean
learn_all(Request *request, const char *account, Learning *learning, GError **error)
{
    g_auto(LessonReader) reader = {0};
    g_autoptr(GError) trouble = NULL;
    const char *lessons;
    Lesson lesson;

    if (!g_variant_lookup(request->arguments, "lessons", "&s", &lessons))
        return misused(error, "the request has no lessons");
    lesson_reader_init(&reader, lessons);
    while (lesson_next(&reader, &lesson, &trouble))
        if (!learn(request, account, &lesson, learning, error))
            return FALSE;
    if (trouble != NULL)
        return misused(error, trouble->message);
    return warrant_record(request->relay->db, account, &learning->warrant, request->who, NULL,
                          request->now, error);
}

/* The entry of a folder; none in the middle of one. */
static gboolean
record(Request *request, const char *account, GError **error)
{
    const char *path = request_text(request, "path", error);
    g_autoptr(GVariant) summary =
        g_variant_lookup_value(request->arguments, "summary", G_VARIANT_TYPE_VARDICT);
    gboolean begins = FALSE;
    GVariantDict details;

    if (path == NULL)
        return FALSE;
    g_variant_lookup(request->arguments, "begins", "b", &begins);
    if (!begins && summary == NULL)
        return TRUE;
    g_variant_dict_init(&details, summary);
    g_variant_dict_insert(&details, "path", "s", path);
    const AuditEntry entry = {
        .kind = summary != NULL ? "imported" : "importing",
        .account = account,
        .who = request->who,
        .details = g_variant_dict_end(&details),
    };
    return audit_append(request->relay->db, &entry, request->now, error);
}

gboolean
import_learn(Request *request, GError **error)
{
    const Account *account = find_account(request, error);
    Learning learning = {0};
    GVariantDict dict;

    if (account == NULL || !record(request, account->name, error) ||
        !learn_all(request, account->name, &learning, error))
        return FALSE;
    g_variant_dict_init(&dict, NULL);
    g_variant_dict_insert(&dict, "correspondents", "t", learning.tally.correspondents);
    g_variant_dict_insert(&dict, "conversations", "t", learning.tally.conversations);
    set_reply(request, &dict);
    return TRUE;
}
