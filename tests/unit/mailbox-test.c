/* mailbox-test - mailboxes as programs write them, and as they should not be (XB27, I1-I3) */
#include "lib/mailbox.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/mail-head.h"
#include "lib/mail.h"

#define FILES_MAX 8
#define LINK      "-> "
#define MARK      "From owner@example.com Mon Nov  2 10:00:00 2026\n"
#define GOOGLE    "From 1880000000000000001@xxx Mon Nov 02 10:00:00 +0000 2026\n"
#define ID(X)     "Message-ID: <" X "@x>\n"

/* A text that begins with LINK makes a symbolic link that leads there. */
typedef struct {
    const char *name;
    const char *text;
} File;

/* expected: a line for each folder, "name role", and for each message ": id marks". role and
 * marks: s sent, d drafts; D draft, T deleted, L labelled; ! a problem. */
typedef struct {
    const char *name;
    File files[FILES_MAX];
    const char *expected;
} Row;

/* clang-format off */
static const Row rows[] = {
    {"mboxrd: quoted postmarks are text (I1)",
     {{"a.mbox", MARK ID("1") "\nlook:\n\n>" MARK "From: x\n\n>>From here\n\n" MARK ID("2") "\nb\n"}},
     "a.mbox\n: 1\n: 2\n"},
    {"words that begin with From are text (I1)",
     {{"a.mbox", MARK ID("1") "\nHi\n\nFrom our side: nothing.\nTo: m@example.net\n\n"
                 "From Berlin on 2 Nov 2026 at 10:00\nTrain: ICE 5\n\n" MARK ID("2") "\n"}},
     "a.mbox\n: 1\n: 2\n"},
    {"a postmark begins a message only behind an empty line and before a field",
     {{"a.mbox", MARK ID("1") "\nHi\n" MARK "To: m@example.net\n\n" MARK "no field\n\n" MARK
                 ID("2") "\n"}},
     "a.mbox\n: 1\n: 2\n"},
    {"mboxcl2: the length says what is text",
     {{"a.mbox", MARK "Content-Length: 68\n" ID("1") "\n\n" MARK ID("f") "\n\n" MARK ID("2")
                 "content-length:0\n\n" MARK ID("3") "\n"}},
     "a.mbox\n: 1\n: 2\n: 3\n"},
    {"a length that leads nowhere is a stranger's number",
     {{"a.mbox", MARK "Content-Length: 60\n" ID("1") "\ntext\n\n" MARK
                 "Content-Length: 99999999999999999999\n" ID("2") "\ntext\n\n" MARK
                 "Content-Length: -1\n" ID("3") "\ntext\n\n" MARK ID("4") "\n"}},
     "a.mbox\n: 1\n: 2\n: 3\n: 4\n"},
    {"CR LF, no text, no end of line",
     {{"a.mbox", "From - Mon Nov 02 10:00:00 2026\r\nMessage-ID: <1@x>\r\n\r\n\r\n"
                 "From - Mon Nov 02 10:00:00 2026\r\nMessage-ID: <2@x>"}},
     "a.mbox\n: 1\n: 2\n"},
    {"a mark of byte order and empty lines before the first message are nothing",
     {{"a.mbox", "\xef\xbb\xbf\r\n\n" MARK ID("1") "\n\n" MARK ID("2") "\n"},
      {"b.mbox", "\n" GOOGLE "X-GM-THRID: 1\n" ID("1") "\n\n" GOOGLE "X-GM-THRID: 2\n" ID("2") "\n"}},
     "a.mbox\n: 1\n: 2\nb.mbox\n: 1 L\n: 2 L\n"},
    {"an empty message before the first",
     {{"a.mbox", MARK "\n" MARK "\r\n\n" MARK ID("1") "\n\n" MARK ID("2") "\n"}}, "a.mbox\n: 1\n: 2\n"},
    {"a message without a header",
     {{"a.mbox", MARK ID("1") "\n\n" MARK ": \n\n" MARK ID("2") "\n"}}, "a.mbox\n: 1\n: 2\n"},
    {"Takeout: its labels are Google's",
     {{"All mail.mbox", GOOGLE "X-GM-THRID: 1\nX-Gmail-Labels: Sent\n" ID("1") "\nHi\n\n" GOOGLE
                        "X-GM-THRID: 2\nX-Gmail-Labels: Inbox\n" ID("2") "\n"}},
     "All mail.mbox\n: 1 L\n: 2 L\n"},
    {"labels that a sender wrote are none",
     {{"Inbox", MARK "X-Gmail-Labels: Sent\n" ID("1") "\n\n" GOOGLE
                "X-GM-THRID: 2\nX-Gmail-Labels: Sent\n" ID("2") "\n"},
      {"Takeout", GOOGLE "X-GM-THRID: 2\n" ID("1") "\n\n" MARK "X-GM-THRID: 2\n" ID("2")
                  "\n\n" GOOGLE "Received: x\nX-GM-THRID: 3\n" ID("3") "\n"}},
     "Inbox\n: 1\n: 2\nTakeout\n: 1 L\n: 2\n: 3\n"},
    {"Maildir: flags, folders, names in modified UTF-7",
     {{"cur/1793613600.a:2,S", ID("2")}, {"new/1793613599.b", ID("1") "\n"},
      {"tmp/1793613598.c", ID("no")}, {"cur/1793613601.d:2,DS", ID("3") "\n"},
      {"cur/1793613602.e:2,ST", ID("4") "\n"}, {"dovecot.index", MARK ID("no") "\n"},
      {".Entw&APw-rfe/new/1.f", ID("5") "\n"}, {".INBOX.Sent.2026/cur/1.g:2,S", ID("6") "\n"}},
     " \n: 1\n: 2\n: 3 D\n: 4 T\n.Entw&APw-rfe d\n: 5\n.INBOX.Sent.2026 s\n: 6\n"},
    {"symbolic links are not followed",
     {{"inside/cur/1.a", ID("1") "\n"}, {"inside/cur/2.b", LINK "1.a"},
      {"inside/.Sent", LINK "../outside"}, {"outside/Mail", "none"},
      {"linked.mbox", LINK "outside/Mail"}},
     "inside\n: 1\n!\n"},
    {"Apple Mail: the plist has the flags",
     {{"Sent Messages.mbox/Data/1.emlx", "19\n" ID("1") "\n<plist><key>flags</key>"
       "<integer>8590195713</integer>"},
      {"Sent Messages.mbox/Data/2.partial.emlx", "19  \n" ID("2") "\n<key>flags</key>\n"
       "<integer>64</integer>"},
      {"Sent Messages.mbox/Data/3.emlx", "900\n" ID("3") "\n"},
      {"Sent Messages.mbox/Data/4.emlx", ID("4") "\n"},
      {"Sent Messages.mbox/Data/5.emlx", "19\n" ID("5") "\n<key>flags</key><integer>2</integer>"}},
     "Sent Messages.mbox/Data s\n: 1\n: 2 D\n!\n!\n: 5 T\n"},
    {"MH: numbers are messages where sequences are kept",
     {{"inbox/.mh_sequences", "unseen: 2\n"}, {"inbox/2", ID("2") "\n"}, {"inbox/10", ID("10") "\n"},
      {"inbox/,3", ID("no") "\n"}, {"sent/.mh_sequences", ""}, {"sent/1", ID("1") "\n"},
      {"years/2025", MARK ID("5") "\n"}, {"years/2026", ID("no") "\n"}},
     "inbox\n: 10\n: 2\nsent s\n: 1\nyears/2025\n: 5\n"},
    {"MH: numbers are messages where all of them are, sequences or not",
     {{"sent/1", ID("1") "\n"}, {"sent/3", ID("3") "\n"}, {"sent/,2", ID("no") "\n"},
      {"notes/1", "no mail here\n"}, {"notes/2", ID("no") "\n"}, {"context", "Current-Folder: x\n"}},
     "sent s\n: 1\n: 3\n"},
    {"a directory of everything",
     {{"a.eml", ID("1") "\n"}, {"b.EML", ""}, {"readme.txt", "no mail: here\n"},
      {"c/Gesendet", MARK ID("2") "\n"}, {"c/Gesendet.msf", "x"}, {"c/d.eml", "no header\n"}},
     "c/Gesendet s\n: 2\nc\n: -\n \n: 1\n!\n"},
};

