/* mail-block-test - texts: what only a program can read (XB19), and readings that differ (XD1,
 * XD13) */
#include "lib/mail.h"

#include "lib/mail-private.h"
#include "tests/unit/mail-messages.h"

#define LINK                                                                                  \
    "https://eur01.safelinks.example/?url=https%3A%2F%2Fwww.example.org%2Fterms&data=05%7C0"  \
    "1%7Colivia%40example.com%7C1f3c2b7a9d8e4f5a6b7c08da%7C84df9e7fe9f640afb435aaaaaaaaaaaa"  \
    "%7CUnknown%7CTWFpbGZsb3d8eyJWIjoiMC4wLjAwMDAiLCJQIjoiV2luMzIiLCJBTiI6Ik1haWwifQ%3D&r=0"

static const struct {
    const char *name;
    const char *line; /* repeated */
    guint times;
    gboolean block;
} rows[] = {
    {"base64", "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlqa2xtbm9wcXJzdHV2", 20, TRUE},
    {"base64, short lines", "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNk", 60, TRUE},
    {"base64, spaces", "QUJDREVGR0 hJSktMTU5P UFFSU1RVVl dYWVphYmNk", 60, TRUE},
    {"base64, commas", "QUJDREVGR0hJSktM,TU5PUFFSU1RVVldY,WVphYmNkZWZn", 60, TRUE},
    {"base64 in sevens",
     "pU3KGCU wux1tEy ze1iN7L tkeP3If yxlxF0S U1kk8nV w0YL4xI B5p/tqg 7ui5mX9 cfCmZ/a", 80,
     TRUE},
    {"base64 in fours", "pU3K GCUw ux1t Eyze 1iN7 Ltke P3If yxlx F0SU 1kk8 nVw0 YL4x", 120,
     TRUE},
    {"bits", "0101000011110001111110110110001011011011100001011110010101011001", 40, TRUE},
    {"bytes of three digits", "056183040049251071025144072112195124037144211173229149078106",
     40, TRUE},
    {"base64 in sixteens",
     "pU3KGCUwux1tEyze\n1iN7LtkeP3Ifyxlx\n0B5p/tqg7ui5mX9c\nQ8zK2vB7xJ4mT1nR\n"
     "w3E9yU6iO5pA2sDf\nGzrqeltionvernes",
     60, TRUE},
    {"keys and what they are for",
     "pU3KGCUwux1tEyze1iN7LtkeP3Ifyxlx\nfor the gate at the back", 60, FALSE},
    {"bits in eights", "01010000 11110001 11110110 11000101 10111000", 40, TRUE},
    {"numbers of letters", "&#37;&#80;&#68;&#70;&#45;&#49;&#46;&#55;&#10;&#49;&#48;&#32;", 60,
     TRUE},
    {"a table in uuencode", "M+#0P,#8S\"DYO<F$@,3 L-# P-S *3F]R82 Q,2PT,# W-PI.;W)A(#$R+#0P",
     30, TRUE},
    {"base64 between sentences",
     "Dear Nora, as we said:\nQUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphY", 200, TRUE},
    {"base32", "JBSWY3DPEBLW64TMMQQQ2JBSWY3DPEBLW64TMMQQ2JBSWY3DPEBL", 60, TRUE},
    {"Ascii85", "9jqo^BlbD-BleB1DJ+*+F(f,q/0JhKF<GL>Cj@.4Gp$d7F!,L7@<6@)/0J", 60, TRUE},
    {"uuencode without its first line",
     "M5&AI<R!I<R!A('1E<W0@;V8@=75E;F-O9&EN9R!A;F0@:70@:&%S", 60, TRUE},
    {"yEnc", "=ybegin part=1 line=128 size=3 name=a.csv", 1, TRUE},
    {"BinHex", "(This file must be converted with BinHex 4.0)", 1, TRUE},
    {"hexadecimal", "48656c6c6f20776f726c64210a48656c6c6f20776f726c6421", 60, TRUE},
    {"bytes", "48 65 6c 6c 6f 20 77 6f 72 6c 64 21 0a 48 65 6c", 60, TRUE},
    {"bytes of a program", "0x48, 0x65, 0x6c, 0x6c, 0x6f, 0x20, 0x77, 0x6f, 0x72, 0x6c,", 60,
     TRUE},
    {"hexdump",
     "00000000  48 65 6c 6c 6f 20 77 6f  72 6c 64 21 0a 48 65 6c  |Hello world!.Hel|", 60,
     TRUE},
    {"xxd", "00000000: 4865 6c6c 6f20 776f 726c 6421 0a48 656c  Hello world!.Hel", 60, TRUE},
    {"decimal bytes", "72 101 108 108 111 32 119 111 114 108 100 33 10 72", 60, TRUE},
    {"a certificate", "MIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQGEwJJ", 24,
     TRUE},
    {"a signature", "iQIzBAEBCAAdFiEEabcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKL", 12,
     FALSE},
    {"checksums", "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08  a.tar",
     15, FALSE},
    {"links", LINK, 20, FALSE},
    {"links in brackets", "Terms <" LINK ">", 20, FALSE},
    {"figures", "2026-11   1,234.00   3,456.50   7,890.12  12.5%", 60, FALSE},
    {"whole numbers", "12  1234  5678  9012  345", 60, FALSE},
    {"a month", "23 24 25 26 27 28 29", 60, FALSE},
    {"a table", "2026-01-12,ACME Trading,Berlin,131.40,EUR", 60, FALSE},
    {"a program in humps",
     "final int MAX_RETRY_COUNT = HttpStatus.valueOf(0).getReasonPhraseLength().orElse(1);",
     60, FALSE},
    {"a game of chess", "1. e4 c5 2. Nf3 d6 3. d4 cxd4 4. Nxd4 Nf6 5. Nc3 a6 6. Be3 e5 7. Nb3",
     12, FALSE},
    {"names of parts", "The relay K12 and the fuse F3 of the MX200 in rack R4 need care.", 100,
     FALSE},
    {"order numbers", "ORD-2026-00417", 80, FALSE},
    {"account numbers", "DE89 3704 0044 0532 0130 00", 60, FALSE},
    {"telephone numbers", "+49 30 1234 5678", 80, FALSE},
    {"capitals",
     "WICHTIGE INFORMATIONEN ZUR DATENSCHUTZGRUNDVERORDNUNG UND ZU DEN BEDINGUNGEN", 40,
     FALSE},
    {"long words", "Donaudampfschifffahrtsgesellschaftskapitän Rechtsschutzversicherungen", 60,
     FALSE},
    {"Thai", "ขอบคุณสำหรับข้อความของคุณ ฉันจะตอบกลับพรุ่งนี้", 60, FALSE},
    {"Chinese", "谢谢您的来信，我明天回复您。", 80, FALSE},
    {"a program", "    return length <= LINK_MAX && g_strstr_len(piece, length, end) != NULL;",
     60, FALSE},
    {"a log", "Nov 29 23:59:29 mx postfix/smtpd[29215]: disconnect from localhost[127.0.0.1]",
     60, FALSE},
    {"commits", "84e8c1a mail: caps hold inside encodings and margins, too", 60, FALSE},
    {"paths", "/srv/projects/exeat/tests/unit/mail-block-test.c", 60, FALSE},
    {"a style sheet", ".c1{color:#018697;margin:1px}", 300, FALSE},
    {"a style sheet in a line",
     ".text-slate-50{color:#f1f5f9}.bg-slate-50{background-color:#0e1a2f}.p-1{padding:4px}",
     60, FALSE},
    {"hexadecimal as colours", "a:#48656c:#6c6f20:#776f72:#6c6421", 80, TRUE},
    {"rows of numbers", "12,15,18,20,99,104,7,3,55,41,16,28,31", 200, FALSE},
    {"a rule", "------------------------------------------------------------", 60, FALSE},
};

