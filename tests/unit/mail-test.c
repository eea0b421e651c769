/* mail-test - messages with the right answers: tests/cases, then odd structures and headers */
#include "lib/mail.h"

#include <jansson.h>

#include "lib/address.h"
#include "tests/unit/mail-messages.h"

static char *
load_case(const char *file, gsize *length_out)
{
    g_autofree char *path = g_test_build_filename(G_TEST_DIST, "cases", file, NULL);
    g_autoptr(GError) error = NULL;
    char *bytes = NULL;

    g_file_get_contents(path, &bytes, length_out, &error);
    g_assert_no_error(error);
    return bytes;
}

static json_t *
load_cases(void)
{
    g_autofree char *path = g_test_build_filename(G_TEST_DIST, "cases", "cases.json", NULL);
    json_t *cases = json_load_file(path, 0, NULL);

    g_assert_true(json_is_array(cases));
    return cases;
}

static void
assert_number(const char *id, const json_t *facts, const char *name, gint64 found)
{
    const json_t *fact = json_object_get(facts, name);

    if (fact != NULL && json_integer_value(fact) != found)
        g_error("%s: %s is %" G_GINT64_FORMAT ", expected %" G_GINT64_FORMAT, id, name, found,
                (gint64)json_integer_value(fact));
}

/* What is in To or Cc but no recipient, and the other way round. */
static void
check_recipients(const char *id, const json_t *facts, const json_t *envelope,
                 const Extract *extract)
{
    g_autoptr(GHashTable) recipients =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    gint64 hidden = 0, header_only = 0;
    const json_t *list = json_object_get(envelope, "rcpt_to");

    for (gsize i = 0; i < json_array_size(list); i++) {
        char *normal = address_normalise(json_string_value(json_array_get(list, i)), NULL);
        if (normal != NULL && g_hash_table_add(recipients, normal))
            hidden += !g_strv_contains((const char *const *)extract->to_cc, normal);
    }
    for (char **address = extract->to_cc; *address != NULL; address++)
        header_only += !g_hash_table_contains(recipients, *address);
    assert_number(id, facts, "hidden", hidden);
    assert_number(id, facts, "header_only", header_only);
}

static void
check_case(const char *id, const json_t *row, const Extract *extract)
{
    const json_t *expect = json_object_get(row, "expect");
    const json_t *facts = json_object_get(expect, "facts");
    /* Without a conversation nobody takes part in it. */
    gboolean outside = json_integer_value(json_object_get(facts, "outside_thread")) > 0 ||
                       json_is_false(json_object_get(facts, "in_thread"));
    guint doubled = strcmp(id, "H2") == 0 || strcmp(id, "H21") == 0;
    const json_t *forward = json_object_get(facts, "forward");

    g_test_message("case %s", id);
    g_assert_false(extract->malformed);
    g_assert_cmpuint(g_strv_length(extract->doubled), ==, doubled);
    if (g_strcmp0(json_string_value(json_object_get(expect, "tier")), "reject") != 0) {
        g_assert_cmpstr(extract->from[0], ==, "owner@example.com");
        g_assert_cmpuint(g_strv_length(extract->from), ==, 1);
        g_assert_cmpint(extract->opaque[0] != NULL, ==,
                        json_is_true(json_object_get(facts, "opaque")));
    }
    assert_number(id, facts, "attachments", extract->parts->len);
    if (forward != NULL)
        g_assert_cmpint(extract->forward || (extract->quoted && outside), ==,
                        json_is_true(forward));
    check_recipients(id, facts, json_object_get(row, "envelope"), extract);
}

/* The cases of tests/cases, as far as a message alone decides. */
static void
test_cases(void)
{
    json_t *cases = load_cases();
    guint checked = 0;

    for (gsize i = 0; i < json_array_size(cases); i++) {
        const json_t *row = json_array_get(cases, i);
        const char *file = json_string_value(json_object_get(row, "file"));
        if (!g_str_has_suffix(file, ".eml"))
            continue;
        gsize length = 0;
        g_autofree char *bytes = load_case(file, &length);
        g_autoptr(Extract) extract = read_bytes(bytes, length);
        check_case(json_string_value(json_object_get(row, "id")), row, extract);
        checked++;
    }
    g_assert_cmpuint(checked, >, 50);
    json_decref(cases);
}

