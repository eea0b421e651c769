/* An IMAP server's answers; addresses of folders and their names. An input is what the server
 * says, the first byte how much of it arrives at once, and whether reading or drafts are
 * meant. */
#include "tests/fuzz/fuzz.h"

#include "tests/unit/imap-script.h"

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    fuzz_begin();
    script = g_string_new(NULL);
    told = g_string_new(NULL);
    return 0;
}

static gboolean
read_folder(Imap *imap, const char *name)
{
    const ImapMessage *message = NULL;
    ImapView view = {0};
    ImapOutcome outcome;
    const char *bytes = NULL;
    gsize length = 0;

    if (!imap_examine(imap, name, &view, NULL))
        return FALSE;
    while ((outcome = imap_next(imap, &message, NULL)) == IMAP_MESSAGE)
        g_assert((message->head == NULL) == (message->problem != NULL));
    return outcome == IMAP_END && imap_whole(imap, 1, 100, &bytes, &length, NULL) &&
           (bytes != NULL || length == 0);
}

/* What is done for drafts: each step, whatever became of the one before. */
static void
keep_drafts(void)
{
    g_autoptr(Imap) imap = imap_connect(&(ImapServer){0}, NULL);
    g_autoptr(GArray) uids = g_array_new(FALSE, FALSE, sizeof(guint32));
    const guint32 uid = 4;
    guint32 validity = 0, added = 0;
    ImapView view;

    if (imap == NULL || !imap_examine(imap, "Drafts", &view, NULL))
        return;
    g_array_append_val(uids, uid);
    g_autoptr(GArray) found = imap_find(imap, "X-Exeat-Item", "abc", 1000, NULL);
    g_autoptr(GArray) present = imap_present(imap, uids, NULL);
    g_assert(found == NULL || found->len < 2 ||
             g_array_index(found, guint32, 0) >= g_array_index(found, guint32, 1));
    g_assert(present == NULL || present->len == 0 || g_array_index(present, guint32, 0) != 0);
    imap_append(imap, "Drafts", "a", 1, &validity, &added, NULL);
    if (imap_select(imap, "Drafts", &view, NULL))
        imap_remove(imap, uid, NULL);
}

static void
talk(void)
{
    g_autoptr(Imap) imap = imap_connect(&(ImapServer){0}, NULL);
    g_autoptr(GPtrArray) folders = imap ? imap_folders(imap, NULL) : NULL;

    if (folders == NULL)
        return;
    for (guint i = 0; i < folders->len; i++) {
        const ImapFolder *folder = g_ptr_array_index(folders, i);

        g_assert(g_utf8_validate(folder->name, -1, NULL));
        if (folder->readable && !read_folder(imap, folder->name))
            return;
    }
}

static void
read_names(const guint8 *data, gsize size)
{
    g_autofree char *bytes = g_strndup((const char *)data, size);
    g_autofree char *text = fuzz_text(data, size);
    g_autofree char *wire = imap_name_encode(text);
    g_autofree char *back = imap_name_decode(wire);
    g_autofree char *decoded = imap_name_decode(bytes);
    g_autoptr(ImapUrl) url = imap_url_parse(bytes, NULL);

    g_assert_cmpstr(back, ==, text);
    g_assert(decoded == NULL || g_utf8_validate(decoded, -1, NULL));
    g_assert(url == NULL || url->port <= 65535);
}

int
LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
    if (size == 0)
        return 0;
    script_piece = data[0] + 1;
    g_string_truncate(script, 0);
    g_string_append_len(script, (const char *)data + 1, (gssize)size - 1);
    g_string_truncate(told, 0);
    if (data[0] % 8 == 3)
        keep_drafts();
    else
        talk();
    imap_head_has((const char *)data, size, "A", "b");
    read_names(data + 1, size - 1);
    return 0;
}
