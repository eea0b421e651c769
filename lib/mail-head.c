#include "lib/mail-head.h"

#include <string.h>

#include "lib/mail-private.h"

/* Fields as if a zero byte were a space, which no mailbox should have in it. */
static void
split(MailReading *reading, const char *bytes, gsize length)
{
    static const char mark[] = "\xef\xbb\xbf"; /* some editors of .eml files put it first */
    gsize lead = sizeof mark - 1;

    if (length > lead && memcmp(bytes, mark, lead) == 0) {
        bytes += lead;
        length -= lead;
    }
    if (memchr(bytes, 0, length) == NULL) {
        mail_split_header(reading, bytes, length);
        return;
    }
    g_autofree char *clean = g_memdup2(bytes, length);
    for (gsize i = 0; i < length; i++)
        clean[i] = clean[i] != 0 ? clean[i] : ' ';
    mail_split_header(reading, clean, length);
}

/* X-Status: D or T (Pine, Mutt), X-Mozilla-Status: 0009 (Thunderbird), X-Unsent: 1 (Outlook).
 */
static gboolean
is_removed(const MailReading *reading)
{
    const char *letters = mail_field(reading, "X-Status");
    const char *bits = mail_field(reading, "X-Mozilla-Status");
    const char *unsent = mail_field(reading, "X-Unsent");

    return (unsent != NULL && strchr(unsent, '1') != NULL) ||
           (letters != NULL && strpbrk(letters, "DT") != NULL) ||
           (bits != NULL && (g_ascii_strtoull(bits, NULL, 16) & 8) != 0);
}

MailHead *
mail_head_read(const char *bytes, gsize length)
{
    g_autoptr(MailHead) head = g_new0(MailHead, 1);
    g_autoptr(GPtrArray) opaque = g_ptr_array_new();
    g_autoptr(GPtrArray) fields = mail_fields_new();
    head->extract = extract_new();
    MailReading reading = {.extract = head->extract, .opaque = opaque, .fields = fields};

    split(&reading, bytes, length);
    if (fields->len == 0)
        return NULL;
    mail_read_origin(&reading);
    mail_read_addresses(&reading, "Bcc", &head->bcc);
    const char *labels = mail_field(&reading, "X-Gmail-Labels");
    head->labels = labels != NULL ? mail_decode_header(labels) : g_strdup("");
    head->removed = is_removed(&reading);
    const char *date = mail_field(&reading, "Date");
    head->date = date != NULL ? mail_read_date(date) : 0;
    return g_steal_pointer(&head);
}

void
mail_head_free(MailHead *head)
{
    if (head == NULL)
        return;
    extract_free(head->extract);
    g_strfreev(head->bcc);
    g_free(head->labels);
    g_free(head);
}
