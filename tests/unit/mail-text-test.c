/* mail-text-test - forwards, quotes and HTML in the words of many mail programs */
#include "lib/mail-private.h"

#include <string.h>
#include <time.h>

static const struct {
    const char *subject;
    gboolean forward;
} subjects[] = {
    {"Fwd: Budget", TRUE},
    {"FW: Budget", TRUE},
    {"fwd : Budget", TRUE},
    {"Re: Fwd: Budget", TRUE},
    {"AW: WG: Angebot", TRUE},
    {"[dev] Re: Fwd: Budget", TRUE},
    {"[Fwd: Budget]", TRUE},
    {"Budget (fwd)", TRUE},
    {"Re[2]: FW: Budget", TRUE},
    {"TR : Devis", TRUE},
    {"RV: Presupuesto", TRUE},
    {"ENC: Orçamento", TRUE},
    {"I: Preventivo", TRUE},
    {"Doorst: Begroting", TRUE},
    {"VB: Budget", TRUE},
    {"VS: Budsjett", TRUE},
    {"VL: Budjetti", TRUE},
    {"PD: Budżet", TRUE},
    {"Továbbítás: Ajánlat", TRUE},
    {"Пересл: Смета", TRUE},
    {"İLT: Bütçe", TRUE},
    {"ΠΡΘ: Προσφορά", TRUE},
    {"转发: 预算", TRUE},
    {"轉寄：預算", TRUE},
    {"転送: 予算", TRUE},
    {"전달: 예산", TRUE},
    {"F\u200bwd: hidden", TRUE},
    {"ＦＷＤ：wide", TRUE},
    {"Re: Budget", FALSE},
    {"AW: Angebot", FALSE},
    {"Forward planning", FALSE},
    {"Weekly report: FW update", FALSE},
    {"Re: I: think", TRUE},
    {"Information: Budget", FALSE},
    {"", FALSE},
    {":", FALSE},
    {"[", FALSE},
};

static void
test_subjects(void)
{
    for (gsize i = 0; i < G_N_ELEMENTS(subjects); i++) {
        g_test_message("%s", subjects[i].subject);
        g_assert_cmpint(mail_subject_forwards(subjects[i].subject), ==, subjects[i].forward);
    }
}

#define NONE    0
#define FORWARD 1
#define QUOTED  2

