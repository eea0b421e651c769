/* IMAP: what is written, and finding it again. The real server is met in story-drafts. */
#include "tests/unit/imap-script.h"

#define UIDPLUS "* CAPABILITY IMAP4rev1 UIDPLUS\r\nE2 OK\r\n"

static void
learn(Imap *imap)
{
    g_autoptr(GError) error = NULL;

    g_assert_true(imap_command_send(imap, &error, "CAPABILITY"));
    g_assert_true(imap_command_finish(imap, 0, NULL, &error));
    g_string_truncate(told, 0);
}

/* Appending */

typedef struct {
    const char *name;
    const char *says;
    guint32 validity, uid;
    const char *message; /* a part of the error; NULL: none */
    gboolean stands;     /* after an error */
} AppendRow;

static const AppendRow appends[] = {
    {"its place is told", "+ go on\r\nE2 OK [APPENDUID 77 9] done\r\n", 77, 9, NULL, TRUE},
    {"after news", "* 4 EXISTS\r\n+ \r\n* 5 EXISTS\r\nE2 OK [APPENDUID 77 9]\r\n", 77, 9, NULL,
     TRUE},
    {"its place is not told", "+ go on\r\nE2 OK done\r\n", 0, 0, NULL, TRUE},
    {"of no use", "+ go on\r\nE2 OK [APPENDUID 77 9999999999] x\r\n", 0, 0, NULL, TRUE},
    {"cut off", "+ go on\r\nE2 OK [APPENDUID 77 9\r\n", 0, 0, NULL, TRUE},
    {"refused at once", "E2 NO [OVERQUOTA] full\r\n", 0, 0, "refuses: NO [OVERQUOTA]", TRUE},
    {"refused at the end", "+ go on\r\nE2 NO no\r\n", 0, 0, "refuses: NO no", TRUE},
    {"taken before it was told", "E2 OK done\r\n", 0, 0, "no answer", TRUE},
    {"lost before", "", 0, 0, "lost", FALSE},
    {"lost after", "+ go on\r\n", 0, 0, "lost", FALSE},
    {"asked twice", "+ go on\r\n+ more\r\nE2 OK\r\n", 0, 0, "no answer", FALSE},
};

static void
test_append(gconstpointer data)
{
    const AppendRow *row = data;
    g_autoptr(GError) error = NULL;
    guint32 validity = 1, uid = 1;
    g_autoptr(Imap) imap = connect_to(row->says);

    gboolean done =
        imap_append(imap, "Entwürfe", "A: b\r\n\r\nE2 OK\r\n", 15, &validity, &uid, &error);
    g_assert_cmpint(done, ==, row->message == NULL);
    g_assert_cmpint(imap_stands(imap), ==, row->stands);
    if (row->message != NULL) {
        g_assert_nonnull(strstr(error->message, row->message));
        g_assert_cmpuint(uid, ==, 1);
        return;
    }
    g_assert_cmpuint(validity, ==, row->validity);
    g_assert_cmpuint(uid, ==, row->uid);
    g_assert_nonnull(strstr(told->str, "E2 APPEND \"Entw&APw-rfe\" (\\Draft \\Seen) {15}\r\n"
                                       "A: b\r\n\r\nE2 OK\r\n\r\n"));
}

/* Nothing of the message is sent before the server has asked for it. */
static void
test_append_waits(void)
{
    g_autoptr(GError) error = NULL;
    guint32 validity, uid;
    g_autoptr(Imap) imap = connect_to("E2 NO no\r\n");

    g_assert_false(imap_append(imap, "a", "secret", 6, &validity, &uid, &error));
    g_assert_null(strstr(told->str, "secret"));
}

/* Removing */

static void
test_remove(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(Imap) imap = connect_to(UIDPLUS "E3 OK\r\nE4 OK\r\n");

    learn(imap);
    g_assert_true(imap_remove(imap, 9, &error));
    g_assert_cmpstr(told->str, ==,
                    "E3 UID STORE 9 +FLAGS.SILENT (\\Deleted)\r\nE4 UID EXPUNGE 9\r\n");
}

/* A plain EXPUNGE would take what others have marked. */
static void
test_remove_without(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(Imap) imap = connect_to("E2 OK\r\n");

    g_assert_true(imap_remove(imap, 9, &error));
    g_assert_null(strstr(told->str, "EXPUNGE"));
}

