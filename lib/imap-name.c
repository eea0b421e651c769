#include "lib/imap-name.h"

#include <string.h>

/* Base64 with a comma where others have a slash, and without padding. */
static const char digits[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+,";

static gboolean
is_direct(char c)
{
    return c >= ' ' && c <= '~';
}

/* Writes UTF-16, given as characters, between & and -. */
static void
append_shifted(GString *wire, const char *text, glong length)
{
    glong units = 0;
    g_autofree gunichar2 *wide = g_utf8_to_utf16(text, length, NULL, &units, NULL);
    guint32 bits = 0;
    guint held = 0; /* bits that are not written yet */

    g_string_append_c(wire, '&');
    for (glong i = 0; i < units; i++) {
        bits = bits << 16 | wide[i];
        for (held += 16; held >= 6; held -= 6)
            g_string_append_c(wire, digits[bits >> (held - 6) & 63]);
    }
    if (held > 0)
        g_string_append_c(wire, digits[bits << (6 - held) & 63]);
    g_string_append_c(wire, '-');
}

char *
imap_name_encode(const char *name)
{
    GString *wire = g_string_new(NULL);

    while (*name != '\0') {
        const char *end = name;
        while (*end != '\0' && !is_direct(*end))
            end++;
        if (end > name)
            append_shifted(wire, name, end - name);
        else
            g_string_append_c(wire, *end++);
        if (end[-1] == '&')
            g_string_append_c(wire, '-');
        name = end;
    }
    return g_string_free(wire, FALSE);
}

/* Reads from behind an & to its -, which is returned; NULL when there is none. */
static const char *
decode_shifted(const char *at, GString *name)
{
    g_autoptr(GArray) wide = g_array_new(FALSE, FALSE, sizeof(gunichar2));
    const char *digit;
    guint32 bits = 0;
    guint held = 0;

    for (; *at != '\0' && (digit = strchr(digits, *at)) != NULL; at++) {
        bits = bits << 6 | (guint32)(digit - digits);
        held += 6;
        if (held >= 16) {
            gunichar2 unit = (gunichar2)(bits >> (held - 16) & 0xffff);
            g_array_append_val(wide, unit);
            held -= 16;
        }
    }
    if (*at != '-' || wide->len == 0)
        return NULL;
    g_autofree char *text =
        g_utf16_to_utf8((gunichar2 *)(void *)wide->data, wide->len, NULL, NULL, NULL);
    if (text == NULL)
        return NULL;
    g_string_append(name, text);
    return at;
}

char *
imap_name_decode(const char *wire)
{
    g_autoptr(GString) name = g_string_new(NULL);

    for (const char *at = wire; *at != '\0'; at++) {
        if (!is_direct(*at))
            return NULL;
        if (*at != '&')
            g_string_append_c(name, *at);
        else if (at[1] == '-')
            g_string_append_c(name, *at++);
        else if ((at = decode_shifted(at + 1, name)) == NULL)
            return NULL;
    }
    /* Another spelling of the same name would open another folder, or none. */
    g_autofree char *back = imap_name_encode(name->str);
    return g_str_equal(back, wire) ? g_string_free(g_steal_pointer(&name), FALSE) : NULL;
}