static void
test_row(gconstpointer data)
{
    gsize i = GPOINTER_TO_SIZE(data);
    g_autoptr(GString) text = g_string_new("\nDear Nora,\n\n");

    for (guint n = 0; n < rows[i].times; n++)
        g_string_append_printf(text, "%s\n", rows[i].line);
    g_autoptr(Extract) extract = read_message(text->str);
    g_assert_cmpstr(extract->opaque[0], ==, rows[i].block ? "an encoded block" : NULL);
}

/* XD1: laid out in another way is the same; another word is not. */
static const struct {
    const char *text;
    const char *html; /* as text */
    gboolean same;
} pairs[] = {
    {"Hello Nora,\n\nThursday.\n", "Hello Nora, Thursday.", TRUE},
    {"* one\n* two\n", "one\ntwo\n", TRUE},
    {"*Bold* and _more_", "Bold and more", TRUE},
    {"\"Quoted\"", "“Quoted”", TRUE},
    {"> Thursday?\n", "Thursday?\n", TRUE},
    {"Straße", "STRASSE", TRUE},
    {"cafe\u0301", "café", TRUE},
    {"zero\u200bwidth", "zerowidth", TRUE},
    {"", "", TRUE},
    {"...", "", TRUE},
    {"We do not accept.", "We do accept.", FALSE},
    {"We accept.", "We accept. Account 88-1042", FALSE},
    {"We accept. Account 88-1042", "We accept.", FALSE},
    {"90,000", "9,0000", FALSE},
    {"5", "-5", FALSE},
    {"5", "5%", FALSE},
    {"$100", "€100", FALSE},
    {"one two", "two one", FALSE},
    {"", "Pay", FALSE},
};