static const struct {
    const char *name;
    FolderRole role;
} names[] = {
    {"Poslane stavke", FOLDER_SENT},
    {"Sent", FOLDER_SENT}, {"SENT ITEMS", FOLDER_SENT}, {"sent-mail", FOLDER_SENT},
    {"Gesendete Objekte", FOLDER_SENT}, {"[Gmail]/Gesendet", FOLDER_SENT},
    {"INBOX.&AMk-l&AOk-ments envoy&AOk-s", FOLDER_SENT}, {"Messages envoyés.mbox", FOLDER_SENT},
    {"Enviados", FOLDER_SENT}, {"Posta inviata", FOLDER_SENT}, {"Verzonden", FOLDER_SENT},
    {"送信済み", FOLDER_SENT}, {"Отправленные", FOLDER_SENT}, {"Elem. wysłane", FOLDER_SENT},
    {"Drafts", FOLDER_DRAFTS}, {"Entwürfe", FOLDER_DRAFTS}, {"下書き", FOLDER_DRAFTS},
    {"Outbox", FOLDER_DRAFTS}, {"Brouillons", FOLDER_DRAFTS},
    {"INBOX", FOLDER_OTHER}, {"Consent", FOLDER_OTHER}, {"i1-sent", FOLDER_OTHER},
    {"presented", FOLDER_OTHER}, {"not Sent", FOLDER_OTHER}, {"", FOLDER_OTHER},
    {"&AMk", FOLDER_OTHER}, {"&!!!!-", FOLDER_OTHER}, {"\xff\xfe", FOLDER_OTHER},
};

