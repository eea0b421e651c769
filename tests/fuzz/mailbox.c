/* Mailboxes to import. An input is read as an mbox, as one message of each kind, and as those
 * of a Maildir. */
#include "tests/fuzz/fuzz.h"

#include "lib/extract.h"
#include "lib/mail.h"
#include "lib/mailbox.h"

static const char *const names[] = {"file", "file.eml", "file.emlx", "Maildir/cur/1.a.b:2,S",
                                    "Takeout/Mail/All mail.mbox"};
static char *folder;

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static const char *const folders[] = {"box", "box/Maildir/cur", "box/Maildir/new",
                                          "box/Maildir/tmp", "box/Takeout/Mail"};

    (void)argc, (void)argv;
    fuzz_begin();
    mail_start();
    for (gsize i = 0; i < G_N_ELEMENTS(folders); i++) {
        g_autofree char *path = fuzz_path(folders[i]);

        g_assert(g_mkdir_with_parents(path, 0700) == 0);
    }
    folder = fuzz_path("box");
    return 0;
}

static void
read_message(Mailbox *mailbox, const MailboxMessage *message)
{
    g_autoptr(GError) error = NULL;

    g_assert((message->head == NULL) == (message->problem != NULL));
    g_assert(message->head_length <= MAILBOX_HEAD_MAX);
    if (message->head == NULL)
        return;
    int fd = mailbox_whole(mailbox, &error);
    g_assert_no_error(error);
    g_autoptr(Extract) extract = mail_extract(fd, &error);
    g_assert(extract != NULL);
    close(fd);
}

int
LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
    g_autoptr(GError) error = NULL;
    MailboxFolder place;
    MailboxMessage message;

    for (gsize i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autofree char *path = g_build_filename(folder, names[i], NULL);

        fuzz_write(path, data, size);
    }
    Mailbox *mailbox = mailbox_open(folder, &error);
    g_assert_no_error(error);
    while (mailbox_next_folder(mailbox, &place, &error)) {
        while (mailbox_next(mailbox, &message, &error))
            read_message(mailbox, &message);
        g_assert_no_error(error);
        g_autofree char *digest = mailbox_digest(mailbox);
        g_assert(digest != NULL);
    }
    g_assert_no_error(error);
    mailbox_free(mailbox);
    return 0;
}
