/* IMAP: addresses and names as tables, and a server that says what the row says. The
 * connection is the test's own, in place of lib/imap-stream.c; the real one meets Dovecot in
 * story-imap. */
#include "tests/unit/imap-script.h"

/* Addresses */

typedef struct {
    const char *text;
    const char *user; /* NULL: refused, with the word in host in the message */
    const char *host;
    guint port;
    const char *folder;
    gboolean starttls;
} UrlRow;

static const UrlRow urls[] = {
    {"imaps://nora@mx.test/Sent", "nora", "mx.test", 0, "Sent", FALSE},
    {"imap://nora@mx.test:1143/Sent", "nora", "mx.test", 1143, "Sent", TRUE},
    {"imaps://nora@example.com@mx.test", "nora@example.com", "mx.test", 0, NULL, FALSE},
    {"imaps://nora%40example.com@mx.test/", "nora@example.com", "mx.test", 0, NULL, FALSE},
    {"imaps://nora@[::1]:993/a/b", "nora", "[::1]", 993, "a/b", FALSE},
    {"imaps://nora@[::1]/a", "nora", "[::1]", 0, "a", FALSE},
    {"imaps://nora@mx.test/Gel%C3%B6schte%20Objekte", "nora", "mx.test", 0,
     "Gelöschte Objekte", FALSE},
    {"imaps://nora@mx.test/Gesendete Objekte@home", "nora", "mx.test", 0,
     "Gesendete Objekte@home", FALSE},
    {"imaps://nora:secret@mx.test/Sent", NULL, "password", 0, NULL, FALSE},
    {"imaps://mx.test/Sent", NULL, "no user", 0, NULL, FALSE},
    {"imaps://@mx.test/Sent", NULL, "no user", 0, NULL, FALSE},
    {"imaps://n%0d%0aora@mx.test/Sent", NULL, "no user", 0, NULL, FALSE},
    {"imaps://nora@/Sent", NULL, "no host", 0, NULL, FALSE},
    {"imaps://nora@mx test/Sent", NULL, "no host", 0, NULL, FALSE},
    {"imaps://nora@mx.test?x/Sent", NULL, "no host", 0, NULL, FALSE},
    {"imaps://nora@[::1/Sent", NULL, "no host", 0, NULL, FALSE},
    {"imaps://nora@mx.test:0/Sent", NULL, "port", 0, NULL, FALSE},
    {"imaps://nora@mx.test:65536/Sent", NULL, "port", 0, NULL, FALSE},
    {"imaps://nora@mx.test:/Sent", NULL, "port", 0, NULL, FALSE},
    {"imaps://nora@mx.test/a%00b", NULL, "folder", 0, NULL, FALSE},
    {"imaps://nora@mx.test/a%0ab", NULL, "folder", 0, NULL, FALSE},
    {"imaps://nora@mx.test/a%ffb", NULL, "folder", 0, NULL, FALSE},
    {"http://nora@mx.test/", NULL, "beginning", 0, NULL, FALSE},
};

static void
test_urls(void)
{
    for (gsize i = 0; i < G_N_ELEMENTS(urls); i++) {
        const UrlRow *row = &urls[i];
        g_autoptr(GError) error = NULL;
        g_autoptr(ImapUrl) url = imap_url_parse(row->text, &error);

        g_test_message("%s", row->text);
        if (row->user == NULL) {
            g_assert_error(error, EXEAT_ERROR, ERROR_CONFIG);
            g_assert_nonnull(strstr(error->message, row->host));
            g_assert_null(strstr(error->message, "secret"));
            continue;
        }
        g_assert_no_error(error);
        g_assert_cmpstr(url->user, ==, row->user);
        g_assert_cmpstr(url->host, ==, row->host);
        g_assert_cmpuint(url->port, ==, row->port);
        g_assert_cmpstr(url->folder, ==, row->folder);
        g_assert_cmpint(url->starttls, ==, row->starttls);
    }
}

/* Names */

