#include <stdio.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/import.h"
#include "cli/server.h"
#include "lib/escape.h"
#include "lib/mail.h"

#define ASK_ADDRESSES 1000 /* of a dry run, in one question */
#define TELL_EVERY    (G_USEC_PER_SEC / 5)

static void
clear_progress(Import *import)
{
    if (import->talking)
        fputs("\r\033[K", stderr);
    import->talking = FALSE;
}

static void
tell_progress(Import *import)
{
    gint64 now = g_get_monotonic_time();

    if (now - import->told < TELL_EVERY)
        return;
    import->told = now;
    if (!isatty(STDERR_FILENO))
        return;
    import->talking = TRUE;
    fprintf(stderr, "\r\033[K%s%" G_GUINT64_FORMAT " messages, %" G_GINT64_FORMAT " a second",
            import->turn == TURN_COUNT ? "counting: " : "", import->counts.messages,
            (gint64)import->counts.messages * G_USEC_PER_SEC / MAX(now - import->started, 1));
}

/* Every message that cannot be read is named, once. */
static void
name_broken(Import *import, const char *where, const char *why)
{
    g_autofree char *safe_where = escape_line(where);
    g_autofree char *safe_why = escape_line(why);

    if (import->people != NULL && import->turn != TURN_COUNT)
        return; /* it was named when people were counted */
    clear_progress(import);
    fprintf(stderr, "exeat: %s: %s\n", safe_where, safe_why);
}

/* Leaves out recipients that are not to become known. FALSE: nobody is left. */
static gboolean
narrow(const Import *import, Lesson *lesson)
{
    guint kept = 0;

    if (import->people == NULL || !lesson->sent)
        return TRUE;
    for (guint i = 0; lesson->recipients[i] != NULL; i++)
        if (import_people_find(import->people, lesson->recipients[i]) != NULL)
            lesson->recipients[kept++] = lesson->recipients[i];
    lesson->recipients[kept] = NULL;
    return kept > 0;
}

static void
count(ImportCounts *counts, Skip skip, const Lesson *lesson)
{
    counts->messages++;
    if (skip != SKIP_NOT)
        counts->skipped[skip]++;
    else if (lesson->sent)
        counts->sent++;
    else
        counts->received++;
}

/* Whether it may hold sent and received mail. */
static gboolean
is_mixed(const Import *import, const MailboxFolder *folder)
{
    return folder->labelled || import->rules.sent_labels != NULL;
}

/* A mixed folder is read in both turns, and counted in the second. */
static gboolean
counts_now(const Import *import, const MailboxFolder *folder)
{
    return import->turn != TURN_SENT || !is_mixed(import, folder);
}

static gboolean
goes_now(const Import *import, const MailboxFolder *folder, const Lesson *lesson)
{
    return import->turn != TURN_COUNT &&
           (!is_mixed(import, folder) || lesson->sent == (import->turn == TURN_SENT));
}

static int
take_message(Import *import, Mailbox *mailbox, const MailboxFolder *folder,
             const MailboxMessage *message)
{
    g_auto(ImportMessage) read = {0};
    g_autofree char *why = NULL;
    gboolean counts = counts_now(import, folder);
    Skip skip =
        import_message_read(&import->rules, mailbox, folder->role, message, &read, &why);

    if (skip == SKIP_BROKEN && counts)
        name_broken(import, message->where, why);
    if (skip == SKIP_NOT && import->turn == TURN_COUNT)
        import_people_count(import->people, &read,
                            session_has(import->session, "only-replied"));
    else if (skip == SKIP_NOT && !narrow(import, &read.lesson))
        skip = SKIP_UNWANTED;
    if (counts)
        count(&import->counts, skip, &read.lesson);
    tell_progress(import);
    return skip == SKIP_NOT && goes_now(import, folder, &read.lesson)
               ? import_batch_add(&import->batch, &read.lesson)
               : EX_OK;
}

static int
end_folder(Import *import, Mailbox *mailbox, const ImportCounts *before)
{
    const ImportCounts *after = &import->counts;
    guint64 sent = after->sent - before->sent, received = after->received - before->received;
    g_autofree char *digest = mailbox_digest(mailbox);
    GVariantDict summary;

    g_variant_dict_init(&summary, NULL);
    g_variant_dict_insert(&summary, "sha256", "s", digest);
    g_variant_dict_insert(&summary, "sent", "t", sent);
    g_variant_dict_insert(&summary, "received", "t", received);
    g_variant_dict_insert(&summary, "skipped", "t",
                          after->messages - before->messages - sent - received);
    return import_batch_end(&import->batch, g_variant_dict_end(&summary));
}

