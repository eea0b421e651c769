/* mail-field-test - the header, the caps, and messages nobody would write */
#include "lib/mail.h"

#include "tests/unit/mail-messages.h"

#define MUTATIONS      20000
#define MUTATION_USECS (5 * G_USEC_PER_SEC)

typedef enum { FROM, TO_CC, PARENTS, DIVERTED, LISTS, DOUBLED } Which;

static const struct {
    const char *name;
    const char *fields; /* the whole header */
    Which which;
    const char *found; /* parted by spaces */
} rows[] = {
    {"name and address", "From: Olivia Park <owner@example.com>", FROM, "owner@example.com"},
    {"address and comment", "From: owner@example.com (Olivia, (Park))", FROM,
     "owner@example.com"},
    {"comma in a name", "From: \"Park, Olivia\" <owner@example.com>", FROM,
     "owner@example.com"},
    {"two authors", "From: owner@example.com, ceo@example.com", FROM,
     "owner@example.com ceo@example.com"},
    {"address for a name", "From: ceo@example.com <owner@example.com>", FROM,
     "owner@example.com"},
    {"address after the bracket", "From: <owner@example.com> ceo@example.com", FROM,
     "owner@example.com ceo@example.com"},
    {"H1 author in a group", "From: Team: owner@example.com, ceo@example.com;", FROM,
     "owner@example.com ceo@example.com"},
    {"comment in front", "From: (ceo@example.com) Olivia <owner@example.com> (Park)", FROM,
     "owner@example.com"},
    {"route in front", "From: Olivia <@example.net:owner@example.com>", FROM, ""},
    {"two brackets", "From: <owner@example.com> <ceo@example.com>", FROM,
     "owner@example.com ceo@example.com"},
    {"no mailbox", "From: Olivia", FROM, ""},
    {"C11 one more that others may read", "From: owner@example.com, a%b@example.net", FROM,
     ""},
    {"C11 one more, quoted", "From: owner@example.com, \"ceo@example.com\"@example.net", FROM,
     ""},
    {"C11 one more with an odd domain", "From: owner@example.com, <ceo@a..example>", FROM, ""},
    {"a comma that wants quotes", "From: Park, Olivia <owner@example.com>", FROM,
     "owner@example.com"},
    {"two ats", "From: owner@example.com@example.net", FROM, ""},
    {"XB12 encoded address", "From: =?utf-8?q?ceo=40example=2Ecom=2C?= <owner@example.com>",
     FROM, "owner@example.com"},
    {"XB12 bracket in a name", "From: \"<ceo@example.com>\" <owner@example.com>", FROM,
     "owner@example.com"},
    {"XB12 bytes in a name", "From: J\xfcrgen <owner@example.com>", FROM, "owner@example.com"},
    {"A5 empty group", "To: undisclosed-recipients:;", TO_CC, ""},
    {"A13 group", "To: team: nora@example.org, Sam <sam@example.org>; lee@example.net", TO_CC,
     "nora@example.org sam@example.org lee@example.net"},
    {"folded", "To: nora@example.org,\n\tsam@example.org\nCc: lee@example.net", TO_CC,
     "nora@example.org sam@example.org lee@example.net"},
    {"twice", "To: nora@example.org\nCc: Nora@EXAMPLE.org", TO_CC, "nora@example.org"},
    {"spaces around the signs", "To: nora (x) @ example . org, \"a . b\"@example.org", TO_CC,
     "nora@example.org \"a . b\"@example.org"},
    {"open quote", "To: \"Nora <nora@example.org>", TO_CC, "nora@example.org"},
    {"open bracket", "To: Nora <nora@example.org", TO_CC, "nora@example.org"},
    {"ids", "In-Reply-To: <a@x>\nReferences: <b@x> <a@x>\n <c@x>", PARENTS,
     "<a@x> <b@x> <c@x>"},
    {"T9 no brackets", "In-Reply-To: a@x\nReferences: 19c7b7738ee7297f", PARENTS, ""},
    {"XB6 comment", "References: (<a@x>) <b@x>", PARENTS, "<b@x>"},
    {"XB6 quoted", "In-Reply-To: \"Nora's <a@x>\" of Friday <b@x>", PARENTS, "<b@x>"},
    {"id with a space", "References: <a @x> <b@x>", PARENTS, "<b@x>"},
    {"id with a quoted space", "References: <\"n 2\"@x> <\"b c@x> <b@x>", PARENTS,
     "<\"n 2\"@x> <b@x>"},
    {"id never closed", "References: <b@x> <a@x", PARENTS, "<b@x>"},
    {"id in an id", "References: <x <b@x>", PARENTS, "<b@x>"},
    {"XB23 diverted",
     "Reply-To: a@example.net\nMail-Followup-To: b@example.net\nErrors-To: c@example.net\n"
     "Disposition-Notification-To: D <d@example.net>\nReturn-Receipt-To: e@example.net\n"
     "Mail-Reply-To: f@example.net",
     DIVERTED,
     "a@example.net b@example.net c@example.net d@example.net e@example.net f@example.net"},
    {"XB23 less known",
     "Sender: a@example.net\nMail-Copies-To: b@example.net\nX-Confirm-Reading-To: "
     "c@example.net\nList-Post: <mailto:d@example.net>",
     DIVERTED, "a@example.net b@example.net c@example.net d@example.net"},
    {"XB23 many in a link",
     "List-Post: <mailto:a@example.net,B%20%3Cb@example.net%3E;c@example.net?subject=x>",
     DIVERTED, "a@example.net b@example.net c@example.net"},
    {"XB23 fields of a link",
     "List-Post: <mailto:?subject=x&TO=a%40example.net&amp;cc=b@example.net,c@example.net>, "
     "<mailto:d@example.net?bcc=e@example.net>",
     DIVERTED, "a@example.net b@example.net c@example.net d@example.net e@example.net"},
    {"A11 list", "List-Post: <mailto:dev@lists.example.org?subject=x>", LISTS,
     "dev@lists.example.org"},
    {"XB24 id only", "List-Id: Dev, the list <dev.lists.example.org>", LISTS,
     "dev@lists.example.org"},
    {"list, closed", "List-Post: NO (posting not allowed)", LISTS, ""},
    {"list, encoded", "List-Post: <https://x.example/>, <mailto:dev%40lists.example.org>",
     LISTS, "dev@lists.example.org"},
    {"list, a space in the link", "List-Post: < mailto: dev@lists.example.org >", LISTS,
     "dev@lists.example.org"},
    {"list, no brackets", "List-Post: mailto:dev@lists.example.org?subject=x", LISTS,
     "dev@lists.example.org"},
    {"list id without a domain", "List-Id: <localhost>", LISTS, ""},
    {"H2 two authors' fields", "From: a@example.com\nFROM: b@example.com", DOUBLED, "From"},
    {"space before the colon", "Subject: a\nSubject : b", DOUBLED, "Subject"},
    {"may stand twice", "Received: a\nReceived: b\nComments: c\nComments: d", DOUBLED, ""},
    {"every single one",
     "Sender: a\nSender: a\nReply-To: a@x\nReply-To: a@x\nTo: a\nTo: a\nCc: a\nCc: a\nBcc: a\n"
     "Bcc: a\nDate: a\nDate: a\nMessage-ID: <a@x>\nMessage-ID: <a@x>\nIn-Reply-To: a\n"
     "In-Reply-To: a\nReferences: a\nReferences: a\nMIME-Version: 1.0\nMIME-Version: 1.0\n"
     "Content-Type: text/plain\nContent-Type: text/plain\nContent-Transfer-Encoding: 7bit\n"
     "Content-Transfer-Encoding: 7bit",
     DOUBLED,
     "Sender Reply-To To Cc Bcc Date Message-ID In-Reply-To References MIME-Version "
     "Content-Type "
     "Content-Transfer-Encoding"},
};

