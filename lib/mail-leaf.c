#include "lib/mail-content.h"

#include <string.h>

#define COMMENT_BEGINS " \t(" /* after the name of a character set (RFC 2978, 2.3) */
#define TNEF           "a TNEF container"

/* What one of the part's own names ends in, lower case: ".eml". */
static gboolean
has_suffix(GMimePart *part, const char *const *suffixes)
{
    g_auto(GStrv) names = mail_part_names(GMIME_OBJECT(part));

    for (guint i = 0; names[i] != NULL; i++) {
        g_autofree char *lower = g_ascii_strdown(names[i], -1);
        for (const char *const *suffix = suffixes; *suffix != NULL; suffix++)
            if (g_str_has_suffix(lower, *suffix))
                return TRUE;
    }
    return FALSE;
}

/* Marks types whose content no reviewer can be shown. */
static void
mark_type(MailReading *reading, GMimePart *part, const char *type)
{
    static const char *const sealed[] = {"application/pkcs7-mime", "application/x-pkcs7-mime",
                                         "application/pgp-encrypted", "application/pgp", NULL};
    static const char *const tnef[] = {"application/ms-tnef", "application/vnd.ms-tnef", NULL};
    static const char *const elsewhere[] = {"message/partial", "message/external-body", NULL};
    static const char *const containers[] = {"winmail.dat", "win.dat", NULL};

    if (g_strv_contains(sealed, type))
        mail_mark(reading, "encrypted");
    if (g_strv_contains(tnef, type) || has_suffix(part, containers))
        mail_mark(reading, TNEF);
    if (g_strv_contains(elsewhere, type))
        mail_mark(reading, "content that is elsewhere");
    if (g_str_has_prefix(type, "multipart/"))
        mail_mark(reading, "a broken structure");
}

void
mail_leaf_glance(MailReading *reading, GMimePart *part, const MailContent *content)
{
    static const char *const files[] = {".pgp", ".gpg", ".age", NULL};
    static const guint8 tnef[] = {0x78, 0x9f, 0x3e, 0x22}; /* [MS-OXTNEF], 2.1.3.1 */
    const guint8 *bytes = content->kept->data;
    gsize length = content->kept->len;

    if (has_suffix(part, files) || content->sealed || mail_sealed_starts(bytes, length))
        mail_mark(reading, "encrypted");
    if (length >= sizeof tnef && memcmp(bytes, tnef, sizeof tnef) == 0)
        mail_mark(reading, TNEF);
}

/* TRUE when the part is another message, or the head of one. Reports and fragments are none;
 * every other type of that kind is, also one that nobody knows yet. */
static gboolean
is_message(GMimePart *part, const char *type)
{
    static const char *const types[] = {"text/rfc822-headers", "text/rfc822",
                                        "application/vnd.ms-outlook", "application/mbox",
                                        NULL};
    static const char *const others[] = {"message/delivery-status",
                                         "message/global-delivery-status",
                                         "message/disposition-notification",
                                         "message/global-disposition-notification",
                                         "message/feedback-report",
                                         "message/partial",
                                         "message/external-body",
                                         NULL};
    static const char *const files[] = {".eml", ".emlx",  ".msg", ".mbox",
                                        ".mht", ".mhtml", NULL};

    if (g_str_has_prefix(type, "message/"))
        return !g_strv_contains(others, type);
    return g_strv_contains(types, type) || has_suffix(part, files);
}

static gboolean
is_calendar(GMimePart *part, const char *type)
{
    static const char *const types[] = {"text/calendar", "text/x-vcalendar", "application/ics",
                                        NULL};
    static const char *const files[] = {".ics", ".vcs", NULL};

    return g_strv_contains(types, type) || has_suffix(part, files);
}

static gboolean
is_card(GMimePart *part, const char *type)
{
    static const char *const types[] = {"text/vcard", "text/x-vcard", "text/directory", NULL};
    static const char *const files[] = {".vcf", ".vcard", NULL};

    return g_strv_contains(types, type) || has_suffix(part, files);
}

/* Texts that no rule shows or counts as a body, but that some reader shows in place: what they
 * say is said (RFC 2046, 4.1.4 for those that are text to everyone). */