/* Finding */

#define FIELD "X-Exeat-Item"

typedef struct {
    const char *name;
    const char *value, *says;
    guint count;
    guint32 uids[2];
} FindRow;

static const FindRow finds[] = {
    {"none", "abc", "* SEARCH\r\nE2 OK\r\n", 0, {0}},
    {"no answer at all", "abc", "E2 OK\r\n", 0, {0}},
    {"it",
     "abc",
     "* SEARCH 4\r\nE2 OK\r\n* 1 FETCH (UID 4 BODY[HEADER.FIELDS (X-EXEAT-ITEM)] "
     "{21}\r\nX-Exeat-Item: abc\r\n\r\n)\r\nE3 OK\r\n",
     1,
     {4}},
    {"only a longer one",
     "abc",
     "* SEARCH 4\r\nE2 OK\r\n* 1 FETCH (UID 4 BODY[HEADER.FIELDS (X-EXEAT-ITEM)] "
     "{22}\r\nX-Exeat-Item: abcd\r\n\r\n)\r\nE3 OK\r\n",
     0,
     {0}},
    {"one that is deleted",
     "abc",
     "* SEARCH 4\r\nE2 OK\r\n* 1 FETCH (UID 4 FLAGS (\\Deleted) BODY[HEADER.FIELDS "
     "(X-EXEAT-ITEM)] \"X-Exeat-Item: abc\")\r\nE3 OK\r\n",
     0,
     {0}},
    {"one from before",
     "abc",
     "* SEARCH 4\r\nE2 OK\r\n* 1 FETCH (UID 4 INTERNALDATE \"31-Jan-2026 23:30:00 +0000\" "
     "BODY[HEADER.FIELDS (X-EXEAT-ITEM)] \"X-Exeat-Item: abc\")\r\nE3 OK\r\n",
     0,
     {0}},
    {"the newest",
     "abc",
     "* SEARCH 4 6\r\n* SEARCH 5\r\nE2 OK\r\n"
     "* 3 FETCH (UID 6 BODY[HEADER.FIELDS (X-EXEAT-ITEM)] \"x-exeat-item:abc \")\r\n"
     "* 1 FETCH (UID 4 BODY[HEADER.FIELDS (X-EXEAT-ITEM)] \"x-exeat-item:abc\")\r\nE3 OK\r\n",
     2,
     {6, 4}},
    {"what is gone by then", "abc", "* SEARCH 4\r\nE2 OK\r\nE3 OK\r\n", 0, {0}},
    {"no text for a search", "<b\xc3\xb6@x>", "", 0, {0}},
    {"nothing to look for", "", "", 0, {0}},
};

static void
test_find(gconstpointer data)
{
    const FindRow *row = data;
    g_autoptr(GError) error = NULL;
    g_autoptr(Imap) imap = connect_to(row->says);
    g_autoptr(GArray) found = imap_find(imap, FIELD, row->value, 1769902201, &error);

    g_assert_no_error(error);
    g_assert_cmpuint(found->len, ==, row->count);
    for (guint i = 0; i < found->len; i++)
        g_assert_cmpuint(g_array_index(found, guint32, i), ==, row->uids[i]);
}

static void
test_find_told(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(Imap) imap = connect_to("* SEARCH 7 8\r\nE2 OK\r\nE3 OK\r\n");
    g_autoptr(GArray) found = imap_find(imap, "Message-ID", "<\"a\\\"@b>", 0, &error);

    g_assert_nonnull(found);
    g_assert_nonnull(strstr(told->str, "E2 UID SEARCH HEADER Message-ID "
                                       "\"<\\\"a\\\\\\\"@b>\"\r\n"
                                       "E3 UID FETCH 7,8 (UID FLAGS INTERNALDATE "
                                       "BODY.PEEK[HEADER.FIELDS (Message-ID)])\r\n"));
}

static const char *const bad_searches[] = {
    "* SEARCH 4 x\r\nE2 OK\r\n",
    "* SEARCH 4294967296\r\nE2 OK\r\n",
    "* SEARCH 4\r\nE2 NO\r\n",
    "* SEARCH 4\r\nE2 OK\r\n* 1 FETCH UID 4\r\nE3 OK\r\n",
    "* SEARCH 4\r\nE2 OK\r\n* 1 FETCH (UID 4)\r\n",
};

