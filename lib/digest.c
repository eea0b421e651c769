#include "lib/digest.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/error.h"
#include "lib/fields.h"
#include "lib/pread.h"
#include "lib/sum.h"

#define VERSION "exeat-action-1"
#define ACTION  "smtp.send"

/* An address and its parameters: one party of the envelope. */
static void
add_party(GByteArray *bytes, const char *address, char **parameters)
{
    fields_add_text(bytes, address);
    fields_add_number(bytes, g_strv_length(parameters));
    for (char **parameter = parameters; *parameter != NULL; parameter++)
        fields_add_text(bytes, *parameter);
}

static int
compare_bytes(gconstpointer a, gconstpointer b)
{
    const GByteArray *x = *(GByteArray *const *)a;
    const GByteArray *y = *(GByteArray *const *)b;
    int order = memcmp(x->data, y->data, MIN(x->len, y->len));

    return order != 0 ? order : (x->len > y->len) - (x->len < y->len);
}

static GPtrArray *
distinct_recipients(const Envelope *envelope)
{
    GPtrArray *distinct = g_ptr_array_new_with_free_func((GDestroyNotify)g_byte_array_unref);

    for (guint i = 0; i < envelope->recipients->len; i++) {
        const EnvelopeRecipient *recipient = g_ptr_array_index(envelope->recipients, i);
        GByteArray *bytes = g_byte_array_new();
        add_party(bytes, recipient->address, recipient->parameters);
        g_ptr_array_add(distinct, bytes);
    }
    g_ptr_array_sort(distinct, compare_bytes);
    for (guint i = distinct->len; i-- > 1;)
        if (compare_bytes(&distinct->pdata[i], &distinct->pdata[i - 1]) == 0)
            g_ptr_array_remove_index(distinct, i);
    return distinct;
}

/* The length goes in before the bytes, so a file that changes under our hands is an error. */
static gboolean
add_message(Sum *sum, int fd, GError **error)
{
    struct stat status;
    guint8 buffer[64 * 1024];
    guint64 offset = 0;

    if (fstat(fd, &status) != 0) {
        g_set_error(error, EXEAT_ERROR, ERROR_TEMP, "fstat: %s", g_strerror(errno));
        return FALSE;
    }
    guint64 prefix = GUINT64_TO_BE((guint64)status.st_size);
    sum_add(sum, &prefix, sizeof prefix);

    for (gssize length = sizeof buffer; length == sizeof buffer;) {
        length = pread_most(fd, buffer, sizeof buffer, offset, (guint64)status.st_size);
        if (length < 0) {
            g_set_error(error, EXEAT_ERROR, ERROR_TEMP, "pread: %s", g_strerror(errno));
            return FALSE;
        }
        sum_add(sum, buffer, (gsize)length);
        offset += (guint64)length;
    }
    if (offset != (guint64)status.st_size) {
        g_set_error(error, EXEAT_ERROR, ERROR_TEMP, "the message changed while it was read");
        return FALSE;
    }
    return TRUE;
}

char *
digest_action(const char *account, const Envelope *envelope, int fd, GError **error)
{
    g_autoptr(Sum) sum = sum_new();
    g_autoptr(GByteArray) head = g_byte_array_new();
    g_autoptr(GPtrArray) recipients = distinct_recipients(envelope);

    fields_add_text(head, VERSION);
    fields_add_text(head, account);
    fields_add_text(head, ACTION);
    add_party(head, envelope->sender, envelope->parameters);
    fields_add_number(head, recipients->len);
    sum_add(sum, head->data, head->len);
    for (guint i = 0; i < recipients->len; i++) {
        const GByteArray *recipient = g_ptr_array_index(recipients, i);
        sum_add(sum, recipient->data, recipient->len);
    }
    if (!add_message(sum, fd, error))
        return NULL;
    return sum_end(g_steal_pointer(&sum));
}