static const struct {
    const char *labels;
    FolderRole role;
    const char *sent; /* the labels of sent mail; NULL: those that are known */
} labels[] = {
    {"Gesendet,Geöffnet", FOLDER_SENT, NULL}, {"Archiv,\"Gesendet\"", FOLDER_SENT, NULL},
    {"Sent,Entwürfe", FOLDER_DRAFTS, NULL}, {"Posteingang,Ungelesen", FOLDER_OTHER, NULL},
    {"Sentimental", FOLDER_OTHER, NULL}, {"", FOLDER_OTHER, NULL},
    {"\"Sent, but not by me\",Inbox", FOLDER_OTHER, NULL}, {"\"A, B\",Sent", FOLDER_SENT, NULL},
    {"البريد المُرسَل", FOLDER_SENT, NULL}, {"Skickade mail,Viktigt", FOLDER_SENT, NULL},
    {"Weg", FOLDER_SENT, "Fort,Weg"}, {"Sent", FOLDER_OTHER, "Fort,Weg"},
    {"", FOLDER_OTHER, "Weg,"}, {"Weg,", FOLDER_SENT, ",Weg"},
    {"Weg,Entwürfe", FOLDER_DRAFTS, "Weg"}, {"\"Weg, fort\"", FOLDER_SENT, "\"weg, FORT\""},
};
/* clang-format on */

static void
make_file(const char *root, const File *file)
{
    g_autofree char *path = g_build_filename(root, file->name, NULL);
    g_autofree char *folder = g_path_get_dirname(path);
    g_autoptr(GError) error = NULL;

    g_assert_cmpint(g_mkdir_with_parents(folder, 0700), ==, 0);
    if (g_str_has_prefix(file->text, LINK)) {
        g_assert_cmpint(symlink(file->text + strlen(LINK), path), ==, 0);
        return;
    }
    g_file_set_contents(path, file->text, -1, &error);
    g_assert_no_error(error);
}

static void
remove_tree(const char *path)
{
    GStatBuf status;

    if (g_lstat(path, &status) == 0 && S_ISDIR(status.st_mode)) {
        g_autoptr(GDir) folder = g_dir_open(path, 0, NULL);
        const char *name;
        while ((name = g_dir_read_name(folder)) != NULL) {
            g_autofree char *below = g_build_filename(path, name, NULL);
            remove_tree(below);
        }
    }
    g_assert_cmpint(g_remove(path), ==, 0);
}