/* "Could not look" is never "not there". */
static void
test_bad_searches(void)
{
    for (gsize i = 0; i < G_N_ELEMENTS(bad_searches); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(Imap) imap = connect_to(bad_searches[i]);

        g_assert_null(imap_find(imap, FIELD, "abc", 0, &error));
        g_assert_nonnull(error);
    }
}

static void
test_present(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GArray) uids = g_array_new(FALSE, FALSE, sizeof(guint32));
    g_autoptr(Imap) imap = connect_to("* 1 FETCH (UID 3 FLAGS (\\Draft))\r\n"
                                      "* 2 FETCH (FLAGS (\\Seen \\Deleted) UID 4)\r\n"
                                      "E2 OK\r\n* 9 FETCH (UID 101 FLAGS ())\r\nE3 OK\r\n");

    for (guint32 uid = 3; uid < 104; uid++)
        g_array_append_val(uids, uid);
    g_autoptr(GArray) present = imap_present(imap, uids, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(present->len, ==, 2);
    g_assert_cmpuint(g_array_index(present, guint32, 0), ==, 3);
    g_assert_cmpuint(g_array_index(present, guint32, 1), ==, 101);
    g_assert_nonnull(strstr(told->str, "\r\nE3 UID FETCH 103 (UID FLAGS)\r\n"));
    g_clear_pointer(&present, g_array_unref);
    present = imap_present(imap, uids, &error);
    g_assert_null(present);
}

static const struct {
    const char *head;
    gboolean has; /* field A with the value "b c" */
} heads[] = {
    {"A: b c\r\n\r\n", TRUE},       {"X: y\r\na:b c", TRUE},
    {"A: b\r\n c\r\n", TRUE},       {"A:\r\n\tb c \r\n", TRUE},
    {"X: y\r\n A: b c\r\n", FALSE}, {"AA: b c\r\n", FALSE},
    {"A: b c d\r\n", FALSE},        {"A: b\r\nc\r\n", FALSE},
    {"A b c\r\n", FALSE},           {"", FALSE},
    {"A: x\r\nA: b c\r\n", TRUE},
};

static void
test_heads(void)
{
    for (gsize i = 0; i < G_N_ELEMENTS(heads); i++) {
        g_test_message("%s", heads[i].head);
        g_assert_cmpint(imap_head_has(heads[i].head, strlen(heads[i].head), "A", "b c"), ==,
                        heads[i].has);
    }
}

/* Whatever was asked for, an answer has a limit. */
static void
test_cap(void)
{
    g_autoptr(GError) error = NULL;
    const char *bytes;
    gsize length;
    g_autofree char *says =
        g_strdup_printf("* 1 FETCH (UID 7 BODY[]<0> {%d}\r\n", IMAP_ANSWER_MAX);
    g_autoptr(Imap) imap = connect_to(says);

    g_assert_false(imap_whole(imap, 7, G_MAXUINT32, &bytes, &length, &error));
    g_assert_error(error, EXEAT_ERROR, ERROR_PROTOCOL);
    g_assert_nonnull(strstr(error->message, "too long"));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    script = g_string_new(NULL);
    told = g_string_new(NULL);
    for (gsize i = 0; i < G_N_ELEMENTS(appends); i++) {
        g_autofree char *path = g_strconcat("/imap-write/append/", appends[i].name, NULL);
        g_test_add_data_func(path, &appends[i], test_append);
    }
    g_test_add_func("/imap-write/append-waits", test_append_waits);
    g_test_add_func("/imap-write/remove", test_remove);
    g_test_add_func("/imap-write/remove-without-uidplus", test_remove_without);
    for (gsize i = 0; i < G_N_ELEMENTS(finds); i++) {
        g_autofree char *path = g_strconcat("/imap-write/find/", finds[i].name, NULL);
        g_test_add_data_func(path, &finds[i], test_find);
    }
    g_test_add_func("/imap-write/find-told", test_find_told);
    g_test_add_func("/imap-write/bad-searches", test_bad_searches);
    g_test_add_func("/imap-write/present", test_present);
    g_test_add_func("/imap-write/heads", test_heads);
    g_test_add_func("/imap-write/cap", test_cap);
    int status = g_test_run();
    g_string_free(script, TRUE);
    g_string_free(told, TRUE);
    return status;
}