/* Ids alone name other messages: no subject, thread index, id without brackets (XB5). */
static const struct {
    const char *file;
    const char *parents;
    const char *to_cc;
} heads[] = {
    {"t1-reply-in-thread.eml", "<n2@example.org> <n1@example.org> <o1@example.com>",
     "nora@example.org"},
    {"t2-subject-only.eml", "", "nora@example.org"},
    {"t3-thread-index-only.eml", "", "nora@example.org"},
    {"t4-references-only.eml", "<n1@example.org> <o1@example.com> <n2@example.org>",
     "nora@example.org"},
    {"t7-two-conversations.eml", "<n2@example.org> <x1@example.net> <x2@example.com>",
     "nora@example.org"},
    {"t9-ids-without-brackets.eml", "", "nora@example.org"},
    {"a5-undisclosed-recipients.eml", "", ""},
    {"a6-one-mailbox-three-spellings.eml", "", "dana@example.com"},
    {"a8-percent-routing.eml", "", ""},
    {"a9-quoted-local-part-with-at.eml", "", ""},
    {"a10-idn-two-spellings.eml", "<b2@example.org> <b1@example.com>",
     "kontakt@xn--bcher-kva.example.org"},
    {"a13-display-name-is-an-address.eml", "", "mallory@example.net"},
    {"h4-subject-decodes-to-a-header.eml", "", "new.client@example.org"},
};

static void
test_head(gconstpointer data)
{
    gsize i = GPOINTER_TO_SIZE(data), length = 0;
    g_autofree char *bytes = load_case(heads[i].file, &length);
    g_autoptr(Extract) extract = read_bytes(bytes, length);
    g_autofree char *parents = g_strjoinv(" ", extract->parents);
    g_autofree char *to_cc = g_strjoinv(" ", extract->to_cc);

    g_assert_cmpstr(parents, ==, heads[i].parents);
    g_assert_cmpstr(to_cc, ==, heads[i].to_cc);
    g_assert_null(strpbrk(extract->subject, "\r\n"));
}

#define PLAIN "Content-Type: text/plain; charset=utf-8\n"
#define MIXED "Content-Type: multipart/mixed; boundary=\"bb\"\n\n"
#define HELLO "--bb\nContent-Type: text/plain\n\nhello\n"
#define PDF   "Content-Type: application/pdf\n\n%PDF\n"
#define END   "--bb--\n"
#define MAIL  "From: a@example.net\nSubject: x\n\nbody\n"

