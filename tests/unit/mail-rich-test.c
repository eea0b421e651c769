/* mail-rich-test - what other kinds of text say: enriched text, RTF, cards, invitations
 *
 * A12, XB28: an address that a received message names is learned, however it is written. */
#include "mail-messages.h"

#include "lib/mail-private.h"

static const struct {
    const char *name;
    const char *message; /* the type, an empty line, the body */
    const char *found;   /* addresses at example.org that must be among those found */
} rows[] = {
    {"enriched",
     "text/enriched\n\n<param>x</param>Hi <bold>a1@<italic>example.org</italic></bold>, "
     "b1<bold>@</bold>example.org <<c1@example.org>\n",
     "a1 b1 c1"},
    {"richtext",
     "text/richtext\n\na1@example.org<nl>b1@<bold>example</bold>.org "
     "<lt>c1@example.org</paragraph>\n",
     "a1 b1 c1"},
    {"RTF",
     "text/rtf\n\n{\\rtf1\\ansi{\\fonttbl{\\f0 Arial;}}\\f0 Hi a1@example.org\\par "
     "b1\\'40example.org c1\\u64?example.org {\\field{\\*\\fldinst{HYPERLINK "
     "\"mailto:d1@example.org\"}}{\\fldrslt Nora}} e1{\\b @}exam\nple.org\\line f1 at example "
     "dot org}\n",
     "a1 b1 c1 d1 e1 f1"},
    {"another kind that is shown as text", "text/markdown\n\n# Hi a1@example.org\n", "a1"},
    {"a type that is none is plain text (RFC 2045, 5.2)", "text\n\na1@example.org\n", "a1"},
    {"another kind of HTML", "text/x-amp-html\n\n<p>a1<b>@</b>example.org</p>\n", "a1"},
    {"an invitation",
     "text/calendar\n\nBEGIN:VEVENT\nDESCRIPTION:Write to\\na1@example.org\\, b1@exam\n "
     "ple.org or\\nc1 at example dot org\nX-ALT-DESC;FMTTYPE=text/html:<p>d1<b>@</b>example"
     ".org e1&#64;example.org</p>\nATTENDEE:MAILTO:f1%40example.org\nEND:VEVENT\n",
     "a1 b1 c1 d1 e1 f1"},
    {"a card",
     "text/vcard; name=x.vcf\nContent-Disposition: attachment\n\nBEGIN:VCARD\nVERSION:2.1\n"
     "EMAIL;INTERNET:a1@example.org\nEMAIL;ENCODING=QUOTED-PRINTABLE:b1=40exam=\nple.org\n"
     "NOTE:Or\\nc1@example.org\nEMAIL:d1@exam\n ple.org\nEND:VCARD\n",
     "a1 b1 c1 d1"},
    {"lines broken within a word",
     "text/plain; format=flowed; DelSp=Yes\n\na1@exam \nple.org\n> b1@exam \n> ple.org\n",
     "a1 b1"},
};

static void
test_row(gconstpointer data)
{
    gsize i = GPOINTER_TO_SIZE(data);
    g_autofree char *rest = g_strconcat("Content-Type: ", rows[i].message, NULL);
    g_autoptr(Extract) extract = read_message(rest);
    g_auto(GStrv) names = g_strsplit(rows[i].found, " ", -1);

    for (char **name = names; *name != NULL; name++) {
        g_autofree char *address = g_strconcat(*name, "@example.org", NULL);
        if (!g_strv_contains((const char *const *)extract->mentioned, address))
            g_error("%s is not found in: %s", address, rest);
    }
}

/* XB21: and a marker in it is one. */
static void
test_marker(void)
{
    g_autoptr(Extract) extract =
        read_message("Content-Type: text/enriched\n\nHi\n\n"
                     "---------- <bold>Forwarded</bold>\nmessage ----------\n");

    g_assert_true(extract->forward);
    g_assert_cmpuint(extract->parts->len, ==, 1);
    g_assert_cmpstr(extract->text, ==, "");
}

static const struct {
    const char *text;
    const char *rendered;
} rtf[] = {
    {"{\\rtf1 a\\~b\\_c\\-d\\{e\\}\\\\}", "a b-cd{e}\\"},
    {"\\u-10179?\\u8364\\'80x", "\xef\xbf\xbd€x"},
    {"\\u64", "@"},
    {"\\", ""},
    {"\\'4", "4"},
    {"\\u99999999999?x", "\xef\xbf\xbdx"},
    {"a\\par\nb\\tab c", "a\nb c"},
};

static void
test_rtf(void)
{
    for (gsize i = 0; i < G_N_ELEMENTS(rtf); i++) {
        g_autofree char *rendered = mail_render_rtf(rtf[i].text);
        g_assert_cmpstr(rendered, ==, rtf[i].rendered);
    }
}

/* Texts of many megabytes in such parts are learned from as far as the limit goes, and do not
 * make what is shown any less readable. */
static void
test_limit(void)
{
    g_autoptr(GString) rest = g_string_new("Content-Type: text/markdown\n\n");

    g_string_append(rest, "a1@example.org\n");
    while (rest->len < 3 * EXTRACT_TEXT_LIMIT)
        g_string_append(rest, "ÄÖÜ ÄÖÜ ÄÖÜ ÄÖÜ ÄÖÜ ÄÖÜ ÄÖÜ ÄÖÜ ÄÖÜ ÄÖÜ\n");
    g_autoptr(Extract) extract = read_message(rest->str);

    g_assert_cmpstr(extract->mentioned[0], ==, "a1@example.org");
    g_assert_null(extract->opaque[0]);
}

int
main(int argc, char **argv)
{
    mail_start();
    g_test_init(&argc, &argv, NULL);
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *path = g_strconcat("/mail/rich A12/", rows[i].name, NULL);
        g_test_add_data_func(path, GSIZE_TO_POINTER(i), test_row);
    }
    g_test_add_func("/mail/rich marker XB21", test_marker);
    g_test_add_func("/mail/rich RTF", test_rtf);
    g_test_add_func("/mail/rich limit", test_limit);
    return g_test_run();
}