/* The source has failed as a whole. */
static int
give_up(Import *import, const GError *error)
{
    g_autofree char *safe = escape_line(error->message);

    clear_progress(import);
    fprintf(stderr, "exeat: %s\n", safe);
    return EX_IOERR;
}

static int
take_folder(Import *import, Mailbox *mailbox, const MailboxFolder *folder)
{
    g_autoptr(GError) error = NULL;
    const ImportCounts before = import->counts;
    gboolean counts = counts_now(import, folder);
    MailboxMessage message;
    int status = EX_OK;

    import->counts.folders += counts;
    import->rules.labels_tell = import->rules.sent_labels != NULL && !folder->labelled;
    import_batch_begin(&import->batch, folder->path,
                       import->turn == TURN_SENT || !is_mixed(import, folder));
    while (status == EX_OK && mailbox_next(mailbox, &message, &error))
        status = take_message(import, mailbox, folder, &message);
    /* What was read before the source failed counts. */
    if (error != NULL && import->turn != TURN_COUNT)
        status = import_batch_pause(&import->batch);
    if (status != EX_OK)
        return status;
    if (error != NULL)
        return give_up(import, error);
    if (import->turn == TURN_COUNT)
        return EX_OK;
    return counts ? end_folder(import, mailbox, &before) : import_batch_pause(&import->batch);
}

static gboolean
has_turn(const Import *import, const MailboxFolder *folder)
{
    const ImportRules *rules = &import->rules;
    gboolean sent = (rules->forced ? rules->role : folder->role) == FOLDER_SENT;

    return import->turn == TURN_COUNT || is_mixed(import, folder) ||
           sent == (import->turn == TURN_SENT);
}

static int
take_mailbox(Import *import, Mailbox *mailbox)
{
    g_autoptr(GError) error = NULL;
    MailboxFolder folder;
    int status = EX_OK;

    mailbox_rewind(mailbox);
    while (status == EX_OK && mailbox_next_folder(mailbox, &folder, &error))
        status = has_turn(import, &folder) ? take_folder(import, mailbox, &folder) : EX_OK;
    return error != NULL ? give_up(import, error) : status;
}

static int
take_all(Import *import, const GPtrArray *mailboxes, ImportTurn turn)
{
    int status = EX_OK;

    import->turn = turn;
    import->rules.heads = turn != TURN_RECEIVED;
    for (guint i = 0; i < mailboxes->len && status == EX_OK; i++)
        status = take_mailbox(import, mailboxes->pdata[i]);
    clear_progress(import);
    return status;
}

/* Of those addresses, the ones that the relay does not know. */
static int
ask_novel(const Import *import, char *const *addresses, GStrvBuilder *novel)
{
    int status = EX_OK;

    for (guint from = 0; addresses[from] != NULL && status == EX_OK;) {
        g_auto(GStrv) found = NULL;
        GVariantBuilder some;
        GVariantDict arguments;

        g_variant_builder_init(&some, G_VARIANT_TYPE_STRING_ARRAY);
        for (guint i = 0; i < ASK_ADDRESSES && addresses[from] != NULL; i++)
            g_variant_builder_add(&some, "s", addresses[from++]);
        g_variant_dict_init(&arguments, NULL);
        g_variant_dict_insert(&arguments, "account", "s", import->account);
        g_variant_dict_insert_value(&arguments, "addresses", g_variant_builder_end(&some));
        g_autoptr(GVariant) answer = request_ask(import->session, "import-novel",
                                                 g_variant_dict_end(&arguments), &status);
        if (answer != NULL) {
            found = answer_list(answer, "addresses");
            g_strv_builder_addv(novel, (const char **)found);
        }
    }
    return status;
}

/* Counts whom the human wrote to, where that decides who becomes known. */
static int
gather(Import *import, const GPtrArray *mailboxes)
{
    gboolean only_replied = session_has(import->session, "only-replied");

    if (!session_has(import->session, "dry-run") && !only_replied && import->least == 1)
        return EX_OK;
    import->people = import_people_new();
    int status = take_all(import, mailboxes, TURN_COUNT);
    import_people_narrow(import->people, import->least, only_replied);
    return status;
}