static const struct {
    const char *name;
    const char *text;
    guint found;
} texts[] = {
    {"plain", "Thursday works for us.\n\nOlivia\n", NONE},
    {"B6 Gmail", "---------- Forwarded message ---------\n", FORWARD},
    {"Gmail, French", "---------- Message transféré ---------\n", FORWARD},
    {"Gmail, without accents", "---------- Message transfere ---------\n", FORWARD},
    {"Thunderbird", "-------- Forwarded Message --------\n", FORWARD},
    {"Thunderbird, German", "-------- Weitergeleitete Nachricht --------\n", FORWARD},
    {"Gmail, Czech", "---------- Přeposlaná zpráva ----------\n", FORWARD},
    {"Thunderbird, Polish", "-------- Treść przekazanej wiadomości --------\n", FORWARD},
    {"Thunderbird, Japanese", "-------- 転送メッセージ --------\n", FORWARD},
    {"Apple Mail", "Begin forwarded message:\n", FORWARD},
    {"Apple Mail, German", "Anfang der weitergeleiteten Nachricht:\n", FORWARD},
    {"Apple Mail, quoted", "> Begin forwarded message:\n", FORWARD},
    {"Apple Mail, Chinese", "下面是被转发的邮件：\n", FORWARD},
    {"Notes", "----- Forwarded by Lee/ACME on 12.11.2026 17:20 -----\n", FORWARD},
    {"mutt", "----- Forwarded message from Lee <lee@example.net> -----\n", FORWARD},
    {"mail.ru", "-------- Пересылаемое сообщение --------\n", FORWARD},
    {"Turkish", "---------- İletilen İleti ---------\n", FORWARD},
    {"Arabic", "---------- رسالة محولة ---------\n", FORWARD},
    {"Korean", "---------- 전달된 메시지 ----------\n", FORWARD},
    {"bold", "**Forwarded message**\n", FORWARD},
    {"long dashes", "———— Forwarded message ————\n", FORWARD},
    {"hidden letters", "--- For\u200bwar\u00added mes\u2060sage ---\n", FORWARD},
    {"wide letters", "--- Ｆｏｒｗａｒｄｅｄ ｍｅｓｓａｇｅ ---\n", FORWARD},
    {"a sentence", "I got the forwarded message you sent.\n", NONE},
    {"a list", "- forwarded message counters\n", NONE},
    {"Outlook marker", "-----Original Message-----\n", QUOTED},
    {"QQ marker", "------------------ 原始邮件 ------------------\n", QUOTED},
    {"B7 Outlook",
     "From: Nora <nora@example.org>\nSent: Friday\nTo: Olivia\nSubject: Delivery\n", QUOTED},
    {"Outlook, German", "Von: Nora\nGesendet: Freitag\nAn: Olivia\nBetreff: Termin\n", QUOTED},
    {"Outlook, French", "De : Nora\nEnvoyé : vendredi\nÀ : Olivia\nObjet : Livraison\n",
     QUOTED},
    {"Outlook, Spanish", "De: Nora\nEnviado el: viernes\nPara: Olivia\nAsunto: Entrega\n",
     QUOTED},
    {"Outlook, Chinese", "发件人: Nora\n发送时间: 2026\n收件人: Olivia\n主题: 交货\n", QUOTED},
    {"Outlook, Japanese", "差出人: Nora\n送信日時: 2026\n宛先: Olivia\n件名: 納期\n", QUOTED},
    {"Outlook, Russian", "От: Nora\nОтправлено: пятница\nКому: Olivia\nТема: Срок\n", QUOTED},
    {"Outlook, bold", "*From:* Nora\n*Sent:* Friday\n*To:* Olivia\n", QUOTED},
    {"folded list",
     "From: Nora\nTo: a@example.com,\n b@example.com,\n c@example.com\nSubject: x\n", QUOTED},
    {"two lines are a form", "From: Berlin\nTo: Paris\n\nA nice trip.\n", NONE},
    {"far apart", "From: here\n1\n2\n3\n4\nTo: there\n1\n2\n3\n4\nSubject: x\n", NONE},
    {"On wrote", "On Fri, 13 Nov 2026 at 08:00, Nora <nora@example.org> wrote:\n> Thursday?\n",
     QUOTED},
    {"On wrote, folded",
     "On Fri, 13 Nov 2026 at 08:00, Nora <nora@example.org>\nwrote:\n\n> x\n", QUOTED},
    {"schrieb", "Am 13.11.2026 um 08:00 schrieb Nora:\n> Donnerstag?\n", QUOTED},
    {"a écrit", "Le ven. 13 nov. 2026 à 08:00, Nora a écrit :\n> jeudi ?\n", QUOTED},
    {"Russian, no verb", "пт, 13 нояб. 2026 г. в 08:00, Nora <nora@example.org>:\n> x\n",
     QUOTED},
    {"Chinese", "Nora 于2026年11月13日周五 08:00写道：\n> x\n", QUOTED},
    {"Japanese", "2026年11月13日(金) 8:00 Nora <nora@example.org>:\n> x\n", QUOTED},
    {"Hebrew, with signs of direction",
     "\u202bבתאריך יום ו׳, 13 בנוב׳ 2026 ב-8:00 מאת Nora "
     "<\u202anora@example.org\u202c>:\u202c\n\n"
     "> ביום חמישי?\n",
     QUOTED},
    {"Italian, folded",
     "Il giorno ven 13 nov 2026 alle ore 08:00 Nora Rossi <nora@example.org> ha\nscritto:\n\n"
     "> x\n",
     QUOTED},
    {"Arabic digits", "في ١٣ نوفمبر ٢٠٢٦، كتب نورا:\n> x\n", QUOTED},
    {"a space that does not break", "Am 13.11.2026 um 08:00, Nora:\u00a0\n> x\n", QUOTED},
    {"marker removed", "> Can you do Thursday?\n> We need it.\n>\n> Nora\n", QUOTED},
    {"one quoted line", "Try this\n> make all\n", NONE},
};

static void
test_text(gconstpointer data)
{
    gsize i = GPOINTER_TO_SIZE(data);
    gboolean forward = FALSE, quoted = FALSE;

    mail_find_quotes(texts[i].text, &forward, &quoted);
    g_assert_cmpint(forward, ==, texts[i].found == FORWARD);
    g_assert_cmpint(quoted, ==, texts[i].found == QUOTED);
}