static const struct {
    const char *name;
    const char *rest; /* of the message */
    guint attachments;
    gboolean forward;
    const char *opaque; /* one of the reasons, NULL: none */
} structures[] = {
    {"no type is text", "\nhello\n", 0, FALSE, NULL},
    {"no type in a part is text", MIXED "--bb\n\nhello\n" END, 0, FALSE, NULL},
    {"text and HTML",
     "Content-Type: multipart/alternative; boundary=\"bb\"\n\n" HELLO
     "--bb\nContent-Type: text/html\n\n<p>hello</p>\n" END,
     0, FALSE, NULL},
    {"B4 name in the type", "Content-Type: text/plain; name=\"a.txt\"\n\nx\n", 1, FALSE, NULL},
    {"B4 name in pieces", "Content-Type: text/plain; name*0=a; name*1=.txt\n\nx\n", 1, FALSE,
     NULL},
    {"B4 encoded name",
     PLAIN "Content-Disposition: inline; filename*=utf-8''%C3%A4.txt\n\nx\n", 1, FALSE, NULL},
    {"B4 name with spaces around",
     PLAIN "Content-Disposition: inline;\n filename = a.txt\n\nx\n", 1, FALSE, NULL},
    {"empty name", "Content-Type: text/plain; name=\"\"\n\nx\n", 0, FALSE, NULL},
    {"disposition attachment", PLAIN "Content-Disposition: ATTACHMENT\n\nx\n", 1, FALSE, NULL},
    {"unknown disposition", PLAIN "Content-Disposition: x-shown\n\nx\n", 1, FALSE, NULL},
    {"inline image",
     MIXED HELLO "--bb\nContent-Type: image/png\nContent-Disposition: inline\n\nx\n" END, 1,
     FALSE, NULL},
    {"other text", "Content-Type: text/rtf\n\nx\n", 1, FALSE, NULL},
    {"nested",
     MIXED HELLO "--bb\nContent-Type: multipart/related; boundary=cc\n\n--cc\n" PDF
                 "--cc\n" PDF "--cc--\n" END,
     2, FALSE, NULL},
    {"signed",
     "Content-Type: multipart/signed; boundary=bb\n\n" HELLO
     "--bb\nContent-Type: application/pgp-signature\n\nx\n" END,
     1, FALSE, NULL},
    {"B3 message", MIXED HELLO "--bb\nContent-Type: message/rfc822\n\n" MAIL END, 1, TRUE,
     NULL},
    {"B3 inside counts no more",
     MIXED
     "--bb\nContent-Type: message/rfc822\n\nContent-Type: multipart/mixed; boundary=cc\n\n"
     "--cc\n" PDF "--cc\n" PDF "--cc--\n" END,
     1, TRUE, NULL},
    {"B3 message in base64",
     MIXED "--bb\nContent-Type: message/rfc822\nContent-Transfer-Encoding: base64\n\n"
           "RnJvbTogYUBiLm9yZwpTdWJqZWN0OiB4Cgpib2R5Cg==\n" END,
     1, TRUE, NULL},
    {"B3 file that is a message",
     MIXED HELLO "--bb\nContent-Type: application/octet-stream; name=a.eml\n\n" MAIL END, 1,
     TRUE, NULL},
    {"digest, no types",
     "Content-Type: multipart/digest; boundary=bb\n\n--bb\n\n" MAIL "--bb\n\n" MAIL END, 2,
     TRUE, NULL},
    {"resent", "Resent-From: owner@example.com\n\nx\n", 0, TRUE, NULL},
    {"B9 TNEF by name",
     MIXED HELLO "--bb\nContent-Type: application/octet-stream; name=WINMAIL.DAT\n\nx\n" END,
     1, FALSE, "a TNEF container"},
    {"B16 encrypted parts",
     "Content-Type: multipart/encrypted; boundary=bb\n\n--bb\n"
     "Content-Type: application/pgp-encrypted\n\nVersion: 1\n--bb\n"
     "Content-Type: application/octet-stream\n\nx\n" END,
     2, FALSE, "encrypted"},
    {"B16 armour", "\n-----BEGIN PGP MESSAGE-----\n\nx\n-----END PGP MESSAGE-----\n", 0, FALSE,
     "encrypted"},
    {"B16 armour in a sentence",
     "\nLines such as -----BEGIN PGP MESSAGE----- are for programs.\n", 0, FALSE, NULL},
    {"B16 armour behind a word",
     "\nHi -----BEGIN PGP MESSAGE----- x -----END PGP MESSAGE-----\n", 0, FALSE, "encrypted"},
    {"XB20 an archive with a password",
     "Content-Type: application/octet-stream; name=a.zip\nContent-Transfer-Encoding: "
     "base64\n\nUEsDBBQAAQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n",
     1, FALSE, "encrypted"},
    {"XB20 for its second file",
     "Content-Type: application/octet-stream; name=a.zip\nContent-Transfer-Encoding: "
     "base64\n\nUEsDBBQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAUEsDBBQACQAAAA==\n",
     1, FALSE, "encrypted"},
    {"XB20 an archive without",
     "Content-Type: application/octet-stream; name=a.zip\nContent-Transfer-Encoding: "
     "base64\n\nUEsDBBQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n",
     1, FALSE, NULL},
    {"B16 enveloped, of no type",
     "Content-Type: application/octet-stream; name=smime.p7m\nContent-Transfer-Encoding: "
     "base64\n\nMIIGyQYJKoZIhvcNAQcDoIIGujCCBrYCAQA=\n",
     1, FALSE, "encrypted"},
    {"B16 signed, of no type",
     "Content-Type: application/octet-stream; name=x.p7m\nContent-Transfer-Encoding: "
     "base64\n\nMIIGyQYJKoZIhvcNAQcCoIIGujCCBrYCAQE=\n",
     1, FALSE, NULL},
    {"B16 a file in PGP armour",
     "Content-Type: application/octet-stream; name=a.pdf.asc\n\n-----BEGIN PGP "
     "MESSAGE-----\n\nx\n",
     1, FALSE, "encrypted"},
    {"B16 a file in PGP", "Content-Type: application/octet-stream; name=a.pdf.PGP\n\nx\n", 1,
     FALSE, "encrypted"},
    {"B16 age", "\n-----BEGIN AGE ENCRYPTED FILE-----\nx\n", 0, FALSE, "encrypted"},
    {"B16 quoted armour", "\n> -----BEGIN PGP MESSAGE-----\n>\n> x\n", 0, FALSE, "encrypted"},
    {"clear signature", "\n-----BEGIN PGP SIGNED MESSAGE-----\n\nx\n", 0, FALSE, NULL},
    {"fragment", "Content-Type: message/partial; id=x; number=1\n\nx\n", 1, FALSE,
     "content that is elsewhere"},
    {"B11 after the end", MIXED HELLO END "\n--bb\n" PDF END, 1, FALSE, NULL},
    {"B11 after the end, other border", MIXED HELLO END "\n--cc\n" PDF "--cc--\n", 1, FALSE,
     NULL},
    {"B11 text after the end", MIXED HELLO END "\n" HELLO END, 1, FALSE, NULL},
    {"B11 after the end, again and again", MIXED HELLO END HELLO END HELLO END HELLO END, 2,
     FALSE, "a broken structure"},
    {"no part after the end", MIXED HELLO END "\nThe list of the harbour\n", 0, FALSE, NULL},
    {"B11 before the first", MIXED "--cc\n" PDF "--cc--\n" HELLO END, 1, FALSE, NULL},
    {"text before the first", MIXED "This is a message in MIME format.\n" HELLO END, 0, FALSE,
     NULL},
    {"B14 two files", "\nbegin 644 a.txt\n#86)C\n`\nend\nbegin 755 b.txt\n#86)C\n`\nend\n", 2,
     FALSE, NULL},
    {"B14 more spaces", "\nbegin  644  a.csv\n#86)C\n`\nend\n", 1, FALSE, NULL},
    {"B14 is a sentence", "\nBegin 100 tests on Monday.\n\nOlivia\n", 0, FALSE, NULL},
    {"B14 is another", "\nBegin 200 meters behind the church.\nOK?\n", 0, FALSE, NULL},
    {"B14 is no file", "\nbegin 644 days after the start\nof the work.\n", 0, FALSE, NULL},
    {"XB18 no boundary", "Content-Type: multipart/mixed\n\n" HELLO END, 1, FALSE,
     "a broken structure"},
    {"XB18 other boundary", "Content-Type: multipart/mixed; boundary=cc\n\n" HELLO END, 1,
     FALSE, "a broken structure"},
    {"XB18 two boundaries",
     "Content-Type: multipart/mixed; boundary=bb; boundary=cc\n\n" HELLO END, 0, FALSE,
     "a broken structure"},
    {"XB18 border that goes on", MIXED HELLO "--bbx\n" PDF END, 0, FALSE,
     "a broken structure"},
    {"XB18 no end", MIXED HELLO, 0, FALSE, "a broken structure"},
    {"XB18 two types", MIXED "--bb\nContent-Type: text/plain\n" PDF END, 1, FALSE,
     "a broken structure"},
    {"XB18 no type", "Content-Type: pdf\n\nx\n", 1, FALSE,
     "a content type that cannot be read"},
    {"XB18 unknown encoding", PLAIN "Content-Transfer-Encoding: x-rot13\n\nx\n", 0, FALSE,
     "an unknown transfer encoding"},
    {"XB18 text after the padding", PLAIN "Content-Transfer-Encoding: base64\n\neA==\neHh4\n",
     0, FALSE, "a transfer encoding that cannot be undone"},
    {"XB18 encoding behind a comment", PLAIN "Content-Transfer-Encoding: (x) base64\n\neA==\n",
     0, FALSE, "an unknown transfer encoding"},
    {"XB18 border in capitals", MIXED HELLO "--BB\n" PDF END, 0, FALSE, "a broken structure"},
    {"XB18 border in pieces",
     "Content-Type: multipart/mixed; boundary*0=b; boundary*1=b\n\n" HELLO "--bb\n" PDF END, 1,
     FALSE, NULL},
    {"XB18 header that ends for some", "X-A: b\n \n" MIXED HELLO "--bb\n" PDF END, 1, FALSE,
     "a broken header"},
    {"XB18 type in quotes",
     "Content-Type: \"multipart/mixed\"; boundary=bb\n\n" HELLO "--bb\n" PDF END, 1, FALSE,
     "a content type that cannot be read"},
    {"XB18 two dispositions",
     PLAIN "Content-Disposition: inline\nContent-Disposition: attachment; filename=a\n\nx\n",
     0, FALSE, "a broken structure"},
    {"disposition behind a comment",
     PLAIN "Content-Disposition: (inline) attachment; filename=a\n\nx\n", 1, FALSE, NULL},
    {"disposition encoded",
     PLAIN "Content-Disposition: =?utf-8?q?attachment?=; filename=a.csv\n\nx\n", 1, FALSE,
     NULL},
    {"image of a page",
     "Content-Type: multipart/related; boundary=bb\n\n--bb\nContent-Type: text/html\n\n"
     "<img src=\"cid:x\">\n--bb\nContent-Type: image/png\nContent-ID: <x>\n\nx\n" END,
     1, FALSE, NULL},
    {"XB19 image in a page",
     "Content-Type: text/html\n\n<img src=\"data:image/png;base64,iVBORw0KGgo=\">\n", 1, FALSE,
     NULL},
    {"XB19 file in a page",
     "Content-Type: text/html\n\n<a download=a.csv href='data:text/csv,a,b'>a</a>\n", 1, FALSE,
     NULL},
    {"in a style",
     "Content-Type: text/html\n\n<p "
     "style=\"background:url(data:application/pdf;base64,JVBERi0x)\">"
     "a</p>\n",
     1, FALSE, NULL},
    {"a word that ends in data", "Content-Type: text/html\n\n<p>See the data: one, two</p>\n",
     0, FALSE, NULL},
    {"XB21 lines that a style keeps",
     "Content-Type: text/html\n\n<p style=\"white-space: pre-wrap\">See.\n\n"
     "---------- Forwarded message ---------\nFrom: Lee</p>\n",
     0, TRUE, NULL},
    {"lines that no style keeps",
     "Content-Type: text/html\n\n<p style=\"white-space:nowrap\">Do not call it a\n"
     "forwarded message\n</p>\n",
     0, FALSE, NULL},
    {"enriched text", "Content-Type: text/enriched\n\nx\n", 1, FALSE, NULL},
    {"octets that are text", "Content-Type: application/octet-stream\n\nx\n", 1, FALSE, NULL},
    {"B3 new kind of message", MIXED HELLO "--bb\nContent-Type: message/x-y\n\n" MAIL END, 1,
     TRUE, NULL},
    {"B3 web archive",
     MIXED HELLO "--bb\nContent-Type: text/plain; name=\"A.MHT\"\n\n" MAIL END, 1, TRUE, NULL},
    {"report",
     MIXED HELLO "--bb\nContent-Type: message/delivery-status\n\nAction: failed\n" END, 1,
     FALSE, NULL},
    {"B14 newer form", "\nbegin-base64 644 a.csv\nYWJj\n====\n", 1, FALSE, NULL},
    {"B14 capitals and a long mode", "\nBEGIN 100644\ta.csv\n#86)C\n`\nend\n", 1, FALSE, NULL},
    {"B14 in a page", "Content-Type: text/html\n\n<pre>begin 644 a.csv\n#86)C\n`\nend\n</pre>",
     1, FALSE, NULL},
    {"B14 soft line break",
     PLAIN "Content-Transfer-Encoding: quoted-printable\n\nbeg=\nin 644 a\n#86)C\n`\nend\n", 1,
     FALSE, NULL},
    {"B14 before the first part", MIXED "begin 644 a.csv\n#86)C\n`\nend\n" HELLO END, 1, FALSE,
     NULL},
    {"B6 soft line break",
     PLAIN
     "Content-Transfer-Encoding: quoted-printable\n\n----- Forw=\narded mess=\nage -----\n",
     0, TRUE, NULL},
    {"XD13 in the page", "Content-Type: text/html\n\n<meta charset=utf-7><p>+ADw-x\n", 0,
     FALSE, "a character set that readers take for another"},
    {"XD13 shift without a name", "\n\x1b$B$3$s\x1b(B\n", 0, FALSE,
     "a character set that readers take for another"},
    {"XD13 no such set", "Content-Type: text/plain; charset=x-none\n\nx\n", 0, FALSE,
     "a character set that readers take for another"},
    {"XD13 nearly a set", "Content-Type: text/plain; charset=iso-8859-99\n\nx\n", 0, FALSE,
     "a character set that readers take for another"},
    {"XB18 line without a colon", "no field\n" PLAIN "\nx\n", 0, FALSE, "a broken header"},
    {"XD13 another name of a set",
     "Content-Type: text/plain; charset=windows-31j\n\n\x96\xd8\n", 0, FALSE, NULL},
    {"XD13 an old name of a set", "Content-Type: text/plain; charset=x-sjis\n\n\x96\xd8\n", 0,
     FALSE, NULL},
    {"XD13 a comment behind the set of an empty text",
     "Content-Type: text/plain; charset=us-ascii (x)\n\n", 0, FALSE, NULL},
    {"XD13 a comment behind the set",
     "Content-Type: text/plain; charset=us-ascii (Plain text)\n\nx\n", 0, FALSE, NULL},
    {"XD13 a comment, and more than ASCII",
     "Content-Type: text/plain; charset=utf-8 (x)\n\n\xc3\xa4\n", 0, FALSE,
     "a character set that readers take for another"},
    {"XD13 a comment, and a shift",
     "Content-Type: text/plain; charset=iso-2022-jp (x)\n\n\x1b$B$3$s\x1b(B\n", 0, FALSE,
     "a character set that readers take for another"},
    {"XD13 UTF-7", "Content-Type: text/plain; charset=utf-7\n\n+AGE-\n", 0, FALSE,
     "a character set that readers take for another"},
    {"XB23 unreadable", "Reply-To: a@b@example.net\n\nx\n", 0, FALSE,
     "an address for answers that cannot be read"},
    {"XB23 a link that is unreadable", "List-Post: <mailto:a%@example.net>\n\nx\n", 0, FALSE,
     "an address for answers that cannot be read"},
    {"XB23 a field of a link", "List-Post: <mailto:a@example.net?cc=b@c@example.net>\n\nx\n",
     0, FALSE, "an address for answers that cannot be read"},
    {"a link to a form", "List-Post: <https://example.net/%>\n\nx\n", 0, FALSE, NULL},
    {"no copies, please", "Mail-Copies-To: Nobody\n\nx\n", 0, FALSE, NULL},
    {"copies to the author", "Mail-Copies-To: always\n\nx\n", 0, FALSE, NULL},
    {"no word", "Mail-Copies-To: somebody\n\nx\n", 0, FALSE,
     "an address for answers that cannot be read"},
};