static const struct {
    const char *name, *wire;
} names[] = {
    {"INBOX", "INBOX"},
    {"R&D", "R&-D"},
    {"&", "&-"},
    {"Entwürfe", "Entw&APw-rfe"},
    {"~peter/mail/台北/日本語", "~peter/mail/&U,BTFw-/&ZeVnLIqe-"}, /* RFC 3501, 5.1.3 */
    {"a\r\nE9 DELETE b", "a&AA0ACg-E9 DELETE b"},
    {"\U0001f4e8", "&2D3c6A-"},
    {"a\"b\\c", "a\"b\\c"},
    {"", ""},
};

static const char *const bad_wires[] = {
    "&",
    "&APw",
    "a&AP*-",
    "Entw\303\274rfe",
    "&AGE-" /* a letter that needs none */,
    "&2D0-" /* half a character */,
    "&APx-" /* bits left over */,
    "&APw-&APw-",
    "a\tb",
};

static void
test_names(void)
{
    for (gsize i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autofree char *wire = imap_name_encode(names[i].name);
        g_autofree char *name = imap_name_decode(names[i].wire);

        g_assert_cmpstr(wire, ==, names[i].wire);
        g_assert_cmpstr(name, ==, names[i].name);
    }
    for (gsize i = 0; i < G_N_ELEMENTS(bad_wires); i++) {
        g_autofree char *name = imap_name_decode(bad_wires[i]);
        g_assert_cmpstr(name, ==, NULL);
    }
}

/* Folders */

static void
test_folders(void)
{
    static const char listing[] = "* LIST (\\HasChildren \\Noselect) \"/\" Lists\r\n"
                                  "* list (\\Sent) \"/\" {11}\r\nGesendet \"x\r\n"
                                  "* LIST () NIL \"quoted \\\"name\\\\\"\r\n"
                                  "* LIST (\\drafts) \"/\" Entw&APw-rfe (\"X\" (1 2))\r\n"
                                  "* LIST () \"/\" broken&name\r\n"
                                  "* LIST nonsense\r\n"
                                  "* LSUB () \"/\" other\r\n"
                                  "E2 OK done\r\n";
    static const ImapFolder expected[] = {
        {(char *)"Lists", IMAP_ROLE_NONE, FALSE},
        {(char *)"Gesendet \"x", IMAP_ROLE_SENT, TRUE},
        {(char *)"quoted \"name\\", IMAP_ROLE_NONE, TRUE},
        {(char *)"Entwürfe", IMAP_ROLE_DRAFTS, TRUE},
    };
    g_autoptr(GError) error = NULL;
    g_autoptr(Imap) imap = connect_to(listing);
    g_autoptr(GPtrArray) folders = imap_folders(imap, &error);

    g_assert_no_error(error);
    g_assert_cmpuint(folders->len, ==, G_N_ELEMENTS(expected));
    for (guint i = 0; i < folders->len; i++) {
        const ImapFolder *folder = g_ptr_array_index(folders, i);
        g_assert_cmpstr(folder->name, ==, expected[i].name);
        g_assert_cmpint(folder->role, ==, expected[i].role);
        g_assert_cmpint(folder->readable, ==, expected[i].readable);
    }
    g_assert_cmpstr(told->str, ==, "E1 CAPABILITY\r\nE2 LIST \"\" \"*\"\r\n");
}

/* Messages */

#define VIEW "* 2 EXISTS\r\n* OK [UIDVALIDITY 77] x\r\n* 0 RECENT\r\nE2 OK [READ-ONLY]\r\n"

/* Opens a folder whose server says this and the rest. */
static Imap *
examine(const char *says, ImapView *view_out)
{
    g_autoptr(GError) error = NULL;
    Imap *imap = connect_to(says);

    imap_examine(imap, "a \"b\"", view_out, &error);
    g_assert_no_error(error);
    return imap;
}