static Extract *
read_header(const char *fields)
{
    g_autofree char *text = g_strconcat(fields, "\n\nbody\n", NULL);
    g_autofree char *bytes = with_crlf(text);

    return read_bytes(bytes, strlen(bytes));
}

static void
test_row(gconstpointer data)
{
    gsize i = GPOINTER_TO_SIZE(data);
    g_autoptr(Extract) extract = read_header(rows[i].fields);
    char **const lists[] = {extract->from,     extract->to_cc, extract->parents,
                            extract->diverted, extract->lists, extract->doubled};
    g_autofree char *found = g_strjoinv(" ", lists[rows[i].which]);

    g_assert_cmpstr(found, ==, rows[i].found);
    g_assert_false(extract->malformed);
}

static void
test_subject_and_id(void)
{
    g_autoptr(Extract) extract =
        read_header("Subject: =?utf-8?q?Quote=0D=0ABcc=3A_m?=\n =?utf-8?q?allory?=\n"
                    "Message-ID: (x)\n <m1@example.com>");
    g_autoptr(Extract) raw =
        read_header("Subject: Livraison \xe9t\xe9\nMessage-ID: <a@x> <b@x>");

    g_assert_cmpstr(extract->message_id, ==, "<m1@example.com>");
    g_assert_nonnull(strstr(extract->subject, "mallory"));
    g_assert_null(strpbrk(extract->subject, "\r\n"));
    g_assert_true(g_utf8_validate(raw->subject, -1, NULL));
    g_assert_true(g_str_has_prefix(raw->subject, "Livraison"));
    g_assert_cmpstr(raw->message_id, ==, "");
}