static void
test_words(void)
{
    for (gsize i = 0; i < G_N_ELEMENTS(pairs); i++)
        if (mail_same_words(pairs[i].text, pairs[i].html) != pairs[i].same)
            g_error("“%s” and “%s”", pairs[i].text, pairs[i].html);
}

/* XD13: bytes that another reader shows as other letters. */
static const struct {
    const char *bytes;
    const char *charset;
    gboolean certain;
} texts[] = {
    {"plain", NULL, TRUE},
    {"gr\xc3\xbc\xc3\x9f", NULL, TRUE},
    {"gr\xc3\xbc\xc3\x9f", "us-ascii", TRUE},
    {"gr\xc3\xbc\xc3\x9f", "utf-8", TRUE},
    {"gr\xfc\xdf", "iso-8859-1", TRUE},
    {"\x1b$B$3$s\x1b(B", "iso-2022-jp", TRUE},
    {"", "x-none", TRUE},
    {"gr\xfc\xdf", NULL, FALSE},
    {"gr\xfc\xdf", "utf-8", FALSE},
    {"plain", "x-none", FALSE},
    {"\x1b$B$3$s\x1b(B", NULL, FALSE},
    {"\x1b$B$3$s\x1b(B", "utf-8", FALSE},
    {"\x0e$3$s\x0f", "us-ascii", FALSE},
    {"\xff\xfe", NULL, FALSE},
    {"\xc0\xaf", "utf-8", FALSE},
};

static void
test_charsets(void)
{
    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++)
        if (mail_is_certain(texts[i].bytes, strlen(texts[i].bytes), texts[i].charset) !=
            texts[i].certain)
            g_error("row %" G_GSIZE_FORMAT ", %s", i, texts[i].charset);
    g_assert_false(mail_is_certain("a\0b", 3, "utf-8"));
    g_assert_true(mail_is_certain("a\0b\0", 4, "utf-16le"));
}

#define BOTH(text, html)                                                                      \
    "Content-Type: multipart/alternative; boundary=\"bb\"\n\n--bb\n"                          \
    "Content-Type: text/plain\n"                                                              \
    "\n" text "\n--bb\nContent-Type: text/html; charset=utf-8\n\n" html "\n--bb--\n"

/* XD1, XD2: the HTML says something else, seen or hidden. */
static void
test_differences(void)
{
    static const struct {
        const char *message;
        gboolean differs;
    } messages[] = {
        {"Content-Type: text/plain\n"
         "\nHello\n",
         FALSE},
        {BOTH("Hello Nora", "<p>Hello <b>Nora</b></p>"), FALSE},
        {BOTH("See https://example.com.", "<p>See <a href=\"https://example.com\">"
                                          "https://example.com</a>.</p>"),
         FALSE},
        {BOTH("Write to nora@example.org",
              "Write to <a href=\"mailto:nora@example.org\">nora@example.org</a>"),
         FALSE},
        {BOTH("Our terms (https://example.com/t)",
              "Our <a href=\"https://example.com/t\">terms</a>"),
         FALSE},
        {BOTH("See https://example.com", "See <a href=\"https://evil.example\">"
                                         "https://example.com</a>"),
         TRUE},
        {BOTH("Hello", "<p>Hello<span style=\"display:none\"> you</span></p>"), TRUE},
        {BOTH("Hello", "<p>Hello<!-- you --></p>"), TRUE},
        {BOTH("Hello you", "<p>Hello</p>"), TRUE},
        {"Content-Type: text/html\n\n<p>Hello</p>\n", TRUE},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(messages); i++) {
        g_autoptr(Extract) extract = read_message(messages[i].message);
        if (extract->differs != messages[i].differs)
            g_error("row %" G_GSIZE_FORMAT ": “%s” and “%s”", i, extract->text, extract->html);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    mail_start();
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *path = g_strconcat("/mail/block/", rows[i].name, NULL);
        g_test_add_data_func(path, GSIZE_TO_POINTER(i), test_row);
    }
    g_test_add_func("/mail/same words XD1", test_words);
    g_test_add_func("/mail/differences XD1 XD2 B12", test_differences);
    g_test_add_func("/mail/certain letters XD13", test_charsets);
    return g_test_run();
}