static void
test_structure(gconstpointer data)
{
    gsize i = GPOINTER_TO_SIZE(data);
    g_autoptr(Extract) extract = read_message(structures[i].rest);
    const char *const *opaque = (const char *const *)extract->opaque;

    g_assert_cmpuint(extract->parts->len, ==, structures[i].attachments);
    g_assert_cmpint(extract->forward, ==, structures[i].forward);
    if (structures[i].opaque != NULL)
        g_assert_true(g_strv_contains(opaque, structures[i].opaque));
    else
        g_assert_cmpstr(opaque[0], ==, NULL);
}

/* XD14: what is inside an attached message can be read. */
static void
test_inner_text(void)
{
    g_autoptr(Extract) extract = read_message(
        MIXED HELLO
        "--bb\nContent-Type: message/rfc822\n\nFrom: a@example.net\n"
        "Content-Type: message/rfc822\n\nFrom: b@example.net\n\nSecret plan\n" END);

    g_assert_nonnull(strstr(extract->text, "hello"));
    g_assert_nonnull(strstr(extract->text, "Secret plan"));
    g_assert_nonnull(strstr(extract->text, "From: a@example.net"));
    g_assert_nonnull(strstr(extract->text, "From: b@example.net"));
}

/* What an attached message is about, and its files, are shown; as text they are not searched:
 * an address in its header is none in the body of this message. */