static char *
make_root(void)
{
    g_autoptr(GError) error = NULL;
    char *root = g_dir_make_tmp("exeat-test-XXXXXX", &error);

    g_assert_no_error(error);
    return root;
}

static void
write_message(GString *out, const MailboxMessage *message)
{
    g_autoptr(MailHead) head =
        message->problem == NULL ? mail_head_read(message->head, message->head_length) : NULL;

    if (message->problem != NULL) {
        g_string_append(out, "!\n");
        return;
    }
    g_autofree char *id = g_strdup(head != NULL ? head->extract->message_id : "");
    if (*id != 0)
        *strchr(id, '@') = 0;
    g_string_append_printf(out, ": %s%s%s%s%s\n", *id != 0 ? id + 1 : "-",
                           message->draft || message->deleted || message->labelled ? " " : "",
                           message->draft ? "D" : "", message->deleted ? "T" : "",
                           message->labelled ? "L" : "");
}

/* All folders and messages at path, as the rows write them. */
static char *
read_all(const char *path, GString *digests)
{
    static const char *const roles[] = {"", " s", " d"};
    g_autoptr(GError) error = NULL;
    g_autoptr(Mailbox) mailbox = mailbox_open(path, &error);
    GString *out = g_string_new(NULL);
    MailboxFolder folder;
    MailboxMessage message;

    g_assert_no_error(error);
    while (mailbox_next_folder(mailbox, &folder, &error)) {
        const char *below = folder.path + strlen(path);
        g_string_append_printf(out, "%s%s\n", *below != 0 ? below + 1 : " ",
                               roles[folder.role]);
        while (mailbox_next(mailbox, &message, &error))
            write_message(out, &message);
        g_autofree char *digest = mailbox_digest(mailbox);
        if (digests != NULL)
            g_string_append_printf(digests, "%s\n", digest);
    }
    g_assert_no_error(error);
    return g_string_free(out, FALSE);
}

static void
test_row(gconstpointer data)
{
    const Row *row = data;
    g_autofree char *root = make_root();

    for (guint i = 0; i < FILES_MAX && row->files[i].name != NULL; i++)
        make_file(root, &row->files[i]);
    g_autofree char *found = read_all(root, NULL);
    g_assert_cmpstr(found, ==, row->expected);
    remove_tree(root);
}

static void
test_names(void)
{
    for (gsize i = 0; i < G_N_ELEMENTS(names); i++)
        if (folder_role(names[i].name) != names[i].role)
            g_error("the folder %s has role %d", names[i].name, folder_role(names[i].name));
    for (gsize i = 0; i < G_N_ELEMENTS(labels); i++) {
        g_auto(GStrv) sent =
            labels[i].sent != NULL ? folder_split_labels(labels[i].sent) : NULL;
        FolderRole role = folder_role_of_labels(labels[i].labels, sent);
        if (role != labels[i].role)
            g_error("the labels %s have role %d", labels[i].labels, role);
    }
}

/* One file at the path itself, whatever it is called. */
static void
test_single(void)
{
    g_autofree char *root = make_root();
    g_autofree char *path = g_build_filename(root, "Sent", NULL);
    g_autoptr(GString) digests = g_string_new(NULL);

    make_file(root, &(File){"Sent", ID("1") "\nHi\n"});
    g_autofree char *message = read_all(path, digests);
    g_assert_cmpstr(message, ==, "  s\n: 1\n");
    make_file(root, &(File){"Sent", MARK ID("1") "\nHi\n"});
    g_autofree char *mbox = read_all(path, digests);
    g_assert_cmpstr(mbox, ==, "  s\n: 1\n");
    make_file(root, &(File){"Sent", ""});
    g_autofree char *empty = read_all(path, digests);
    g_assert_cmpstr(empty, ==, "");
    /* printf 'Message-ID: <1@x>\n\nHi\n' | sha256sum, and with the postmark before it */
    g_assert_cmpstr(digests->str, ==,
                    "2cf0ea6f6d08bae4791ff98f3603f311858319b9489719576681ff2fe3e4ca4c\n"
                    "ce785e990675e0f81c1792ca3c17f7e5946e3788a01fe085a6d7c60e42b58c6f\n");
    remove_tree(root);
}