static MailReader
rich_reader(GMimeObject *object, const char *type)
{
    static const char *const enriched[] = {"text/enriched", "text/richtext", NULL};
    static const char *const rtf[] = {"text/rtf", "application/rtf", "text/x-rtf",
                                      "application/x-rtf", NULL};

    if (g_strv_contains(enriched, type))
        return mail_render_enriched;
    if (g_strv_contains(rtf, type))
        return mail_render_rtf;
    if (strstr(type, "html") != NULL)
        return mail_render_html;
    if (!mail_part_type_is_clear(object)) /* plain text to some (RFC 2045, 5.2) */
        return g_strdup;
    return g_str_has_prefix(type, "text/") ? g_strdup : NULL;
}

/* Shown in place, whatever the type. An unknown disposition is "attachment" (RFC 2183, 2.8).
 */
static gboolean
is_inline(GMimeObject *object)
{
    g_autofree char *disposition = mail_part_header(object, "Content-Disposition");

    return disposition == NULL || disposition[0] == 0 || disposition[0] == ';' ||
           (g_str_has_prefix(disposition, "inline") &&
            strchr("; \t\r\n(", disposition[6]) != NULL);
}

MailLeaf
mail_leaf_look(MailReading *reading, GMimePart *part, const char *type)
{
    static const char *const plain[] = {
        "", "7bit", "8bit", "binary", "base64", "quoted-printable", NULL};
    static const char *const uu[] = {"uuencode", "x-uuencode", "x-uue", "uue", NULL};
    GMimeObject *object = GMIME_OBJECT(part);
    g_autofree char *encoding = mail_part_encoding(object);
    gboolean text = strcmp(type, "text/plain") == 0 || strcmp(type, "text/html") == 0;
    gboolean inline_ = is_inline(object);
    MailLeaf leaf = {.type = type};

    if (!g_strv_contains(plain, encoding) && !g_strv_contains(uu, encoding))
        mail_mark(reading, "an unknown transfer encoding");
    mark_type(reading, part, type);
    leaf.calendar = is_calendar(part, type);
    leaf.message = is_message(part, type);
    leaf.nested = leaf.message && g_str_has_prefix(type, "message/");
    leaf.report = mail_is_report(type);
    leaf.shown = inline_ && text;
    leaf.card = is_card(part, type);
    leaf.reader = inline_ && !text && !leaf.calendar && !leaf.card && !leaf.report
                      ? rich_reader(object, type)
                      : NULL;
    leaf.body = leaf.shown && !mail_part_is_named(object, "Content-Disposition") &&
                !mail_part_is_named(object, "Content-Type") && !g_strv_contains(uu, encoding);
    return leaf;
}

/* The files that a page carries in its links (RFC 2397) are attachments like others. */
static void
count_data_links(MailReading *reading, const char *html)
{
    static const char pattern[] =
        "\\bdata:([a-z0-9.+-]+/[a-z0-9.+-]+)?[^,<>\\s]{0,200},([^<>\\s]*)";
    g_autoptr(GRegex) regex = g_regex_new(pattern, G_REGEX_CASELESS | G_REGEX_RAW, 0, NULL);
    g_autoptr(GMatchInfo) match = NULL;

    g_regex_match(regex, html, 0, &match);
    for (guint n = 0; n <= EXTRACT_PART_LIMIT && g_match_info_matches(match); n++) {
        g_autofree char *type = g_match_info_fetch(match, 1);
        g_autofree char *data = g_match_info_fetch(match, 2);
        g_autofree char *sum = g_compute_checksum_for_string(G_CHECKSUM_SHA256, data, -1);
        mail_add_part(reading, "", *type != 0 ? type : "text/plain", strlen(data), sum);
        g_match_info_next(match, NULL);
    }
}

static void
read_html(MailReading *reading, const char *html, gboolean counted)
{
    g_autofree char *rendered = mail_render_html(html);
    g_autofree char *page = mail_render_page(html);
    g_autofree char *lines = mail_render_lines(html);

    if (g_regex_match_simple("charset\\s*=[\\s\"']*utf-?7", html,
                             G_REGEX_CASELESS | G_REGEX_RAW, 0))
        mail_mark(reading, "a character set that readers take for another");
    mail_read_text(reading, rendered, counted);
    if (counted)
        count_data_links(reading, rendered);
    mail_append(reading, reading->html, rendered);
    mail_read_text(reading, page, FALSE);
    if (lines != NULL)
        mail_find_quotes(lines, &reading->extract->forward, &reading->extract->quoted);
    mail_append(reading, reading->page, page);
}