static void
test_inner_head(void)
{
    static const char message[] =
        MIXED HELLO "--bb\nContent-Type: message/rfc822\n\nFrom: Lee <lee@example.net>\n"
                    "Subject: =?utf-8?q?B=C3=BCdget?=\nMIME-Version: 1.0\n"
                    "Content-Type: multipart/mixed; boundary=cc\n\n--cc\n\nbody\n--cc\n"
                    "Content-Type: application/pdf; name=q.pdf\n\n%PDF\n--cc--\n"
                    "--bb\nContent-Type: message/rfc822\nContent-Transfer-Encoding: base64\n\n"
                    "U3ViamVjdDogU2Vjb25kCgpib2R5Cg==\n" END;
    g_autoptr(Extract) extract = read_message(message);

    g_assert_nonnull(strstr(extract->text, "From: Lee <lee@example.net>\nSubject: Büdget\n"));
    g_assert_nonnull(strstr(extract->text, "File in it: q.pdf (application/pdf)"));
    g_assert_nonnull(strstr(extract->text, "Subject: Second\n"));
    g_assert_cmpstr(extract->mentioned[0], ==, NULL);
}

#define CALENDAR                                                                              \
    "BEGIN:VCALENDAR\nMETHOD:REQUEST\nBEGIN:VEVENT\nSUMMARY:Ask sam@example.org\n"            \
    "ORGANIZER;SENT-BY=\"mailto:pa@example.net\":MAILTO:Owner@example.com\n"                  \
    "ATTENDEE;CN=Nora;RSVP=TRUE:mailto:nora@exam\n ple.org\n"                                 \
    "attendee;DELEGATED-TO=\"mailto:mallory@example.net\":invalid:nomail\n"                   \
    "END:VEVENT\nEND:VCALENDAR\n"