static void
test_messages(gconstpointer piece)
{
    static const char first[] = "Subject: x\r\nE3 OK done\r\n* BYE\r\n\r\n";
    g_autoptr(GError) error = NULL;
    const ImapMessage *message;
    ImapView view;

    script_piece = GPOINTER_TO_SIZE(piece);
    g_autoptr(Imap) imap = examine(
        VIEW "* 2 FETCH (BODY[HEADER]<0> \"A: \\\"b\\\"\" INTERNALDATE \" 1-Feb-2026 01:00:00 "
             "+0130\" X-GM-LABELS (\"a\" (b {2}\r\n)( c)) FLAGS (\\Seen \\draft) UID 9)\r\n"
             "* 1 FETCH (FLAGS (\\Deleted))\r\n"
             "* 1 fetch (UID 7 RFC822.SIZE 4000000000 FLAGS (\\Deleted) INTERNALDATE "
             "\"31-Jan-2026 23:30:00 +0000\" BODY[HEADER]<0> {33}\r\n"
             "Subject: x\r\nE3 OK done\r\n* BYE\r\n\r\n)\r\n"
             "* 1 FETCH (UID 8 BODY[HEADER]<0> \"twice\")\r\n"
             "E3 OK done\r\n",
        &view);
    g_assert_cmpuint(view.count, ==, 2);
    g_assert_cmpuint(view.uid_validity, ==, 77);
    g_assert_cmpint(imap_next(imap, &message, &error), ==, IMAP_MESSAGE);
    g_assert_cmpmem(message->head, message->head_length, first, strlen(first));
    g_assert_cmpuint(message->uid, ==, 7);
    g_assert_cmpuint(message->size, ==, 4000000000);
    g_assert_cmpint(message->arrived, ==, 1769902200);
    g_assert_true(message->deleted && !message->draft);
    g_assert_cmpint(imap_next(imap, &message, &error), ==, IMAP_MESSAGE);
    g_assert_cmpmem(message->head, message->head_length, "A: \"b\"", 6);
    g_assert_cmpint(message->arrived, ==, 1769902200);
    g_assert_true(message->draft && !message->deleted);
    g_assert_cmpint(imap_next(imap, &message, &error), ==, IMAP_END);
    g_assert_no_error(error);
    g_assert_nonnull(strstr(told->str, "E2 EXAMINE \"a \\\"b\\\"\"\r\nE3 FETCH 1:2 ("));
    g_assert_null(strstr(told->str, "BODY["));
    script_piece = 0;
}

/* A header beyond the limit, and a message that the server has removed, are messages with a
 * problem. */
static void
test_problems(void)
{
    g_autoptr(GError) error = NULL;
    const ImapMessage *message;
    ImapView view;
    g_autofree char *head = g_strnfill(IMAP_HEAD_MAX + 1, 'x');
    g_autofree char *says =
        g_strdup_printf(VIEW "* 1 FETCH (UID 7 BODY[HEADER]<0> {%d}\r\n%s)\r\n"
                             "* 2 FETCH (UID 8 BODY[HEADER]<0> NIL)\r\nE3 OK\r\n",
                        IMAP_HEAD_MAX + 1, head);
    g_autoptr(Imap) imap = examine(says, &view);

    g_assert_cmpint(imap_next(imap, &message, &error), ==, IMAP_MESSAGE);
    g_assert_cmpstr(message->problem, ==, "its header is too large");
    g_assert_null(message->head);
    g_assert_cmpint(imap_next(imap, &message, &error), ==, IMAP_MESSAGE);
    g_assert_cmpstr(message->problem, ==, "the server lists it and does not give it");
    g_assert_cmpuint(message->number, ==, 2);
    g_assert_cmpint(imap_next(imap, &message, &error), ==, IMAP_END);
}

