/* What the milter reads in a message. */
#include "tests/fuzz/fuzz.h"

#include "lib/address.h"
#include "lib/extract.h"
#include "lib/mail-head.h"
#include "lib/mail.h"

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    fuzz_begin();
    mail_start();
    return 0;
}

static void
check_normal(char *const *addresses)
{
    for (; *addresses != NULL; addresses++) {
        g_autofree char *again = address_normalise(*addresses, NULL);

        g_assert_cmpstr(again, ==, *addresses);
    }
}

static void
check(const Extract *extract)
{
    char **const lists[] = {extract->parents,   extract->from,      extract->to_cc,
                            extract->diverted,  extract->attendees, extract->lists,
                            extract->mentioned, extract->doubled,   extract->opaque,
                            extract->bounced,   extract->returned};

    for (gsize i = 0; i < G_N_ELEMENTS(lists); i++) {
        g_assert(fuzz_are_texts(lists[i]));
        g_assert(g_strv_length(lists[i]) <= EXTRACT_LIST_LIMIT);
    }
    check_normal(extract->from);
    check_normal(extract->to_cc);
    check_normal(extract->diverted);
    check_normal(extract->mentioned);
    g_assert(g_utf8_validate(extract->text, -1, NULL));
    g_assert(g_utf8_validate(extract->html, -1, NULL));
    g_assert(g_utf8_validate(extract->subject, -1, NULL));
    g_assert(strlen(extract->text) <= EXTRACT_TEXT_LIMIT);
    g_assert(strlen(extract->html) <= EXTRACT_TEXT_LIMIT);
    g_assert(strpbrk(extract->subject, "\r\n") == NULL);
    g_assert(extract->parts->len <= EXTRACT_PART_LIMIT);
}

/* What the milter sends is what the relay reads. */
static void
check_travels(const Extract *extract)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GVariant) sent = g_variant_ref_sink(extract_to_variant(extract));
    g_autoptr(Extract) read = extract_from_variant(sent, &error);

    g_assert_no_error(error);
    g_autoptr(GVariant) again = g_variant_ref_sink(extract_to_variant(read));
    g_assert(g_variant_equal(sent, again));
}

int
LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
    g_autoptr(GError) error = NULL;
    int fd = fuzz_memory(data, size);
    g_autoptr(Extract) extract = mail_extract(fd, &error);
    g_autoptr(MailHead) head = mail_head_read((const char *)data, size);

    close(fd);
    g_assert_no_error(error);
    check(extract);
    check_travels(extract);
    if (head != NULL) {
        g_assert(fuzz_are_texts(head->bcc));
        g_assert(g_utf8_validate(head->labels, -1, NULL));
    }
    return 0;
}