/* The digest of a Maildir stays when a message is read. */
static void
test_digest(void)
{
    g_autofree char *root = make_root();
    g_autoptr(GString) digests = g_string_new(NULL);

    make_file(root, &(File){"new/2.b", ID("2")});
    make_file(root, &(File){"cur/1.a:2,", ID("1")});
    g_free(read_all(root, digests));
    g_autofree char *from = g_build_filename(root, "new", "2.b", NULL);
    g_autofree char *to = g_build_filename(root, "cur", "2.b:2,RS", NULL);
    g_assert_cmpint(g_rename(from, to), ==, 0);
    g_free(read_all(root, digests));
    /* printf '1.a\n2.b\n' | sha256sum */
    g_assert_cmpstr(digests->str, ==,
                    "0049c5977c45a161875f6758ba261114254632d35e4f95ffaef298c2b09ad9aa\n"
                    "0049c5977c45a161875f6758ba261114254632d35e4f95ffaef298c2b09ad9aa\n");
    remove_tree(root);
}

static void
test_nowhere(void)
{
    static const char *const paths[] = {"/nonexistent", "/dev/null"};
    g_autofree char *root = make_root();

    for (gsize i = 0; i <= G_N_ELEMENTS(paths); i++) {
        g_autoptr(GError) error = NULL;
        const char *path = i < G_N_ELEMENTS(paths) ? paths[i] : root;
        g_assert_null(mailbox_open(path, &error));
        g_assert_true(g_str_has_prefix(error->message, path));
    }
    remove_tree(root);
}

/* A header of a quarter of a megabyte is none, and what follows it is still found; lines
 * longer than any buffer are text. */
static void
test_sizes(void)
{
    g_autofree char *root = make_root();
    g_autofree char *line = g_strnfill(400 * 1024, 'x');
    g_autofree char *mbox = g_strconcat(MARK "Subject: ", line, "\n\n" MARK ID("2") "\n", line,
                                        "\n", line, "\n\n" MARK ID("3") "\n", NULL);

    make_file(root, &(File){"a.mbox", mbox});
    make_file(root, &(File){"b.eml", mbox});
    g_autofree char *found = read_all(root, NULL);
    g_assert_cmpstr(found, ==, "a.mbox\n!\n: 2\n: 3\n \n!\n");
    remove_tree(root);
}

/* The whole of each message, and the next one behind it. */
static void
test_whole(void)
{
    g_autofree char *root = make_root();
    g_autoptr(GError) error = NULL;
    MailboxFolder folder;
    MailboxMessage message;
    guint seen = 0;

    make_file(root, &(File){"a.mbox", MARK ID("1") "\nask m@example.net\n\n" MARK ID(
                                          "2") "\nask m@example.net\n"});
    make_file(root, &(File){"1.emlx", "36\n" ID("3") "\nask m@example.net<plist>"
                                                     "no@example.net"});
    g_autoptr(Mailbox) mailbox = mailbox_open(root, &error);
    while (mailbox_next_folder(mailbox, &folder, &error))
        while (mailbox_next(mailbox, &message, &error)) {
            int fd = mailbox_whole(mailbox, &error);
            g_assert_no_error(error);
            g_autoptr(Extract) extract = mail_extract(fd, &error);
            g_assert_no_error(error);
            g_assert_cmpstr(extract->mentioned[0], ==, "m@example.net");
            g_assert_null(extract->mentioned[1]);
            g_assert_cmpuint(g_strv_length(extract->mentioned), ==, 1);
            close(fd);
            seen++;
        }
    g_assert_no_error(error);
    g_assert_cmpuint(seen, ==, 3);
    remove_tree(root);
}