/* What is removed meanwhile moves the numbers of those that are not fetched yet. */
static void
test_expunge(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GString) says = g_string_new("* 53 EXISTS\r\nE2 OK\r\n");
    const ImapMessage *message;
    const char *bytes = "";
    ImapView view;
    gsize length;

    for (guint i = 1; i <= 50; i++)
        g_string_append_printf(says, "* %u FETCH (UID %u BODY[HEADER] \"%u\")\r\n", i, i, i);
    g_string_append(says, "E3 OK\r\n* 52 EXPUNGE\r\n* 3 EXPUNGE\r\n* 0 EXPUNGE\r\nE4 OK\r\n"
                          "* 50 FETCH (UID 51 BODY[HEADER] \"51\")\r\n"
                          "* 51 FETCH (UID 53 BODY[HEADER] \"53\")\r\nE5 OK\r\n");
    g_autoptr(Imap) imap = examine(says->str, &view);
    for (guint i = 1; i <= 50; i++)
        g_assert_cmpint(imap_next(imap, &message, &error), ==, IMAP_MESSAGE);
    g_assert_true(imap_whole(imap, 3, 100, &bytes, &length, &error));
    g_assert_null(bytes);
    g_assert_cmpint(imap_next(imap, &message, &error), ==, IMAP_MESSAGE);
    g_assert_cmpuint(message->uid, ==, 51);
    g_assert_cmpint(imap_next(imap, &message, &error), ==, IMAP_MESSAGE);
    g_assert_cmpuint(message->uid, ==, 53);
    g_assert_cmpint(imap_next(imap, &message, &error), ==, IMAP_END);
    g_assert_nonnull(strstr(told->str, "E4 UID FETCH 3 (UID BODY.PEEK[]<0.100>)\r\n"));
    g_assert_nonnull(strstr(told->str, "E5 FETCH 50:51 ("));
}

static void
test_whole(void)
{
    g_autoptr(GError) error = NULL;
    const char *bytes = NULL;
    gsize length = 0;
    ImapView view;
    g_autoptr(Imap) imap = examine(VIEW "* 1 FETCH (UID 6 BODY[]<0> \"other\")\r\n"
                                        "* 1 FETCH (BODY[]<0> {9}\r\nE3 OK\r\n\r\n UID 7)\r\n"
                                        "* 1 FETCH (UID 7 FLAGS ())\r\nE3 OK done\r\n",
                                   &view);

    g_assert_true(imap_whole(imap, 7, 100, &bytes, &length, &error));
    g_assert_no_error(error);
    g_assert_cmpmem(bytes, length, "E3 OK\r\n\r\n", 9);
}

/* Servers that do not keep to it */

typedef struct {
    const char *name;
    const char *says; /* after VIEW */
    ExeatError code;
    const char *message; /* a part of it */
} BadRow;

static const BadRow bad_servers[] = {
    {"lost at once", "", ERROR_TEMP, "lost"},
    {"lost in a literal", "* 1 FETCH (UID 7 BODY[HEADER]<0> {30}\r\nSubj", ERROR_TEMP, "lost"},
    {"lost in a line", "* 1 FETCH (UID 7", ERROR_TEMP, "lost"},
    {"an end", "* BYE for today\r\n", ERROR_TEMP, "ends the connection:  for today"},
    {"a refusal", "E3 NO [X] no\033[1m\r\n", ERROR_TEMP, "refuses: NO [X] no\033[1m"},
    {"not understood", "E3 BAD what\r\n", ERROR_TEMP, "refuses: BAD what"},
    {"another tag", "E2 OK\r\n", ERROR_PROTOCOL, "no answer: E2 OK"},
    {"a longer tag", "E33 OK\r\n", ERROR_PROTOCOL, "no answer"},
    {"a question", "+ go on\r\n", ERROR_PROTOCOL, "no answer"},
    {"a bare line feed", "* 1 EXISTS\n", ERROR_PROTOCOL, "must not"},
    {"a vast literal", "* 1 FETCH (UID 7 BODY[HEADER]<0> {9999999}\r\n", ERROR_PROTOCOL,
     "too long"},
    {"a literal past counting", "* 1 FETCH (UID 7 BODY[]<0> {18446744073709551615}\r\n",
     ERROR_PROTOCOL, "too long"},
    {"a literal of odd length", "* 1 FETCH (UID 7 BODY[]<0> {-1}\r\n", ERROR_PROTOCOL,
     "no answer"},
    {"no list", "* 1 FETCH UID 7\r\n", ERROR_PROTOCOL, "no answer"},
    {"an open list", "* 1 FETCH (UID 7\r\n", ERROR_PROTOCOL, "no answer"},
    {"an open list of flags", "* 1 FETCH (FLAGS (\\Seen\r\n", ERROR_PROTOCOL, "no answer"},
    {"an open value", "* 1 FETCH (X ((((\r\n", ERROR_PROTOCOL, "no answer"},
    {"an open string", "* 1 FETCH (X \"a\\\r\n", ERROR_PROTOCOL, "no answer"},
    {"a section without end", "* 1 FETCH (BODY[HEADER\r\n", ERROR_PROTOCOL, "no answer"},
    {"another part of it", "* 1 FETCH (UID 7 BODY[HEADER]<5> \"x\")\r\n", ERROR_PROTOCOL,
     "no answer"},
    {"a vast UID", "* 1 FETCH (UID 4294967296)\r\n", ERROR_PROTOCOL, "no answer"},
    {"something behind", "* 1 FETCH (UID 7) x\r\n", ERROR_PROTOCOL, "no answer"},
};