/* What readers that put broken lines together again show (RFC 3676). */
static void
read_joined(MailReading *reading, GMimeObject *object, const char *text)
{
    const char *delsp = g_mime_object_get_content_type_parameter(object, "delsp");
    gboolean drop = delsp != NULL && g_ascii_strcasecmp(delsp, "yes") == 0;
    g_autofree char *joined = mail_join_lines(text, drop);

    if (joined == NULL)
        return;
    mail_find_quotes(joined, &reading->extract->forward, &reading->extract->quoted);
    mail_search(reading, joined);
}

/* The name by which iconv knows the character set of a text; NULL when none is given. gmime
 * knows most aliases, but not these of Japanese, Chinese and Korean programs, and takes a
 * comment for a part of it, as in "us-ascii (Plain text)" (RFC 2045, 5.1). */
static const char *
charset_of(GMimeObject *object)
{
    static const struct {
        const char *alias;
        const char *name;
    } rows[] = {{"x-sjis", "SJIS"},          {"windows-31j", "CP932"}, {"x-ms-cp932", "CP932"},
                {"euc_jp", "EUC-JP"},        {"x-euc-jp", "EUC-JP"},   {"x-gbk", "GBK"},
                {"x-euc-kr", "EUC-KR"},      {"ms949", "CP949"},       {"ks_c_5601", "CP949"},
                {"x-mac-roman", "MACINTOSH"}};
    const char *charset = g_mime_object_get_content_type_parameter(object, "charset");

    if (charset == NULL)
        return NULL;
    g_autofree char *name = g_strndup(charset, strcspn(charset, COMMENT_BEGINS));
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++)
        if (g_ascii_strcasecmp(name, rows[i].alias) == 0)
            return rows[i].name;
    return g_mime_charset_iconv_name(name);
}

void
mail_leaf_search(MailReading *reading, GMimeObject *object, const MailLeaf *leaf,
                 const MailContent *content)
{
    const char *known = charset_of(object);
    g_autofree char *text =
        mail_decode((const char *)content->kept->data, content->kept->len, known);

    if (leaf->card) {
        mail_read_card(reading, text);
        return;
    }
    g_autofree char *rendered = leaf->reader(text);
    mail_find_quotes(rendered, &reading->extract->forward, &reading->extract->quoted);
    mail_search(reading, rendered);
    if (leaf->reader == mail_render_html) {
        g_autofree char *page = mail_render_page(text);
        mail_search(reading, page);
    }
}

/* TRUE when a reader that knows no character set, because of the comment behind it, makes the
 * same text of the bytes. */
static gboolean
is_said_by_bytes(const MailContent *content, const char *text)
{
    const char *bytes = (const char *)content->kept->data;
    gsize length = content->kept->len;
    g_autofree char *plain = mail_decode(bytes, length, NULL);

    return length == 0 || (mail_is_ascii(bytes, length) && strcmp(plain, text) == 0);
}

char *
mail_leaf_read(MailReading *reading, GMimeObject *object, const MailLeaf *leaf,
               const MailContent *content, gboolean counted)
{
    const char *bytes = (const char *)content->kept->data;
    const char *charset = g_mime_object_get_content_type_parameter(object, "charset");
    const char *known = charset_of(object);
    g_autofree char *text = mail_decode(bytes, content->kept->len, known);
    g_autofree char *lower = g_ascii_strdown(charset != NULL ? charset : "", -1);

    if (content->size > content->kept->len)
        mail_mark(reading, EXTRACT_TEXT_CUT);
    if (strstr(lower, "utf-7") != NULL || !mail_is_certain(bytes, content->kept->len, known) ||
        (strpbrk(lower, COMMENT_BEGINS) != NULL && !is_said_by_bytes(content, text)))
        mail_mark(reading, "a character set that readers take for another");
    if (leaf->calendar)
        mail_read_calendar(reading, text);
    if (strcmp(leaf->type, "text/html") == 0) {
        read_html(reading, text, counted);
        return g_steal_pointer(&text);
    }
    mail_read_text(reading, text, counted);
    read_joined(reading, object, text);
    if (!leaf->calendar)
        mail_append(reading, reading->text, text);
    return g_steal_pointer(&text);
}