static const struct {
    const char *fields;
    gboolean automatic;
} automatics[] = {
    {"Auto-Submitted: auto-replied", TRUE},
    {"Auto-Submitted: No (really)", FALSE},
    {"Precedence: bulk", TRUE},
    {"Precedence: first-class", FALSE},
    {"Return-Path: <>", TRUE},
    {"Return-Path: <a@example.net>", FALSE},
    {"Content-Type: Multipart/Report;\n report-type=disposition-notification", TRUE},
    {"Content-Type: multipart/mixed; x=multipart/report", FALSE},
    {"X-Autoreply: yes", TRUE},
    {"X-Autorespond: Away", TRUE},
    {"X-Auto-Response-Suppress: All", FALSE},
};

static void
test_automatic(void)
{
    for (gsize i = 0; i < G_N_ELEMENTS(automatics); i++) {
        g_autoptr(Extract) extract = read_header(automatics[i].fields);
        g_assert_cmpint(extract->automatic, ==, automatics[i].automatic);
    }
}

/* Row 2 of the decision: a bare CR, a bare LF or a NUL, wherever it stands (XA14). */
static void
test_malformed(void)
{
    static const struct {
        const char *bytes;
        gsize length;
        gboolean malformed;
    } messages[] = {
        {"Subject: x\r\n\r\nbody\r\n", 20, FALSE},
        {"Subject: x\r\n\r\nbody", 18, FALSE},
        {"Subject: x\n\r\nbody\r\n", 19, TRUE},
        {"Subject: x\r\n\r\nbo\rdy\r\n", 21, TRUE},
        {"Subject: x\r\n\r\nbo\ndy\r\n", 21, TRUE},
        {"Subject: x\r\n\r\nbo\0dy\r\n", 21, TRUE},
        {"Subject: x\r\n\r\nbody\r", 19, TRUE},
        {"Sub\0ject: x\r\n\r\nbody\r\n", 21, TRUE},
        {"", 0, FALSE},
        {"\r", 1, TRUE},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(messages); i++) {
        g_autoptr(Extract) extract = read_bytes(messages[i].bytes, messages[i].length);
        g_assert_cmpint(extract->malformed, ==, messages[i].malformed);
    }
}

#define CODE                                                                                  \
    "pU3KGCUwux1tEyze1iN7LtkeP3IfyxlxF0SU1kk8nVw0YL4xIB5ptqg7ui5mX9cfCmZalkyU81lSvTfrXFCeg"   \
    "rrP6SMvivIhH57kkcWxCy1Vjv8HmTQn7LyP4pVeXNjkbcjtS3wnZNKlpNdncGF2GkAJK1r2jQBvpyMvMyTX2z"   \
    "R9hImrhUziuGjQATTO6DSRqwEyBsbryPjv57vX3nytJNK9HVI"