static const struct {
    const char *name;
    const char *html;
    const char *text;
} pages[] = {
    {"paragraphs", "<p>One</p><p>Two<br>Three</p>", "One\n\nTwo\nThree\n"},
    {"spaces", "<div> a\n  b\t c </div>d", "a b c\nd"},
    {"pre", "<pre>a  b\n  c</pre>", "a  b\n  c\n"},
    {"entities", "&lt;b&gt; &amp; &#64;&#x40;&commat; &uuml; &nbsp;&bogus; &", NULL},
    {"link", "<a href=\"https://evil.example/?a=1&amp;b\">bank</a>.",
     "bank <https://evil.example/?a=1&b> ."},
    {"link never closed", "<a href=x>one <a href=y>two", "one <x> two <y>"},
    {"image", "<img alt='Pay now' src=cid:1>", "[Pay now] <cid:1>"},
    {"address in a field", "<b data-to='nora&#64;example.org'>x</b>", "[nora@example.org] x"},
    {"address for a tag", "<nora@example.org>", "[nora@example.org]"},
    {"no address in a field", "<b class='a @ b.c' id=@b.c>x</b>", "x"},
    {"XD2 style", "<span style=\"display:none\">Account 88-1042</span>", "Account 88-1042"},
    {"XD2 comment", "a<!-- secret -->b", "a secret b"},
    {"XD2 comment with a tag", "<!-- <b>secret</b> -->", "secret"},
    {"XD2 declaration", "<!x secret>", "x secret>"},
    {"XD2 style sheet", "<style>p:after{content:'secret'}</style>",
     "p:after{content:'secret'}\n"},
    {"XD2 title", "<p title=\"secret\">a</p>", "[secret] a\n"},
    {"XD2 page in a frame", "<iframe srcdoc=\"Pay &amp;lt;b>now\"></iframe>",
     "[Pay &lt;b>now]"},
    {"doctype", "<!DOCTYPE html><p>a", "a"},
    {"no tag", "1 < 2 and <3 > 4", "1 < 2 and <3 > 4"},
    {"tag never closed", "a <b c", "a <b c"},
    {"quote never closed", "<a title=\"x>shown</a> <b>bold</b>", NULL},
    {"greater in a quote", "<p title=\"a>b\">c", "[a>b] c"},
    {"quoted message", "On 13 Nov, Nora wrote:<blockquote>Thursday?<br>x</blockquote>y",
     "On 13 Nov, Nora wrote:\n> Thursday?\n> x\ny"},
    {"table", "<tr><th>From:</th><td>Nora</td></tr><tr><td>To:</td><td>Olivia</td></tr>",
     "From: Nora\nTo: Olivia\n"},
};

static void
test_page(gconstpointer data)
{
    gsize i = GPOINTER_TO_SIZE(data);
    g_autofree char *text = mail_render_html(pages[i].html);

    g_assert_true(g_utf8_validate(text, -1, NULL));
    if (pages[i].text != NULL)
        g_assert_cmpstr(text, ==, pages[i].text);
}

/* XB21: where a browser begins a line, or a cell, the text does. */
static void
test_page_lines(void)
{
    static const struct {
        const char *html;
        const char *text;
    } rows[] = {
        {"<table><tr><td>a<td>b</tr><tr><td><p>c</p></td><td>d</td></tr></table>",
         "a\tb\n\nc\nd\n"},
        {"<span style=\"display: block\">a <b>b</b></span>c", "a b\nc"},
        {"a<a style='display:flex'>b <img src=x>c</a>d", "a\nb c\nd"},
        {"<span style=\"display:inline-block\">a</span>b", "ab"},
        {"<details><summary>a</summary>b</details>", "a\nb\n"},
        {"<noscript>a</noscript>b<menu>c</menu>d", "a\nb\nc\nd"},
        {"a&#x2028;b\u2029c", "a\nb\nc"},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *text = mail_render_page(rows[i].html);
        g_assert_cmpstr(text, ==, rows[i].text);
    }
}

