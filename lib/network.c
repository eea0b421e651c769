#include "lib/network.h"

#include <arpa/inet.h>
#include <string.h>

/* Both families as 16 bytes: IPv4 in its IPv6 form, so that one comparison serves both. */
typedef struct {
    guint8 bytes[16];
    guint bits;
} Network;

static gboolean
parse_address(const char *text, guint8 *bytes_out, guint *width_out)
{
    static const guint8 MAPPED[12] = {[10] = 0xff, [11] = 0xff};

    if (inet_pton(AF_INET, text, bytes_out + sizeof MAPPED) == 1) {
        memcpy(bytes_out, MAPPED, sizeof MAPPED);
        *width_out = 32;
        return TRUE;
    }
    *width_out = 128;
    return inet_pton(AF_INET6, text, bytes_out) == 1;
}

static gboolean
bit(const guint8 *bytes, guint index)
{
    return (bytes[index / 8] & (0x80u >> (index % 8))) != 0;
}

static gboolean
parse_network(const char *text, Network *network_out)
{
    g_auto(GStrv) halves = g_strsplit(text, "/", 2);
    guint64 bits;
    guint width;

    if (halves[0] == NULL || !parse_address(halves[0], network_out->bytes, &width))
        return FALSE;
    bits = width;
    if (halves[1] != NULL && !g_ascii_string_to_unsigned(halves[1], 10, 0, width, &bits, NULL))
        return FALSE;
    network_out->bits = 128 - width + (guint)bits;
    return TRUE;
}

gboolean
network_is_valid(const char *network)
{
    Network parsed;

    if (!parse_network(network, &parsed))
        return FALSE;
    for (guint i = parsed.bits; i < 128; i++)
        if (bit(parsed.bytes, i))
            return FALSE;
    return TRUE;
}

gboolean
network_includes(const char *network, const char *ip)
{
    Network parsed;
    guint8 bytes[16];
    guint width;

    if (g_ascii_strncasecmp(ip, "IPv6:", 5) == 0)
        ip += 5;
    if (!parse_network(network, &parsed) || !parse_address(ip, bytes, &width))
        return FALSE;
    for (guint i = 0; i < parsed.bits; i++)
        if (bit(parsed.bytes, i) != bit(bytes, i))
            return FALSE;
    return TRUE;
}