/* A file of a Maildir is asked no more than it has to be: what must not be lost by that. */
static void
test_maildir_files(void)
{
    static const struct {
        const char *problem;
        gsize head_least, whole_least;
    } EXPECTED[] = {
        {NULL, 19, 29},                  /* all in one read */
        {NULL, 20000, 20010},            /* a header longer than that */
        {NULL, 18, 18},                  /* nothing but a header without its end */
        {NULL, 19, 20000},               /* a text longer than that */
        {"it is no regular file", 0, 0}, /* a directory */
        {"it is no regular file", 0, 0}, /* a pipe */
        {"it is empty", 0, 0},
        {NULL, 19, 29}, /* no time in its name */
    };
    g_autofree char *root = make_root();
    g_autofree char *line = g_strnfill(20000, 'x');
    g_autofree char *head = g_strconcat(ID("2") "Subject: ", line, "\n\nsome text\n", NULL);
    g_autofree char *text = g_strconcat(ID("4") "\n", line, NULL);
    g_autofree char *folder_path = g_build_filename(root, "cur", "1700000005.e", NULL);
    g_autofree char *pipe_path = g_build_filename(root, "cur", "1700000006.f", NULL);
    g_autoptr(GError) error = NULL;
    MailboxFolder folder;
    MailboxMessage message;
    guint seen = 0;

    make_file(root, &(File){"cur/1700000001.a", ID("1") "\nsome text\n"});
    make_file(root, &(File){"cur/1700000002.b", head});
    make_file(root, &(File){"cur/1700000003.c", ID("3")});
    make_file(root, &(File){"cur/1700000004.d", text});
    g_assert_cmpint(g_mkdir(folder_path, 0700), ==, 0);
    g_assert_cmpint(mkfifo(pipe_path, 0600), ==, 0);
    make_file(root, &(File){"cur/1700000007.g", ""});
    make_file(root, &(File){"cur/name", ID("8") "\nsome text\n"});
    g_autoptr(Mailbox) mailbox = mailbox_open(root, &error);
    g_assert_true(mailbox_next_folder(mailbox, &folder, &error));
    for (; mailbox_next(mailbox, &message, &error); seen++) {
        g_test_message("%s", message.where);
        g_assert_cmpuint(seen, <, G_N_ELEMENTS(EXPECTED));
        g_assert_cmpstr(message.problem, ==, EXPECTED[seen].problem);
        g_assert_cmpuint(message.head_length, >=, EXPECTED[seen].head_least);
        if (message.problem != NULL)
            continue;
        if (seen + 1 < G_N_ELEMENTS(EXPECTED))
            g_assert_cmpint(message.arrived, ==, 1700000001 + seen);
        else
            g_assert_cmpint(message.arrived, >, 1700000100);
        int fd = mailbox_whole(mailbox, &error);
        g_assert_no_error(error);
        g_assert_cmpint(lseek(fd, 0, SEEK_END), >=, EXPECTED[seen].whole_least);
        close(fd);
    }
    g_assert_no_error(error);
    g_assert_cmpuint(seen, ==, G_N_ELEMENTS(EXPECTED));
    remove_tree(root);
}

