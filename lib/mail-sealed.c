#include "lib/mail-private.h"

#include <string.h>

#define ENVELOPE_GLANCE 24 /* bytes that name what a CMS structure is */
#define VINT_MOST       10 /* bytes of a number in a RAR archive */

/* Whether the bytes at that place are there and are these. */
static gboolean
stands_at(const guint8 *bytes, gsize length, const char *sign, gsize sign_length)
{
    return length >= sign_length && memcmp(bytes, sign, sign_length) == 0;
}

/* EnvelopedData or AuthEnvelopedData, as its first object identifier says (RFC 5652, 6.1;
 * RFC 5083, 2.1). SignedData is nothing of that. */
static gboolean
is_enveloped(const guint8 *bytes, gsize length)
{
    static const guint8 enveloped[] = {0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x03};
    static const guint8 also[] = {0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d,
                                  0x01, 0x09, 0x10, 0x01, 0x17};
    gsize glance = MIN(length, ENVELOPE_GLANCE);

    return length > 0 && bytes[0] == 0x30 &&
           (memmem(bytes, glance, enveloped, sizeof enveloped) != NULL ||
            memmem(bytes, glance, also, sizeof also) != NULL);
}

static guint64
read_little(const guint8 *p, guint bytes)
{
    guint64 number = 0;

    for (guint i = 0; i < bytes; i++)
        number |= (guint64)p[i] << (8 * i);
    return number;
}

/* RAR 1.5 to 4: bit 7 of the archive's flags, bit 2 of a file's, in blocks one behind the
 * other. */
static gboolean
is_locked_rar4(const guint8 *bytes, gsize length)
{
    guint64 at = strlen("Rar!\x1a\7") + 1;

    while (at + 11 <= length) {
        const guint8 *p = bytes + at;
        const guint type = p[2], flags = (guint)read_little(p + 3, 2);
        const guint64 size = read_little(p + 5, 2);
        if ((type == 0x73 && (flags & 0x80) != 0) || (type == 0x74 && (flags & 4) != 0))
            return TRUE;
        if (size < 7)
            return FALSE;
        at += size + ((flags & 0x8000) != 0 ? read_little(p + 7, 4) : 0);
    }
    return FALSE;
}

/* Seven bits a byte, the lowest first; the last byte has no eighth one. */
static gboolean
take_vint(const guint8 **p, const guint8 *end, guint64 *number_out)
{
    *number_out = 0;
    for (guint i = 0; i < VINT_MOST && *p < end; i++) {
        const guint8 byte = *(*p)++;
        *number_out |= (guint64)(byte & 0x7f) << (7 * i);
        if ((byte & 0x80) == 0)
            return TRUE;
    }
    return FALSE;
}

/* Whether one of the records behind a file's header is the one about its encryption. */
static gboolean
has_lock_record(const guint8 *p, const guint8 *end)
{
    guint64 size, type;

    while (take_vint(&p, end, &size)) {
        const guint8 *record = p;
        if (!take_vint(&p, end, &type) || size > (guint64)(end - record))
            return FALSE;
        if (type == 1)
            return TRUE;
        p = record + size;
    }
    return FALSE;
}

/* RAR 5: a header of type 4 has the key of all that follow; a file's own is in a record behind
 * its header, of type 2. */
static gboolean
is_locked_rar5(const guint8 *bytes, gsize length)
{
    const guint8 *p = bytes + strlen("Rar!\x1a\7\1") + 1, *end = bytes + length;
    guint64 size, type, flags, extra, data;

    while (end - p > 4) {
        p += 4; /* a check sum */
        if (!take_vint(&p, end, &size) || size > (guint64)(end - p))
            return FALSE;
        const guint8 *next = p + size;
        extra = data = 0;
        if (!take_vint(&p, next, &type) || !take_vint(&p, next, &flags) ||
            ((flags & 1) != 0 && !take_vint(&p, next, &extra)) ||
            ((flags & 2) != 0 && !take_vint(&p, next, &data)))
            return FALSE;
        if (type == 4)
            return TRUE;
        if (type == 2 && extra <= (guint64)(next - p) && has_lock_record(next - extra, next))
            return TRUE;
        if (data > (guint64)(end - next))
            return FALSE;
        p = next + data;
    }
    return FALSE;
}