/* XB22: in place, attached, or by its name alone. */
static void
test_invitations(void)
{
    static const char *const messages[] = {
        "Content-Type: text/calendar; method=REQUEST\n\n" CALENDAR,
        "Content-Type: application/ics\nContent-Disposition: attachment\n\n" CALENDAR,
        "Content-Type: application/octet-stream; name=\"Invite.ICS\"\n\n" CALENDAR,
        MIXED HELLO "--bb\nContent-Type: text/calendar\n\n" CALENDAR END,
    };

    for (gsize i = 0; i < G_N_ELEMENTS(messages); i++) {
        g_autoptr(Extract) extract = read_message(messages[i]);
        g_autofree char *attendees = g_strjoinv(" ", extract->attendees);
        g_assert_cmpstr(attendees, ==,
                        "pa@example.net owner@example.com nora@example.org "
                        "mallory@example.net");
        g_assert_cmpuint(extract->parts->len, ==, 1);
        g_assert_nonnull(strstr(extract->text, "SUMMARY"));
        g_assert_false(extract->differs);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    mail_start();
    g_test_add_func("/mail/cases", test_cases);
    for (gsize i = 0; i < G_N_ELEMENTS(heads); i++) {
        g_autofree char *path = g_strconcat("/mail/head/", heads[i].file, NULL);
        g_test_add_data_func(path, GSIZE_TO_POINTER(i), test_head);
    }
    for (gsize i = 0; i < G_N_ELEMENTS(structures); i++) {
        g_autofree char *path = g_strconcat("/mail/structure/", structures[i].name, NULL);
        g_test_add_data_func(path, GSIZE_TO_POINTER(i), test_structure);
    }
    g_test_add_func("/mail/inner text XD14", test_inner_text);
    g_test_add_func("/mail/inner head XD14", test_inner_head);
    g_test_add_func("/mail/invitations XB22 B10", test_invitations);
    return g_test_run();
}