/* XB21, XB28: what nobody sees does not come between the letters of a marker or an address. */
static void
test_page_as_seen(void)
{
    static const struct {
        const char *html;
        const char *text;
    } rows[] = {
        {"For<!-- x -->ward<!-->ed<!--->", "Forwarded"},
        {"For<!x>ward<?x>ed</ x>", "Forwarded"},
        {"For<b title=x>ward</b>ed<img alt=x>", "Forwarded"},
        {"nora<a href=\"mailto:x@example.net\">@example.org</a>", "nora@example.org"},
        {"For<style>x</style>warded", "Forwarded"},
        {"a<script>b", "ab"},
        {"a<!-- b", "a"},
        {"<p>a</p><!DOCTYPE html>b", "a\nb"},
        {"Forw<span style=\"display: none\">x<span>y</span></span>arded", "Forwarded"},
        {"Forw<i hidden>x</i>ard<b style='font-size:0px'>x</b>ed", "Forwarded"},
        {"<p style=\"font-size:0.9em\">a</p><img hidden>b", "a\nb"},
        {"a<i hidden>b", "ab"},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *text = mail_render_page(rows[i].html);
        g_assert_cmpstr(text, ==, rows[i].text);
    }
}

/* A page written to make the reader slow takes no longer than its length explains: of the
 * processor, whatever else the machine does. */
static void
test_hostile_pages(void)
{
    static const char *const pieces[] = {"<a ",
                                         "<a b=\"",
                                         "<",
                                         "<!--",
                                         "&",
                                         "&#",
                                         "<blockquote>",
                                         "</a>",
                                         "<a href=x>",
                                         "\"'",
                                         "<style>",
                                         "</ ",
                                         "<b hidden>",
                                         "<b hidden></b>",
                                         "<b hidden><b ",
                                         "<b style=display:"};

    for (gsize i = 0; i < G_N_ELEMENTS(pieces); i++) {
        g_autoptr(GString) page = g_string_new(NULL);
        while (page->len < 256 * 1024)
            g_string_append(page, pieces[i]);
        clock_t start = clock();
        g_autofree char *text = mail_render_html(page->str);
        g_autofree char *seen = mail_render_page(page->str);
        g_assert_cmpint(clock() - start, <, 5 * CLOCKS_PER_SEC);
        g_assert_true(g_utf8_validate(text, -1, NULL));
        g_assert_true(g_utf8_validate(seen, -1, NULL));
    }
}

static const struct {
    const char *name;
    const char *bytes;
    const char *charset;
    const char *text;
} charsets[] = {
    {"UTF-8", "gr\xc3\xbc\xc3\x9f", "utf-8", "grüß"},
    {"Latin-1", "gr\xfc\xdf", "iso-8859-1", "grüß"},
    {"no charset, UTF-8", "gr\xc3\xbc\xc3\x9f", NULL, "grüß"},
    {"no charset, windows", "\x93gr\xfc\xdf\x94", NULL, "“grüß”"},
    {"XD13 not what it says", "gr\xfc\xdf", "utf-8", "grüß"},
    {"XD13 unknown", "gr\xfc\xdf", "x-none", "grüß"},
    {"XD13 no name", "gr\xfc\xdf", "../utf-8//IGNORE", "grüß"},
    {"Japanese", "\x1b$B$3$s\x1b(B", "iso-2022-jp", "こん"},
    {"any byte", "\x81\x8d", NULL, "\xc2\x81\xc2\x8d"},
    {"line ends", "a\r\nb\rc\n", NULL, "a\nb\nc\n"},
};

static void
test_charsets(void)
{
    for (gsize i = 0; i < G_N_ELEMENTS(charsets); i++) {
        g_autofree char *text =
            mail_decode(charsets[i].bytes, strlen(charsets[i].bytes), charsets[i].charset);
        g_test_message("%s", charsets[i].name);
        g_assert_cmpstr(text, ==, charsets[i].text);
    }
    g_autofree char *text = mail_decode("a\0b", 3, NULL);
    g_assert_cmpstr(text, ==, "a\uFFFDb");
    g_autofree char *wide = mail_decode("\0a\0\0\0b", 6, "utf-16be");
    g_assert_cmpstr(wide, ==, "a\uFFFDb");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/mail/subjects", test_subjects);
    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
        g_autofree char *path = g_strconcat("/mail/text/", texts[i].name, NULL);
        g_test_add_data_func(path, GSIZE_TO_POINTER(i), test_text);
    }
    for (gsize i = 0; i < G_N_ELEMENTS(pages); i++) {
        g_autofree char *path = g_strconcat("/mail/html/", pages[i].name, NULL);
        g_test_add_data_func(path, GSIZE_TO_POINTER(i), test_page);
    }
    g_test_add_func("/mail/html as seen", test_page_as_seen);
    g_test_add_func("/mail/page/lines XB21", test_page_lines);
    g_test_add_func("/mail/html hostile", test_hostile_pages);
    g_test_add_func("/mail/charsets XD13", test_charsets);
    return g_test_run();
}
