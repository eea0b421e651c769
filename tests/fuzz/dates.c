/* Dates: the postmark of an mbox, and the field of a message. */
#include "tests/fuzz/fuzz.h"

#include "lib/compose.h"
#include "lib/mail-head.h"
#include "lib/mail.h"
#include "lib/postmark.h"

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    fuzz_begin();
    mail_start();
    return 0;
}

/* A time that was read can be written, and is the same when it is read again. */
static void
check_time(gint64 when)
{
    g_autofree char *date = compose_date(when);
    g_autofree char *header = g_strdup_printf("Date: %s\r\n\r\n", date);
    g_autoptr(MailHead) head = mail_head_read(header, strlen(header));

    g_assert(head != NULL);
    g_assert_cmpint(head->date, ==, when);
}

int
LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
    g_autofree char *value = g_strndup((const char *)data, size);
    g_autofree char *header = g_strdup_printf("Date: %s\r\n\r\n", value);
    g_autoptr(MailHead) head = mail_head_read(header, strlen(header));
    g_autofree char *line = g_strdup_printf("From a %s\n", value);
    gint64 when = 0;

    if (head != NULL && head->date != 0)
        check_time(head->date);
    if (postmark_read(line, strlen(line), &when))
        check_time(when);
    if (postmark_read((const char *)data, size, &when))
        check_time(when);
    postmark_is_takeout((const char *)data, size);
    return 0;
}