gboolean
mail_sealed_starts(const guint8 *bytes, gsize length)
{
    static const char *const texts[] = {"-----BEGIN PGP MESSAGE", "-----BEGIN AGE ENCRYPTED",
                                        "age-encryption.org/v1",  "Salted__",
                                        "LUKS\xba\xbe",           "encrcdsa",
                                        "\x03\xd9\xa2\x9a"};

    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++)
        if (stands_at(bytes, length, texts[i], strlen(texts[i])))
            return TRUE;
    if (stands_at(bytes, length, "Rar!\x1a\7\1\0", 8))
        return is_locked_rar5(bytes, length);
    if (stands_at(bytes, length, "Rar!\x1a\7\0", 7))
        return is_locked_rar4(bytes, length);
    return is_enveloped(bytes, length);
}

/* Bit 0 of the flags in a local header or in the directory: the file wants a password
 * (APPNOTE.TXT, 4.3.7, 4.3.12 and 4.4.4). */
static gboolean
has_locked_entry(const guint8 *bytes, gsize length)
{
    const guint8 *end = bytes + length;

    for (const guint8 *p = bytes; p != NULL && end - p >= 9;
         p = memmem(p + 1, (gsize)(end - p - 1), "PK", 2))
        if ((memcmp(p, "PK\3\4", 4) == 0 && (p[6] & 1) != 0) ||
            (memcmp(p, "PK\1\2", 4) == 0 && (p[8] & 1) != 0))
            return TRUE;
    return FALSE;
}

/* An Office document with a password is a file in a compound file ([MS-OFFCRYPTO], 2.3.4.4).
 */
static gboolean
has_package(const guint8 *bytes, gsize length)
{
    static const char name[] = "E\0n\0c\0r\0y\0p\0t\0e\0d\0P\0a\0c\0k\0a\0g\0e";

    return memmem(bytes, length, name, sizeof name) != NULL;
}

/* The coder of 7-Zip that encrypts, with its length before and its settings behind it. */
static gboolean
has_aes_coder(const guint8 *bytes, gsize length)
{
    return memmem(bytes, length, "\x24\x06\xf1\x07\x01", 5) != NULL;
}

/* The entry of a trailer (ISO 32000-1, 7.5.5), not the word in a text, nor /EncryptMetadata.
 */
static gboolean
has_encrypt_entry(const guint8 *bytes, gsize length)
{
    const guint8 *end = bytes + length;
    const gsize word = strlen("/Encrypt");

    for (const guint8 *p = bytes;
         (p = memmem(p, (gsize)(end - p), "/Encrypt", word)) != NULL;) {
        for (p += word; p < end && g_ascii_isspace(*p);)
            p++;
        if (p < end && (g_ascii_isdigit(*p) || *p == '<'))
            return TRUE;
    }
    return FALSE;
}

gboolean
mail_sealed_within(const guint8 *start, gsize start_length, const guint8 *bytes, gsize length)
{
    static const struct {
        const char *sign;
        gsize sign_length;
        gboolean (*is_found)(const guint8 *bytes, gsize length);
    } kinds[] = {
        {"PK\3\4", 4, has_locked_entry},
        {"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", 8, has_package},
        {"7z\xbc\xaf\x27\x1c", 6, has_aes_coder},
        {"%PDF-", 5, has_encrypt_entry},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(kinds); i++)
        if (stands_at(start, start_length, kinds[i].sign, kinds[i].sign_length))
            return kinds[i].is_found(bytes, length);
    return FALSE;
}