/* XB17, XF7: what goes on without an end is not read, and said not to be. */
static const struct {
    const char *name;
    const char *start; /* of the message, after From and To */
    const char *piece;
    guint times;
    const char *opaque;
} caps[] = {
    {"many fields", "", "X-A: b\n", 2000, "a header too long to be read"},
    {"a long field", "X-A: b", "cccccccccccccccc", 20000, "a header too long to be read"},
    {"many parts", "Content-Type: multipart/mixed; boundary=bb\n\n", "--bb\n\nx\n", 2500,
     "too many parts"},
    {"many fields in a part", "Content-Type: multipart/mixed; boundary=bb\n\n--bb\n",
     "X-A: b\n", 2000, "a header too long to be read"},
    {"nested parts", "Content-Type: message/rfc822\n\n", "Content-Type: message/rfc822\n\n",
     100, "parts nested too deeply"},
    {"XF7 groups within groups", "Cc: ", "g:", 110000, "a header too long to be read"},
    {"XF7 groups of an attached message", "Content-Type: message/rfc822\n\nCc: ", "g:", 110000,
     "a header too long to be read"},
    {"XF7 groups on many lines", "Cc: x\n", " g:\n", 50000, "a header too long to be read"},
    {"XF7 comments that never end", "Cc: ", "(", 200000, "a header too long to be read"},
    {"XF7 quotes that never end", "Cc: a", "\\\"", 100000, "a header too long to be read"},
    {"long text", "\n", "sixteen letters\n", 140000, "text longer than 2 MiB"},
    {"long HTML", "Content-Type: text/html\n\n", "sixteen letters\n", 140000,
     "text longer than 2 MiB"},
    {"XB19 base64", "\n", "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlqa2xtbm9wcXJzdHV2\n",
     700, "an encoded block"},
    {"XB19 hex on one line", "\n", "48656c6c6f", 400, "an encoded block"},
    {"XB19 quoted", "\n",
     "> QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlqa2xtbm9wcXJzdHV2\n", 30,
     "an encoded block"},
    {"XB19 in attributes", "Content-Type: text/html\n\n", "<b class=\"" CODE "\">x</b>\n", 20,
     "an encoded block"},
    {"XB19 in names of attributes", "Content-Type: text/html\n\n", "<b " CODE ">x</b>\n", 20,
     "an encoded block"},
    {"many files", "\n", "begin 644 a\n#86)C\nend\n", 2500, "too many parts"},
    {"many ids", "References:", " <a@b>", 10, NULL},
    {"a page of text", "\n",
     "Thursday works for us, and so does any other day of that week.\n", 100, NULL},
    {"a signature", "\n", "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlqa2xtbm9wcXJzdHV2\n",
     12, NULL},
};

static void
test_cap(gconstpointer data)
{
    gsize i = GPOINTER_TO_SIZE(data);
    g_autoptr(GString) text = g_string_new(caps[i].start);

    for (guint n = 0; n < caps[i].times; n++)
        g_string_append(text, caps[i].piece);
    g_string_append(text, "\n\nend\n");
    g_autoptr(Extract) extract = read_message(text->str);
    if (caps[i].opaque != NULL)
        g_assert_true(g_strv_contains((const char *const *)extract->opaque, caps[i].opaque));
    else
        g_assert_cmpstr(extract->opaque[0], ==, NULL);
    g_assert_cmpstr(extract->from[0], ==, "owner@example.com");
    g_assert_cmpuint(strlen(extract->text), <=, EXTRACT_TEXT_LIMIT);
    g_assert_cmpuint(strlen(extract->html), <=, EXTRACT_TEXT_LIMIT);
    g_assert_cmpuint(extract->parts->len, <=, EXTRACT_PART_LIMIT);
}

/* XF7: an encoding hides nothing from the caps. */
static void
test_cap_in_encoding(void)
{
    g_autoptr(GString) inner =
        g_string_new("Content-Type: multipart/mixed; boundary=cc\r\n\r\n");
    for (guint i = 0; i < 3000; i++)
        g_string_append(inner, "--cc\r\n\r\nx\r\n");
    g_autofree char *encoded = g_base64_encode((const guchar *)inner->str, inner->len);
    g_autofree char *rest = g_strconcat("Content-Type: message/rfc822\n"
                                        "Content-Transfer-Encoding: base64\n\n",
                                        encoded, "\n", NULL);
    g_autoptr(Extract) extract = read_message(rest);

    g_assert_true(g_strv_contains((const char *const *)extract->opaque, "too many parts"));
    g_assert_cmpuint(extract->parts->len, ==, 1);
    g_assert_false(extract->malformed);
}

