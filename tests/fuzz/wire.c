/* The local socket. The first byte of an input tells what the rest is: frames, or an envelope
 * or an extract in the form that frames have them. */
#include "tests/fuzz/fuzz.h"

#include <sys/socket.h>

#include "lib/envelope.h"
#include "lib/error.h"
#include "lib/extract.h"
#include "lib/wire.h"

#define ENVELOPE "(ayaaya(ayayaay))"

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    fuzz_begin();
    return 0;
}

static void
receive(const guint8 *data, gsize size)
{
    g_autoptr(GError) error = NULL;
    int ends[2];

    g_assert(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    g_assert(write(ends[1], data, size) == (ssize_t)size);
    close(ends[1]);
    g_autoptr(Wire) wire = wire_new(ends[0]);
    for (;;) {
        g_autofree char *verb = NULL;
        g_autoptr(GVariant) arguments = NULL;
        int fd = -1;

        if (!wire_receive(wire, WIRE_LIMIT_PEOPLE, 1000, &verb, &arguments, &fd, &error) ||
            verb == NULL)
            break;
        g_assert(g_utf8_validate(verb, -1, NULL));
        g_assert(g_variant_is_normal_form(arguments));
        g_assert(fd == -1);
    }
    g_assert(error == NULL || error->domain == EXEAT_ERROR);
}

/* Bytes as a value in normal form: no other passes wire_receive. */
static GVariant *
value_of(const char *type, const guint8 *data, gsize size)
{
    g_autoptr(GBytes) bytes = g_bytes_new(data, size);
    g_autoptr(GVariant) value =
        g_variant_ref_sink(g_variant_new_from_bytes(G_VARIANT_TYPE(type), bytes, FALSE));

    return g_variant_get_normal_form(value);
}

static void
read_envelope(const guint8 *data, gsize size)
{
    g_autoptr(GVariant) value = value_of(ENVELOPE, data, size);
    g_autoptr(GError) error = NULL;
    g_autoptr(Envelope) envelope = envelope_from_variant(value, &error);

    g_assert((envelope == NULL) == (error != NULL));
    if (envelope == NULL)
        return;
    g_assert(envelope_is_clean(envelope));
    g_autoptr(GVariant) again = g_variant_ref_sink(envelope_to_variant(envelope));
    g_autoptr(Envelope) second = envelope_from_variant(again, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(second->recipients->len, ==, envelope->recipients->len);
}

static void
read_extract(const guint8 *data, gsize size)
{
    g_autoptr(GVariant) value = value_of("a{sv}", data, size);
    g_autoptr(GError) error = NULL;
    g_autoptr(Extract) extract = extract_from_variant(value, &error);

    g_assert((extract == NULL) == (error != NULL));
    if (extract == NULL)
        return;
    g_autoptr(GVariant) again = g_variant_ref_sink(extract_to_variant(extract));
    g_autoptr(Extract) second = extract_from_variant(again, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(second->parts->len, ==, extract->parts->len);
}

int
LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
    if (size == 0)
        return 0;
    switch (data[0] % 3) {
    case 0:
        receive(data + 1, size - 1);
        break;
    case 1:
        read_envelope(data + 1, size - 1);
        break;
    default:
        read_extract(data + 1, size - 1);
    }
    return 0;
}
