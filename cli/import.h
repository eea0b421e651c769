/* import.h - the parts of "exeat import"
 *
 * cmd-import goes through the mailboxes, import-message decides what one message teaches,
 * import-people keeps whom the human wrote to when that has to be known beforehand,
 * import-batch carries it to the relay, import-report says what came of it. */
#pragma once

#include "cli/request.h"
#include "lib/lesson.h"
#include "lib/mail-head.h"
#include "lib/mailbox.h"

/* Why a message teaches nothing. */
typedef enum {
    SKIP_NOT,
    SKIP_BROKEN,
    SKIP_DRAFT,
    SKIP_DELETED,
    SKIP_AUTOMATIC,
    SKIP_EARLIER,
    SKIP_SENDER,
    SKIP_ALONE,
    SKIP_UNWANTED,
    SKIP_COUNT
} Skip;

/* "drafts": for the summary. key: the same for JSON, "draft". Static. */
const char *skip_text(Skip skip);
const char *skip_key(Skip skip);

/* How messages are told apart. */
typedef struct {
    char **addresses; /* the account's, normal forms */
    gint64 now;
    gint64 since; /* 0: no limit */
    gboolean forced;
    FolderRole role;      /* of every folder, when forced */
    char **sent_labels;   /* NULL: those that are known */
    gboolean labels_tell; /* in this folder, though it is not Google's */
    gboolean heads;       /* no text is read */
} ImportRules;

/* What one message teaches. */
typedef struct {
    Lesson lesson; /* its strings and lists are those below */
    MailHead *head;
    Extract *whole; /* NULL when its text was not read */
    char *made_id;  /* NULL when it has one of its own */
    GPtrArray *recipients;
    GPtrArray *correspondents;
} ImportMessage;

/* Reads the message stepped to. *why_out: what is broken, for SKIP_BROKEN. */
Skip import_message_read(const ImportRules *rules, Mailbox *mailbox, FolderRole role,
                         const MailboxMessage *message, ImportMessage *read_out,
                         char **why_out);
void import_message_clear(ImportMessage *message);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(ImportMessage, import_message_clear)

/* Whom the human wrote to, how often, and who wrote. */
typedef struct _ImportPeople ImportPeople;

typedef struct {
    guint64 times;
    gint64 first, last;
    gboolean wrote; /* a message of theirs was found */
} ImportPerson;

ImportPeople *import_people_new(void);
void import_people_free(ImportPeople *people);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ImportPeople, import_people_free)

/* Counts a message; one with an id counted before does not count again. */
void import_people_count(ImportPeople *people, const ImportMessage *message,
                         gboolean count_senders);

/* Removes who was written to less than least times or, if replied, never wrote. */
void import_people_narrow(ImportPeople *people, guint64 least, gboolean replied);

/* NULL when the address is not, or not any more, among them. */
const ImportPerson *import_people_find(const ImportPeople *people, const char *address);

/* The addresses, sorted. The strings are borrowed; the caller frees the list. */
char **import_people_list(const ImportPeople *people);

/* What goes to the relay, many messages at a time, one batch after the other; the next are
 * read while it works, and wait for it. */
typedef struct {
    const Session *session;
    const char *account;
    char *path;       /* of the folder */
    gboolean begins;  /* nothing of the folder was sent yet */
    GString *lessons; /* as lesson_add() writes them */
    guint count;      /* of them */
    guint count_max;  /* of this batch */
    GQueue requests;  /* of GVariant *: batches to be sent, one after the other */
    gsize requests_size;
    Wire *wire;     /* NULL before the first batch, and after trouble */
    gboolean asked; /* a batch is without its answer */
    guint64 correspondents;
    guint64 conversations;
} ImportBatch;

void import_batch_init(ImportBatch *batch, const Session *session, const char *account);
void import_batch_clear(ImportBatch *batch);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(ImportBatch, import_batch_clear)

/* begins: it is the first batch of the folder. */
void import_batch_begin(ImportBatch *batch, const char *path, gboolean begins);

/* These return an exit status, after one line on standard error if it is not EX_OK. */
int import_batch_add(ImportBatch *batch, const Lesson *lesson);

/* The folder will go on later, or never: waits until what was added is kept. */
int import_batch_pause(ImportBatch *batch);

/* The folder is at its end. summary: a{sv}, floating is taken. */
int import_batch_end(ImportBatch *batch, GVariant *summary);

/* Waits until all that was added is kept. */
int import_batch_wait(ImportBatch *batch);

typedef struct {
    guint64 folders, messages, sent, received;
    guint64 skipped[SKIP_COUNT];
} ImportCounts;

/* The runs through the mailboxes. */
typedef enum {
    TURN_COUNT, /* of people; nothing is sent */
    TURN_SENT,
    TURN_RECEIVED
} ImportTurn;

typedef struct {
    const Session *session;
    ImportRules rules;
    guint64 least; /* --min-times */
    char *account;
    ImportPeople *people; /* NULL: everybody the human wrote to */
    ImportTurn turn;
    ImportBatch batch;
    ImportCounts counts;
    gint64 started, told; /* monotonic */
    gboolean talking;     /* there is a line of progress on the terminal */
} Import;

/* Prints the summary. novel: who would become known, of a dry run; otherwise NULL. */
int import_report(const Import *import, char *const *novel);