static void
test_bad_server(gconstpointer data)
{
    const BadRow *row = data;
    g_autoptr(GError) error = NULL;
    g_autoptr(GError) again = NULL;
    const ImapMessage *message = NULL;
    ImapView view;
    g_autofree char *says = g_strconcat(VIEW, row->says, NULL);
    g_autoptr(Imap) imap = examine(says, &view);

    g_assert_cmpint(imap_next(imap, &message, &error), ==, IMAP_FAILED);
    g_assert_error(error, EXEAT_ERROR, (int)row->code);
    g_assert_nonnull(strstr(error->message, row->message));
    g_assert_null(message);
    /* What comes now could be anything: nothing is read any more. */
    if (!g_str_has_prefix(row->says, "E3")) {
        g_assert_false(imap_examine(imap, "a", &view, &again));
        g_assert_error(again, EXEAT_ERROR, ERROR_TEMP);
    }
}

static void
test_zero_byte(void)
{
    g_autoptr(GError) error = NULL;
    const ImapMessage *message;
    ImapView view;
    g_autoptr(Imap) imap = examine(VIEW, &view);

    g_string_append_len(script, "* 1 FETCH (X a\0b)\r\nE3 OK\r\n", 26);
    g_assert_cmpint(imap_next(imap, &message, &error), ==, IMAP_FAILED);
    g_assert_error(error, EXEAT_ERROR, ERROR_PROTOCOL);
}

static void
test_talker(void)
{
    g_autoptr(GError) error = NULL;
    const ImapMessage *message;
    ImapView view;
    g_autoptr(Imap) imap = examine(VIEW, &view);

    for (guint i = 0; i < 30000; i++)
        g_string_append(script, "* 1 FETCH (FLAGS ())\r\n");
    g_assert_cmpint(imap_next(imap, &message, &error), ==, IMAP_FAILED);
    g_assert_error(error, EXEAT_ERROR, ERROR_PROTOCOL);
    g_assert_nonnull(strstr(error->message, "come to an end"));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    script = g_string_new(NULL);
    told = g_string_new(NULL);
    g_test_add_func("/imap/urls", test_urls);
    g_test_add_func("/imap/names", test_names);
    g_test_add_func("/imap/folders", test_folders);
    g_test_add_data_func("/imap/messages", NULL, test_messages);
    g_test_add_data_func("/imap/messages-byte-by-byte", GSIZE_TO_POINTER(1), test_messages);
    g_test_add_func("/imap/problems", test_problems);
    g_test_add_func("/imap/expunge", test_expunge);
    g_test_add_func("/imap/whole", test_whole);
    for (gsize i = 0; i < G_N_ELEMENTS(bad_servers); i++) {
        g_autofree char *path = g_strconcat("/imap/bad-server/", bad_servers[i].name, NULL);
        g_test_add_data_func(path, &bad_servers[i], test_bad_server);
    }
    g_test_add_func("/imap/zero-byte", test_zero_byte);
    g_test_add_func("/imap/talker", test_talker);
    int status = g_test_run();
    g_string_free(script, TRUE);
    g_string_free(told, TRUE);
    return status;
}