static int
run_dry(Import *import)
{
    g_autofree char **people = import_people_list(import->people);
    g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
    int status = ask_novel(import, people, builder);
    g_auto(GStrv) novel = g_strv_builder_end(builder);

    return status == EX_OK ? import_report(import, novel) : status;
}

static Mailbox *
open_mailbox(const Session *session, const char *word, GError **error)
{
    if (server_is_address(word))
        return server_open(word, session_option(session, "password-file"),
                           session_option(session, "ca-file"), error);
    g_autofree char *path = g_canonicalize_filename(word, NULL);

    return mailbox_open(path, error);
}

/* All paths are opened first: a slip in the last must not come out after the first was
 * imported. NULL after a message. */
static GPtrArray *
open_all(const Session *session, char **paths)
{
    g_autoptr(GPtrArray) mailboxes =
        g_ptr_array_new_with_free_func((GDestroyNotify)mailbox_free);
    g_autoptr(GError) error = NULL;

    for (; *paths != NULL; paths++) {
        Mailbox *mailbox = open_mailbox(session, *paths, &error);
        if (mailbox == NULL) {
            g_autofree char *safe = escape_line(error->message);
            fprintf(stderr, "exeat: %s\n", safe);
            return NULL;
        }
        g_ptr_array_add(mailboxes, mailbox);
    }
    return g_steal_pointer(&mailboxes);
}

/* What the human sent goes first: what others wrote in answer belongs to its conversations. */
static int
run(Import *import, char **paths)
{
    g_autoptr(GPtrArray) mailboxes = open_all(import->session, paths);
    int status = EX_NOINPUT;

    import->started = g_get_monotonic_time();
    if (mailboxes != NULL)
        status = gather(import, mailboxes);
    if (status != EX_OK)
        return status;
    if (session_has(import->session, "dry-run"))
        return run_dry(import);
    import->counts = (ImportCounts){0};
    import->started = g_get_monotonic_time();
    status = take_all(import, mailboxes, TURN_SENT);
    if (status == EX_OK)
        status = take_all(import, mailboxes, TURN_RECEIVED);
    int last = import_batch_wait(&import->batch);
    if (status == EX_OK)
        status = last;
    return status == EX_OK ? import_report(import, NULL) : status;
}

/* Asks for the account and its addresses, which decide what was sent. */
static int
ask_account(const Session *session, Import *import)
{
    GVariantDict arguments;
    int status;

    g_variant_dict_init(&arguments, NULL);
    const char *named = session_option(session, "account");
    if (named != NULL)
        g_variant_dict_insert(&arguments, "account", "s", named);
    g_autoptr(GVariant) answer =
        request_ask(session, "import-account", g_variant_dict_end(&arguments), &status);
    if (answer == NULL)
        return status;
    import->account = g_strdup(answer_text(answer, "account"));
    import->rules.addresses = answer_list(answer, "addresses");
    return EX_OK;
}

static int
read_options(const Session *session, Import *import)
{
    gboolean sent = session_has(session, "sent"), received = session_has(session, "received");
    const char *since = session_option(session, "since");
    const char *min_times = session_option(session, "min-times");
    const char *labels = session_option(session, "sent-labels");

    import->rules.now = time(NULL);
    import->rules.forced = sent || received;
    import->rules.role = sent ? FOLDER_SENT : FOLDER_OTHER;
    if (labels != NULL && *labels == '\0')
        return command_misused("--sent-labels", "labels with commas between them");
    if (labels != NULL)
        import->rules.sent_labels = folder_split_labels(labels);
    if (sent && received)
        return command_misused("--received", "not both --sent and --received");
    if (since != NULL && !command_read_day(since, &import->rules.since))
        return command_misused(since, "a day like 2026-11-29");
    if (min_times != NULL &&
        !g_ascii_string_to_unsigned(min_times, 10, 1, G_MAXUINT32, &import->least, NULL))
        return command_misused(min_times, "how often, a number from 1");
    return EX_OK;
}

int
cmd_import(const Session *session, char **words)
{
    Import import = {.session = session, .least = 1};

    mail_start();
    int status = read_options(session, &import);
    if (status == EX_OK)
        status = ask_account(session, &import);
    import_batch_init(&import.batch, session, import.account);
    if (status == EX_OK)
        status = run(&import, words);
    import_batch_clear(&import.batch);
    import_people_free(import.people);
    g_strfreev(import.rules.addresses);
    g_strfreev(import.rules.sent_labels);
    g_free(import.account);
    return status;
}
