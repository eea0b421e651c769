#include "lib/sum.h"

struct _Sum {
    gpointer state;
};

static gpointer
begin_glib(void)
{
    return g_checksum_new(G_CHECKSUM_SHA256);
}

static void
add_glib(gpointer state, const void *bytes, gsize length)
{
    g_checksum_update(state, bytes, (gssize)length);
}

static void
end_glib(gpointer state, guint8 sum_out[SUM_BYTES])
{
    gsize length = SUM_BYTES;

    g_checksum_get_digest(state, sum_out, &length);
    g_checksum_free(state);
}

static const SumEngine glib = {begin_glib, add_glib, end_glib};
static const SumEngine *used = &glib;

void
sum_use(const SumEngine *engine)
{
    used = engine;
}

Sum *
sum_new(void)
{
    Sum *sum = g_new(Sum, 1);

    sum->state = used->begin();
    return sum;
}

void
sum_add(Sum *sum, const void *bytes, gsize length)
{
    used->add(sum->state, bytes, length);
}

void
sum_end_bytes(Sum *sum, guint8 bytes_out[SUM_BYTES])
{
    used->end(sum->state, bytes_out);
    g_free(sum);
}

char *
sum_end(Sum *sum)
{
    static const char digits[] = "0123456789abcdef";
    guint8 bytes[SUM_BYTES];
    char *text = g_malloc(2 * SUM_BYTES + 1);

    sum_end_bytes(sum, bytes);
    for (guint i = 0; i < SUM_BYTES; i++) {
        text[2 * i] = digits[bytes[i] >> 4];
        text[2 * i + 1] = digits[bytes[i] & 15];
    }
    text[2 * SUM_BYTES] = '\0';
    return text;
}

char *
sum_of(const void *bytes, gsize length)
{
    Sum *sum = sum_new();

    sum_add(sum, bytes, length);
    return sum_end(sum);
}

void
sum_free(Sum *sum)
{
    guint8 bytes[SUM_BYTES];

    if (sum != NULL)
        sum_end_bytes(sum, bytes);
}
