/* mail-sealed-test - files that only a password opens, told by their bytes (XB20, B16) */
#include "lib/mail.h"

#include "lib/mail-private.h"
#include "tests/unit/mail-messages.h"

#define RAR5 "526172211a070100c51a333203010000"
#define RAR4 "526172211a0700cf907300000d000000000000"
#define NAME "45006e0063007200790070007400650064005000610063006b00610067006500"

static const struct {
    const char *name;
    const char *hex;
    gboolean sealed;
} rows[] = {
    {"zip", "504b0304140001000800fc00815d2ffa", TRUE},
    {"zip, only in its directory", "504b0304140000000800000000504b010214031400090008000000",
     TRUE},
    {"zip without a password", "504b0304140000000800fc00815d2ffa504b01021403140000000800",
     FALSE},
    {"7-Zip with its names",
     "377abcaf271c0004c34a405e2000000000000000210000000000000017062001098000000"
     "70b0100012406f107010a5307edaee20e",
     TRUE},
    {"7-Zip without a password",
     "377abcaf271c0004b3ecc73e20000000000000002500000000000000010406000109000007"
     "0b01000121210100",
     FALSE},
    {"RAR 5 with its names",
     "526172211a07010073a5a1f0130400000f00000000000000000000000000000000", TRUE},
    {"RAR 5, one file",
     RAR5 "9906135f3402032520002020000005612e747874240100000fe722b625fc"
          "1454f8619614069e78666a19aff3bd18c1b840941b46e3a9518a86ff9e79"
          "905aaa7501a14c024102da0a610af6d623a73de05a1d39a7ab58a40d3d19",
     TRUE},
    {"RAR 5 without a password", RAR5 "19b23a3503050000", FALSE},
    {"RAR 5, cut off", RAR5 "acf48571", FALSE},
    {"RAR 5 of nothing but lengths", "526172211a070100ffffffffffffffffffffffffffffffffffff",
     FALSE},
    {"RAR 4 with its names", "526172211a0700ce997380000d0000000000000000", TRUE},
    {"RAR 4, one file", RAR4 "0010dd740480250020000000200000000200000000004a6d5b1d33", TRUE},
    {"RAR 4 without a password", RAR4 "00c899740080250020000000200000000200000000004a6d5b1d33",
     FALSE},
    {"RAR 4 of no length", "526172211a0700cf90730000000000000000000000000000", FALSE},
    {"an Office document", "d0cf11e0a1b11ae1000000000000" NAME, TRUE},
    {"an older one", "d0cf11e0a1b11ae10000000000005700", FALSE},
    {"the name in another file", "504b0506" NAME, FALSE},
    {"a disk", "4c554b53babe0002", TRUE},
    {"another disk", "656e637263647361", TRUE},
    {"passwords", "03d9a29a67fb4bb5", TRUE},
    {"one byte", "50", FALSE},
};

static GByteArray *
bytes_of(const char *hex)
{
    GByteArray *bytes = g_byte_array_new();

    for (const char *p = hex; *p != 0; p += 2) {
        guint8 byte = (guint8)(g_ascii_xdigit_value(p[0]) * 16 + g_ascii_xdigit_value(p[1]));
        g_byte_array_append(bytes, &byte, 1);
    }
    return bytes;
}

static void
test_row(gconstpointer data)
{
    gsize i = GPOINTER_TO_SIZE(data);
    g_autoptr(GByteArray) bytes = bytes_of(rows[i].hex);
    g_autofree char *text = g_base64_encode(bytes->data, bytes->len);
    g_autofree char *rest = g_strconcat("Content-Type: application/octet-stream; name=a\n"
                                        "Content-Transfer-Encoding: base64\n\n",
                                        text, "\n", NULL);
    g_autoptr(Extract) extract = read_message(rest);

    g_assert_cmpuint(extract->parts->len, ==, 1);
    g_assert_cmpstr(extract->opaque[0], ==, rows[i].sealed ? "encrypted" : NULL);
}

/* What the trailer of a PDF says, far from its beginning, wherever the reader has to stop. */
static void
test_pdf(void)
{
    static const struct {
        const char *trailer;
        gboolean sealed;
    } ends[] = {
        {"trailer <</Root 1 0 R/Encrypt 3 0 R>>", TRUE},
        {"/Encrypt<</Filter/Standard>>", TRUE},
        {"/Encrypt", FALSE},
        {"(how to /Encrypt a file) <</EncryptMetadata false>>", FALSE},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(ends); i++)
        for (gsize fill = 8100; fill < 8200; fill++) {
            g_autofree char *pad = g_strnfill(fill, ' ');
            g_autofree char *rest =
                g_strconcat("Content-Type: application/pdf; name=a\n\n%PDF-1.7", pad,
                            ends[i].trailer, "\n", NULL);
            g_autoptr(Extract) extract = read_message(rest);
            g_assert_cmpstr(extract->opaque[0], ==, ends[i].sealed ? "encrypted" : NULL);
        }
}

/* B9: a container without its name. */
static void
test_tnef(void)
{
    g_autoptr(Extract) extract =
        read_message("Content-Type: application/octet-stream; name=a\n"
                     "Content-Transfer-Encoding: base64\n\neJ8+IgEAAQAGkAgABAAAAAAA\n");

    g_assert_cmpstr(extract->opaque[0], ==, "a TNEF container");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    mail_start();
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *path = g_strconcat("/mail/sealed XB20/", rows[i].name, NULL);
        g_test_add_data_func(path, GSIZE_TO_POINTER(i), test_row);
    }
    g_test_add_func("/mail/sealed/PDF XB20", test_pdf);
    g_test_add_func("/mail/sealed/TNEF B9", test_tnef);
    return g_test_run();
}