/* XB22: those an invitation names are shown and count as mentioned. */
static void
test_invitation(void)
{
    g_autoptr(Extract) extract =
        read_message("Content-Type: text/calendar; "
                     "method=REQUEST\n\nATTENDEE:mailto:mallory@example.net\n");

    g_assert_cmpuint(extract->parts->len, ==, 1);
    g_assert_cmpstr(extract->mentioned[0], ==, "mallory@example.net");
}

/* XD12: readers take a file's name from different places, and its end tells what it is. */
static void
test_names(void)
{
    static const struct {
        const char *fields;
        const char *name;
    } files[] = {
        {"Content-Disposition: attachment; filename=a.pdf; filename*=utf-8''b.exe\n",
         "a.pdf (also named b.exe)"},
        {"Content-Type: image/png; name=\"b.exe\"\nContent-Disposition: inline; "
         "FileName=a.pdf\n",
         "a.pdf (also named b.exe)"},
        {"Content-Type: image/png; name=a.pdf\nContent-Disposition: inline; filename=a.pdf\n",
         "a.pdf"},
        {"Content-Type: a/b\n", ""},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(files); i++) {
        g_autofree char *message = g_strconcat(files[i].fields, "\nx\n", NULL);
        g_autoptr(Extract) extract = read_message(message);
        const ExtractPart *part = g_ptr_array_index(extract->parts, 0);
        g_assert_cmpstr(part->name, ==, files[i].name);
    }

    g_autofree char *long_name = g_strnfill(300, 'n');
    g_autofree char *message = g_strconcat("Content-Disposition: attachment; filename=\"",
                                           long_name, ".exe\"\n\nx\n", NULL);
    g_autoptr(Extract) extract = read_message(message);
    const ExtractPart *part = g_ptr_array_index(extract->parts, 0);
    g_assert_nonnull(strstr(part->name, "nn… (304 characters) …nn"));
    g_assert_true(g_str_has_suffix(part->name, "n.exe"));
}

/* XD8: the name in From is what recipients see of the sender. */
static void
test_from_field(void)
{
    g_autoptr(Extract) extract =
        read_header("From: =?utf-8?q?The_B=C3=A4nk?=\n <owner@example.com>");

    g_assert_cmpstr(extract->from_field, ==, "The Bänk <owner@example.com>");
}