static void
test_head(void)
{
    static const char text[] =
        "From: A <a@example.com>\r\nTo: b@example.org,\r\n c@example.org\r\n"
        "Bcc: \"D, d\" <D@Example.org>\nBCC: e@example.org\n"
        "X-Gmail-Labels: =?UTF-8?Q?Gesendet,Ge=C3=B6ffnet?=\n"
        "Date: Mon, 2 Nov 2026 11:00:00 +0100\n\0: x\n\n";
    static const struct {
        const char *field;
        gboolean removed;
    } MARKS[] = {
        {"X-Status: D\n", TRUE},
        {"X-Status: AT\n", TRUE},
        {"X-Status: A\n", FALSE},
        {"Status: RO\n", FALSE},
        {"X-Mozilla-Status: 0009\n", TRUE},
        {"X-Mozilla-Status: 0001\n", FALSE},
        {"X-Mozilla-Status2: 00000008\n", FALSE},
        {"X-Unsent: 1\n", TRUE},
        {"X-Unsent: 0\n", FALSE},
    };
    g_autoptr(MailHead) head = mail_head_read(text, sizeof text - 1);
    g_autofree char *to = g_strjoinv(" ", head->extract->to_cc);
    g_autofree char *bcc = g_strjoinv(" ", head->bcc);

    g_assert_cmpstr(to, ==, "b@example.org c@example.org");
    g_assert_cmpstr(bcc, ==, "d@example.org e@example.org");
    g_assert_cmpstr(head->labels, ==, "Gesendet,Geöffnet");
    g_assert_cmpint(head->date, ==, 1793613600);
    g_assert_false(head->removed);
    for (gsize i = 0; i < G_N_ELEMENTS(MARKS); i++) {
        g_autoptr(MailHead) marked = mail_head_read(MARKS[i].field, strlen(MARKS[i].field));
        g_assert_cmpint(marked->removed, ==, MARKS[i].removed);
    }
    g_autoptr(MailHead) edited = mail_head_read("\xef\xbb\xbfTo: b@x\n\n", 12);
    g_assert_cmpstr(edited->extract->to_cc[0], ==, "b@x");
    g_assert_null(mail_head_read("no field\n\n", 10));
    g_assert_null(mail_head_read("", 0));
}

static void
test_dates(void)
{
    static const struct {
        const char *written;
        gint64 expected;
    } CASES[] = {
        {"Mon, 2 Nov 2026 11:00:00 +0100", 1793613600},
        {"2 Nov 2026 10:00:00 -0000", 1793613600},
        {"\tMon, 02 Nov 2026 04:30:00 -0530 ", 1793613600},
        {"Sun, 29 Feb 2032 23:59:59 +1400", 1961661599},
        {"Thu, 1 Jan 1970 00:00:00 +0000", 0},
        {"Thu, 1 Jan 1970 00:00:00 +0001", 0},
        /* Other spellings, which take longer. */
        {"Mon, 2 Nov 2026 11:00:00 +0100 (CET)", 1793613600},
        {"Mon, 2 Nov 2026 10:00 GMT", 1793613600},
        {"Mon Nov  2 10:00:00 2026", 1793613600},
        {"Mon, 2 nov 26 10:00:00 +0000", 1793613600},
        {"Mon, 2 Nov 0026 10:00:00 +0000", 1793613600},
        {"Mon,", 0},
        {"2 Nov", 0},
        {"", 0},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(CASES); i++) {
        g_autofree char *header = g_strdup_printf("Date: %s\n\n", CASES[i].written);
        g_autoptr(MailHead) head = mail_head_read(header, strlen(header));
        g_test_message("%s", CASES[i].written);
        g_assert_cmpint(head->date, ==, CASES[i].expected);
    }
}

/* Few and many are compared in different ways. */
static void
test_once(void)
{
    g_autoptr(GString) header = g_string_new("To: a0@example.org");

    for (guint i = 0; i < 60; i++)
        g_string_append_printf(header, ", a%u@example.org", i % 30);
    g_string_append(header, "\n\n");
    g_autoptr(MailHead) head = mail_head_read(header->str, header->len);
    g_assert_cmpuint(g_strv_length(head->extract->to_cc), ==, 30);
    for (guint i = 0; i < 30; i++) {
        g_autofree char *expected = g_strdup_printf("a%u@example.org", i);
        g_assert_cmpstr(head->extract->to_cc[i], ==, expected);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    mail_start();
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *path = g_strconcat("/mailbox/", rows[i].name, NULL);
        g_test_add_data_func(path, &rows[i], test_row);
    }
    g_test_add_func("/mailbox/names", test_names);
    g_test_add_func("/mailbox/single", test_single);
    g_test_add_func("/mailbox/digest", test_digest);
    g_test_add_func("/mailbox/nowhere", test_nowhere);
    g_test_add_func("/mailbox/sizes", test_sizes);
    g_test_add_func("/mailbox/whole", test_whole);
    g_test_add_func("/mailbox/maildir-files", test_maildir_files);
    g_test_add_func("/mailbox/head", test_head);
    g_test_add_func("/mailbox/dates", test_dates);
    g_test_add_func("/mailbox/once", test_once);
    return g_test_run();
}