/* XD12, B12, and addresses in both texts. */
static void
test_content(void)
{
    g_autoptr(Extract) extract = read_message(
        "Content-Type: multipart/mixed; boundary=bb\n\n"
        "--bb\nContent-Type: text/plain\n\nAsk sam@example.org.\n"
        "--bb\nContent-Type: text/html\n\n<a href=\"mailto:lee%40example.net\">Lee</a>"
        "<i style=\"font-size:0\">Account 88-1042</i>\n"
        "--bb\nContent-Type: Application/PDF\n"
        "Content-Disposition: attachment; filename*=utf-8''in%E2%80%AEvoice.pdf\n"
        "Content-Transfer-Encoding: base64\n\nYWJj\n--bb--\n");
    const ExtractPart *part = g_ptr_array_index(extract->parts, 0);
    g_autofree char *mentioned = g_strjoinv(" ", extract->mentioned);

    g_assert_cmpstr(part->name, ==, "in\u202Evoice.pdf");
    g_assert_cmpstr(part->type, ==, "application/pdf");
    g_assert_cmpuint(part->size, ==, 3);
    g_assert_cmpstr(part->sha256, ==,
                    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    g_assert_cmpstr(extract->text, ==, "Ask sam@example.org.");
    g_assert_nonnull(strstr(extract->html, "Account 88-1042"));
    g_assert_cmpstr(mentioned, ==, "sam@example.org lee@example.net");
}

/* Changes a few places: a byte, a piece cut out or doubled, or something put in. */
static void
mutate(GRand *rand, GString *bytes)
{
    static const char *const pieces[] = {"\r\n--bb\r\n",
                                         "Content-Type: message/rfc822\r\n\r\n",
                                         "\r\nbegin 644 x\r\n",
                                         "<!--",
                                         "=?utf-8?q?=00?=",
                                         "\r\n\r\n",
                                         "Content-Type: multipart/digest; boundary=bb\r\n\r\n",
                                         "\"",
                                         "boundary*0*=utf-7''x;",
                                         "\xff\xfe",
                                         "&#x0;",
                                         "<a href=",
                                         "Resent-To: a\r\n"};

    for (gint n = g_rand_int_range(rand, 1, 8); n > 0 && bytes->len > 0; n--) {
        gsize at = (gsize)g_rand_int_range(rand, 0, (gint)bytes->len);
        gsize length = (gsize)g_rand_int_range(rand, 1, 64);
        length = MIN(length, bytes->len - at);
        g_autofree char *piece = g_strndup(bytes->str + at, length);
        switch (g_rand_int_range(rand, 0, 4)) {
        case 0:
            bytes->str[at] = (char)g_rand_int_range(rand, 0, 256);
            break;
        case 1:
            g_string_erase(bytes, (gssize)at, (gssize)length);
            break;
        case 2:
            g_string_insert(bytes, (gssize)at, piece);
            break;
        default:
            g_string_insert(bytes, (gssize)at,
                            pieces[g_rand_int_range(rand, 0, G_N_ELEMENTS(pieces))]);
        }
    }
}

static GPtrArray *
load_corpus(void)
{
    g_autofree char *folder = g_test_build_filename(G_TEST_DIST, "cases", NULL);
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    GPtrArray *corpus = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);

    g_assert_nonnull(dir);
    for (const char *name = g_dir_read_name(dir); name != NULL; name = g_dir_read_name(dir)) {
        g_autofree char *path = g_build_filename(folder, name, NULL);
        char *bytes = NULL;
        gsize length = 0;
        if (g_str_has_suffix(name, ".eml") && g_file_get_contents(path, &bytes, &length, NULL))
            g_ptr_array_add(corpus, g_bytes_new_take(bytes, length));
    }
    g_assert_cmpuint(corpus->len, >, 50);
    return corpus;
}

/* XF2: no message crashes the reader, and every extract can be sent on. */
static void
test_mutations(void)
{
    g_autoptr(GPtrArray) corpus = load_corpus();
    GRand *rand = g_rand_new_with_seed(20261129);
    gint64 end = g_get_monotonic_time() + MUTATION_USECS;

    for (guint i = 0; i < MUTATIONS && g_get_monotonic_time() < end; i++) {
        gsize length = 0;
        const char *data =
            g_bytes_get_data(g_ptr_array_index(corpus, i % corpus->len), &length);
        g_autoptr(GString) bytes = g_string_new_len(data, (gssize)length);
        mutate(rand, bytes);
        g_autoptr(Extract) extract = read_bytes(bytes->str, bytes->len);
        g_autoptr(GVariant) variant = g_variant_ref_sink(extract_to_variant(extract));
        g_autoptr(GError) error = NULL;
        g_autoptr(Extract) copy = extract_from_variant(variant, &error);
        g_assert_no_error(error);
        g_assert_nonnull(copy);
    }
    g_rand_free(rand);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    mail_start();
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *path = g_strconcat("/mail/field/", rows[i].name, NULL);
        g_test_add_data_func(path, GSIZE_TO_POINTER(i), test_row);
    }
    for (gsize i = 0; i < G_N_ELEMENTS(caps); i++) {
        g_autofree char *path = g_strconcat("/mail/cap/", caps[i].name, NULL);
        g_test_add_data_func(path, GSIZE_TO_POINTER(i), test_cap);
    }
    g_test_add_func("/mail/subject and id H4 B15", test_subject_and_id);
    g_test_add_func("/mail/automatic", test_automatic);
    g_test_add_func("/mail/malformed XA14", test_malformed);
    g_test_add_func("/mail/cap in an encoding XF7", test_cap_in_encoding);
    g_test_add_func("/mail/invitation XB22", test_invitation);
    g_test_add_func("/mail/content XD12 B12", test_content);
    g_test_add_func("/mail/names of a file XD12", test_names);
    g_test_add_func("/mail/name in From XD8", test_from_field);
    g_test_add_func("/mail/mutations XF2", test_mutations);
    return g_test_run();
}
