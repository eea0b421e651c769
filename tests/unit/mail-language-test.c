/* mail-language-test - forwards and answers as programs write them, language by language
 *
 * A forward is held, an answer is not: each language has a row for both (XB21, B6-B8, D16). */
#include "lib/mail-private.h"

typedef struct {
    const char *name;
    const char *forward;     /* a line above a forwarded message */
    const char *attribution; /* a line above quoted lines */
    const char *block;       /* the header lines Outlook copies */
    const char *ordinary;    /* a text that quotes nothing */
} Language;

static const Language languages[] = {
    {"English", "Begin forwarded message:", "On 13 Nov 2026, at 08:00, Nora wrote:",
     "From: Nora\nSent: Friday\nTo: Olivia\nSubject: Date",
     "I forwarded the original message to Sam.\nTo: be decided.\n"},
    {"German", "-------- Weitergeleitete Nachricht --------",
     "Am 13.11.2026 um 08:00 schrieb Nora:",
     "Von: Nora\nGesendet: Freitag\nAn: Olivia\nBetreff: Termin",
     "Die Nachricht habe ich weitergeleitet. Von: mir aus gern.\nDatum: Freitag\n"},
    {"French", "Début du message réexpédié :", "Le ven. 13 nov. 2026 à 08:00, Nora a écrit :",
     "De : Nora\nEnvoyé : vendredi\nÀ : Olivia\nObjet : Livraison",
     "J'ai transféré le message d'origine. À bientôt,\nOlivia\n"},
    {"Spanish", "---------- Mensaje reenviado ----------",
     "El vie, 13 nov 2026 a las 8:00, Nora escribió:",
     "De: Nora\nEnviado el: viernes\nPara: Olivia\nAsunto: Entrega",
     "He reenviado el mensaje original. Para: mañana.\n"},
    {"Portuguese", "Início da mensagem reencaminhada:",
     "Em sex., 13 de nov. de 2026 às 08:00, Nora escreveu:",
     "De: Nora\nEnviada: sexta\nPara: Olivia\nAssunto: Entrega",
     "Encaminhei a mensagem original ontem.\nData: sexta\n"},
    {"Italian",
     "Inizio messaggio inoltrato:", "Il giorno 13 nov 2026, alle ore 08:00, Nora ha scritto:",
     "Da: Nora\nInviato: venerdì\nA: Olivia\nOggetto: Consegna",
     "Ho inoltrato il messaggio originale. A: presto.\n"},
    {"Dutch", "-------- Doorgestuurd bericht --------",
     "Op 13 nov. 2026 om 08:00 schreef Nora:",
     "Van: Nora\nVerzonden: vrijdag\nAan: Olivia\nOnderwerp: Levering",
     "Het oorspronkelijk bericht heb ik doorgestuurd.\nDatum: vrijdag\n"},
    {"Swedish", "Vidarebefordrat mejl:", "Den fre 13 nov. 2026 kl 08:00 skrev Nora:",
     "Från: Nora\nSkickat: fredag\nTill: Olivia\nÄmne: Leverans",
     "Jag har vidarebefordrat ditt brev. Till: fredag.\n"},
    {"Danish", "Start på videresendt besked:", "Den 13. nov. 2026 kl. 08.00 skrev Nora:",
     "Fra: Nora\nSendt: fredag\nTil: Olivia\nEmne: Levering",
     "Jeg har videresendt din besked. Dato: fredag\n"},
    {"Norwegian", "Videresendt melding:", "13. nov. 2026 kl. 08:00 skrev Nora:",
     "Fra: Nora\nSendt: fredag\nTil: Olivia\nEmne: Levering",
     "Jeg har videresendt meldingen til Sam.\n"},
    {"Finnish", "-------- Välitetty viesti / Fwd.Msg --------",
     "pe 13. marrask. 2026 klo 8.00 Nora kirjoitti:",
     "Lähettäjä: Nora\nLähetetty: perjantai\nVastaanottaja: Olivia\nAihe: Toimitus",
     "Välitin alkuperäisen viestin Samille.\nPäivämäärä: perjantai\n"},
    {"Icelandic", "-------- Áframsendur póstur --------",
     "Þann 13.11.2026 08:00, skrifaði Nora:", NULL, "Takk fyrir póstinn.\n"},
    {"Polish", "-------- Treść przekazanej wiadomości --------",
     "pt., 13 lis 2026 o 08:00 Nora napisał(a):",
     "Od: Nora\nWysłano: piątek\nDo: Olivia\nTemat: Dostawa",
     "Przekazałam oryginalną wiadomość. Do: piątku.\n"},
    {"Czech", "Začátek přeposílané zprávy:", "Dne 13. 11. 2026 v 08:00 Nora napsal(a):",
     "Od: Nora\nOdesláno: pátek\nKomu: Olivia\nPředmět: Dodávka",
     "Původní zprávu jsem přeposlala. Datum: pátek\n"},
    {"Slovak", "-------- Preposlaná správa --- Forwarded Message --------",
     "Dňa 13. 11. 2026 o 08:00 Nora napísal(a):",
     "Od: Nora\nOdoslané: piatok\nKomu: Olivia\nPredmet: Dodávka", "Správu som preposlala.\n"},
    {"Hungarian", "Továbbított levél kezdete:", "Nora ezt írta (2026. nov. 13., 8:00):",
     "Feladó: Nora\nElküldve: péntek\nCímzett: Olivia\nTárgy: Szállítás",
     "Az eredeti üzenetet továbbítottam.\n"},
    {"Croatian", "Započni proslijeđenu poruku:", "13. 11. 2026. u 08:00, Nora je napisao:",
     "Šalje: Nora\nDatum: petak\nPrima: Olivia\nPredmet: Isporuka",
     "Izvornu poruku sam proslijedila.\n"},
    {"Slovenian", "-------- Posredovano sporočilo --------", "Nora je 13. 11. 2026 napisal:",
     "Od: Nora\nPoslano: petek\nZa: Olivia\nZadeva: Dobava", "Sporočilo sem posredovala.\n"},
    {"Romanian",
     "Începe mesajul redirecționat:", "În vin., 13 nov. 2026 la 08:00, Nora a scris:",
     "De la: Nora\nTrimis: vineri\nCătre: Olivia\nSubiect: Livrare",
     "Am redirecționat mesajul tău.\n"},
    {"Russian", "-------- Пересылаемое сообщение --------", "13.11.2026 08:00, Nora пишет:",
     "От: Nora\nОтправлено: пятница\nКому: Olivia\nТема: Срок",
     "Исходное сообщение я переслала. Тема: сроки\n"},
    {"Ukrainian", "Початок листа, що пересилається:", "13.11.2026 08:00, Nora пише:",
     "Від: Nora\nНадіслано: п'ятниця\nКому: Olivia\nТема: Термін", "Лист я переслала.\n"},
    {"Belarusian", "-------- Накіраваны ліст --------",
     "Nora напісаў 13.11.2026 у 08:00:", NULL, "Дзякуй за ліст.\n"},
    {"Bulgarian", "Начало на препратеното съобщение:", "На 13.11.2026 в 08:00, Nora написа:",
     "От: Nora\nИзпратено: петък\nДо: Olivia\nОтносно: Срок", "Препратих писмото.\n"},
    {"Greek", "-------- Προωθημένο μήνυμα --------", "Στις 13/11/2026 08:00, Nora έγραψε:",
     "Από: Nora\nΕστάλη: Παρασκευή\nΠρος: Olivia\nΘέμα: Παράδοση", "Προώθησα το μήνυμα.\n"},
    {"Turkish", "İleti başlangıcı:", "13.11.2026 08:00 tarihinde Nora yazdı:",
     "Kimden: Nora\nGönderildi: Cuma\nKime: Olivia\nKonu: Teslimat",
     "İletiyi yönlendirdim.\n"},
    {"Estonian", "-------- Edastatud kiri --------", "13.11.2026 08:00 Nora kirjutas:",
     "Saatja: Nora\nSaatmisaeg: reede\nAdressaat: Olivia\nTeema: Tarne", "Kirja edastasin.\n"},
    {"Lithuanian", "-------- Persiųstas laiškas --------",
     "2026-11-13 08:00, Nora rašė:", NULL, "Laišką persiunčiau.\n"},
    {"Albanian", "-------- Mesazhi i Përcjellë --------",
     "Më 13.11.2026, 08:00, Nora shkroi:", NULL, "Faleminderit.\n"},
    {"Catalan", "-------- Missatge reenviat --------",
     "El 13/11/2026 a les 08:00, Nora ha escrit:", NULL, "He reenviat el missatge.\n"},
    {"Vietnamese", "-------- Thư chuyển tiếp --------",
     "Vào 13 thg 11, 2026 lúc 08:00 Nora đã viết:",
     "Từ: Nora\nĐã gửi: Thứ Sáu\nĐến: Olivia\nChủ đề: Giao hàng", "Tôi đã chuyển thư.\n"},
    {"Indonesian", "-------- Pesan Terusan --------", "Pada 13 Nov 2026 08:00, Nora menulis:",
     "Dari: Nora\nDikirim: Jumat\nKepada: Olivia\nSubjek: Pengiriman",
     "Sudah saya teruskan.\n"},
    {"Basque", "-------- Birbidalitako mezua --------", "Norak idatzi du:",
     "Nork: Nora\nBidalia: ostirala\nNori: Olivia\nGaia: x", "Eskerrik asko mezuagatik.\n"},
    {"Welsh", "-------- Neges Wedi'i Hanfon Ymlaen --------", "Ysgrifennodd Nora:",
     "Oddi wrth: Nora\nAnfonwyd: dydd Gwener\nAt: Olivia\nPwnc: x", "Diolch am y neges.\n"},
    {"Irish", "-------- Teachtaireacht Ar Aghaidh --------", "Scríobh Nora:",
     "Ó: Nora\nSeolta: Dé hAoine\nChuig: Olivia\nÁbhar: x", "Go raibh maith agat.\n"},
    {"Malay", "-------- Mesej Dimajukan --------", "Nora menulis:",
     "Daripada: Nora\nDihantar: Jumaat\nKepada: Olivia\nSubjek: x", "Terima kasih.\n"},
    {"Hindi", "-------- अग्रेषित संदेश --------",
     "Nora ने लिखा:", "प्रेषक: Nora\nदिनांक: शुक्रवार\nप्रति: Olivia\nविषय: x", "धन्यवाद।\n"},
    {"Bengali", "-------- ফরওয়ার্ড করা বার্তা --------",
     "শুক্র, ১৩ নভে, ২০২৬ তারিখে ৮:০০ টায় Nora লিখেছেন:",
     "থেকে: Nora\nপাঠানো হয়েছে: শুক্রবার\nপ্রতি: Olivia\nবিষয়: x", "ধন্যবাদ।\n"},
    {"Thai", "---------- ข้อความที่ส่งต่อ ----------", "เมื่อ 13 พ.ย. 2026 08:00 Nora เขียนว่า:", NULL,
     "ขอบคุณค่ะ\n"},
    {"Hebrew", "---------- הודעה שהועברה ----------", "13.11.2026 08:00 מאת Nora כתב:",
     "מאת: Nora\nנשלח: יום שישי\nאל: Olivia\nנושא: משלוח", "תודה על ההודעה.\n"},
    {"Arabic", "---------- رسالة محولة ----------", "في 13-11-2026 08:00، كتب Nora:",
     "من: Nora\nتاريخ الإرسال: الجمعة\nإلى: Olivia\nالموضوع: التسليم", "شكرا على الرسالة.\n"},
    {"Chinese, simplified", "---------- 转发的邮件 ----------",
     "Nora 于2026年11月13日周五 08:00写道：",
     "发件人: Nora\n发送时间: 2026\n收件人: Olivia\n主题: 交货", "邮件已经转发。\n"},
    {"Chinese, traditional", "開始轉寄郵件：", "Nora 於 2026年11月13日 08:00 寫道：",
     "寄件者: Nora\n寄件日期: 2026\n收件者: Olivia\n主旨: 交貨", "郵件已經轉寄。\n"},
    {"Japanese", "---------- メッセージを転送 ----------",
     "2026年11月13日(金) 8:00 Nora <nora@example.org>:",
     "差出人: Nora\n送信日時: 2026\n宛先: Olivia\n件名: 納期", "メールを転送しました。\n"},
    {"Korean", "---------- 전달된 메시지 ----------",
     "2026년 11월 13일 오전 8:00, Nora님이 작성:",
     "보낸 사람: Nora\n보낸 날짜: 2026\n받는 사람: Olivia\n제목: 납기",
     "메일을 전달했습니다.\n"},
};

static void
assert_found(const char *text, gboolean forward_expected, gboolean quoted_expected)
{
    gboolean forward = FALSE, quoted = FALSE;

    mail_find_quotes(text, &forward, &quoted);
    if (forward != forward_expected || quoted != quoted_expected)
        g_error("forward %d, quoted %d: %s", forward, quoted, text);
}

static void
test_language(gconstpointer data)
{
    const Language *row = data;
    g_autofree char *plain = g_strdup_printf("Hello\n\n%s\n\nThursday?\n", row->forward);
    g_autofree char *cited = g_strdup_printf("> %s\n>\n", row->forward);
    g_autofree char *answer = g_strdup_printf("Yes.\n\n%s\n\n> Thursday?\n", row->attribution);

    assert_found(plain, TRUE, FALSE);
    assert_found(cited, TRUE, FALSE);
    assert_found(answer, FALSE, TRUE);
    if (row->block != NULL)
        assert_found(row->block, FALSE, TRUE);
    assert_found(row->ordinary, FALSE, FALSE);
}

/* Prefixes of answers: none of them is a forward. */
static void
test_answers(void)
{
    static const char *const subjects[] = {
        "Re: Offer",       "RE : Devis",         "AW: Angebot",      "Antw: Offerte",
        "SV: Offert",      "Sv: Tilbud",         "R: Preventivo",    "RES: Proposta",
        "Odp.: Oferta",    "Odp: Nabídka",       "Vá: Ajánlat",      "YNT: Teklif",
        "Re: VS: Tarjous", "Отв: Смета",         "Απ: Προσφορά",     "回复: 报价",
        "回覆: 報價",      "返信: 見積もり",     "회신: 견적",       "השב: הצעה",
        "رد: عرض",         "Trả lời: Báo giá",   "Bls: Penawaran",   "Re[4]: Offer",
        "[EXTERN] Re: x",  "Re: [dev] fw rules", "Info: forwarding", "Re: i think: yes",
        "Flight: FW 1234", "Re: Fwd planning",   "10:30: call",      "Note: tr list",
    };

    for (gsize i = 0; i < G_N_ELEMENTS(subjects); i++)
        if (mail_subject_forwards(subjects[i]))
            g_error("a forward: %s", subjects[i]);
}

/* Copies that nothing sets off, and lines that only look like it. */
static void
test_unmarked(void)
{
    assert_found("Yes.\n\nOn Friday, 13 November 2026, \"Nora\" <nora@example.org> wrote:\n\n"
                 "    Thursday?\n",
                 FALSE, TRUE);
    assert_found("Am 13.11.2026 schrieb Nora:\nDonnerstag?\n", FALSE, TRUE);
    assert_found("As Nora wrote: Thursday is fine.\n", FALSE, FALSE);
    assert_found("Nora wrote:\nThursday is fine.\n", FALSE, FALSE);
    assert_found("| Item | Price |\n|------|-------|\n| Bolt | 0.12 |\n| Nut | 0.10 |\n",
                 FALSE, FALSE);
    assert_found("|-- lib\n|   `-- mail.c\n|-- man\n|-- tests\n", FALSE, FALSE);
    assert_found("|\\\n| * 84e8c1a one\n| * 1a2b3c4 two\n| * 5d6e7f8 three\n|/\n", FALSE,
                 FALSE);
    assert_found("| Can you do Thursday?\n| We need it.\n| Nora\n", FALSE, TRUE);
}

/* Markers with other words or signs around them than programs write. */
static void
test_disguised(void)
{
    static const char *const forwards[] = {
        "[Forwarded message]",
        "(Forwarded message follows)",
        "Forwarded message follows:",
        "=== Forwarded ===",
        "[Weitergeleitet]",
        "This is a forwarded message",
        "Beginn der weitergeleiteten Nachricht:",
        "-------- Завершение пересылаемого сообщения --------",
        "Începutul mesajului redirecționat:",
        "Mulai meneruskan pesan:",
        "-------- Edasisaadetud kiri --------",
        "Fwd:",
        "Fwd: Thursday",
        "----- 転送者: Nora -----",
        "以下是转发邮件内容：",
    };
    static const char *const copies[] = {
        "From\tNora\nSent\tFriday\nTo\tOlivia\nSubject\tThursday",
        "| From | Nora |\n| Sent | Friday |\n| To | Olivia |",
        "From: Nora\n\n\n\n\nTo: Olivia\n\n\n\n\nSubject: Thursday",
        "Received: from mail.example.org\nSubject: Thursday\nFrom: Nora",
        "Author: Nora\nDate: Friday\nSubject: Thursday",
        "From: Nora <nora@example.org>\nDate: Friday\nTo: Olivia",
        "---- On Fri, 13 Nov 2026 08:00:00 +0000 Nora wrote ----",
        ">>> Nora <nora@example.org> 13.11.2026 08:00 >>>",
        "2026-11-13 08:00 GMT+01:00 Nora <nora@example.org>:\n\nThursday?",
        "---------- Původní e-mail ----------",
        "------------------ Original ------------------",
        "From:\nNora\nSent:\nFriday\nTo:\nOlivia",
        "---- Replied Message ----",
        ">>>>> \"Nora\" == Nora  <nora@example.org> writes:\n\n    Nora> Thursday?",
        "Nora wrote:\nN> Thursday?",
        "1. From: Nora\n2. Sent: Friday\n3. To: Olivia",
        "(1) From: Nora\n(2) Sent: Friday\n(3) To: Olivia",
        "a) From: Nora\nb) Sent: Friday\nc) To: Olivia",
        "From = Nora <nora@example.org>\nDate = Friday\nTo = Olivia",
        "From -> Nora <nora@example.org>\nDate -> Friday\nTo -> Olivia",
        "From - Nora <nora@example.org>\nDate - Friday\nTo - Olivia",
        "From \u2013 Nora <nora@example.org>\nDate \u2013 Friday\nTo \u2013 Olivia",
        "From\u2236 Nora\nSent\u2236 Friday\nTo\u2236 Olivia",
        "Fr\u043em: Nora\nS\u0435nt: Friday\nT\u043e: Olivia",
        "From: Nora <nora@example.org>\nSubject: Thursday",
        "From nora@example.org Fri Nov 13 10:12:44 2026\nReceived: by x\nSubject: Thursday",
        "_On Fri, 13 Nov 2026 at 10:12, Nora <nora@example.org> wrote:_",
        "\"Nora\" nora@example.org, November 13, 2026 10:12 AM\n> Thursday?",
    };
    static const char *const ordinary[] = {
        "*** I ***",
        "--- TR ---",
        "I/O: 13 errors on 2026-11-13",
        "Nora wrote on 13.11.2026 that Thursday is fine",
        "From: 9:00\n1\n2\n3\n4\nTo: 17:00\n1\n2\n3\n4\nDate: Friday",
        "From - 9:00\nTo - 17:00\nDate - Friday",
        "1. From: Hamburg\n2. To: Basel\n3. Date: 19 November",
        "From nora@example.org I heard nothing.\nSubject: none yet.",
        "From: Hamburg\nTo: Basel\nDate: 19 November\nPrice: 89.00 EUR",
        "De: Madrid\nA: Sevilla\nFecha: 19 de noviembre",
        "Datum: 19.11.2026\nVon: 14:00\nBis: 15:00\nBetreff: Lieferung",
        "The form has\n\nFrom:\nTo:\nSubject:\nDate:\n\nand a button.",
        "commit 84e8c1a0b2c3\nAuthor: Olivia <o@example.com>\nDate:   Mon Nov 16\n\n    parse",
        "On the server:\nmysql> show tables;\nmysql> use dock;\nmysql> quit",
        "In parse.c, line 20:\n\n> if (a)\n>     return;",
        "RFC 5322 has it so:\n> one line of 998 bytes",
        "--- Original documents ---\n\n*Original:* Guten Tag",
        "Sir Example wrote in 1888:\n\n    The ramp is long,\n    the day is short.",
        "Call Nora on 13.11.2026 at 08:00:",
        "Dear Sam,\n\n----\n\nThursday.",
    };

    for (gsize i = 0; i < G_N_ELEMENTS(forwards); i++) {
        g_autofree char *text = g_strdup_printf("Hello,\n\n%s\n\nThursday?\n", forwards[i]);
        assert_found(text, TRUE, FALSE);
    }
    for (gsize i = 0; i < G_N_ELEMENTS(copies); i++) {
        g_autofree char *text = g_strdup_printf("Hello,\n\n%s\n\nThursday?\n", copies[i]);
        assert_found(text, FALSE, TRUE);
    }
    for (gsize i = 0; i < G_N_ELEMENTS(ordinary); i++)
        assert_found(ordinary[i], FALSE, FALSE);
}

static void
test_forwarding_subjects(void)
{
    static const char *const subjects[] = {
        "Posr: x",         "Továbbküldés: x", "Препр.: x",
        "Pārsūt.: x",      "(Fwd) Offer",     "[Fwd] Offer",
        ">Fwd: Offer",     "\"Fwd: Offer\"",  "FYI: Fwd: Offer",
        "Offer, FW: 2026", "Fwd - Offer",     "Fwd; Offer",
        "RE/FW: Offer",    "Re; Fwd: Offer",  "Weiterleitung: Offer",
        "Inoltra: Offer",  "Reenviat: Offer", "Forwarded message: Offer",
    };

    for (gsize i = 0; i < G_N_ELEMENTS(subjects); i++)
        if (!mail_subject_forwards(subjects[i]))
            g_error("no forward: %s", subjects[i]);
    g_assert_false(mail_subject_forwards("I/O: errors"));
    g_assert_false(mail_subject_forwards("Przekazanie kluczy: Thursday"));
    g_assert_false(mail_subject_forwards("The new WG: who cooks?"));
}

/* What programs send when nobody asks them for plain text. */
static void
test_pages(void)
{
    static const struct {
        const char *name;
        const char *html;
        gboolean forward;
    } pages[] = {
        {"Apple Mail",
         "<div><br><blockquote type=\"cite\"><div>Begin forwarded message:</div><br>"
         "<div><b>From: </b>Nora &lt;nora@example.org&gt;<br></div></blockquote></div>",
         TRUE},
        {"Apple Mail, French",
         "<blockquote type=\"cite\"><div>D&eacute;but du message "
         "r&eacute;exp&eacute;di&eacute;"
         "&nbsp;:</div></blockquote>",
         TRUE},
        {"Gmail",
         "<div class=\"gmail_quote\"><div dir=\"ltr\" class=\"gmail_attr\">---------- "
         "Forwarded message ---------<br>From: <strong>Nora</strong><br></div></div>",
         TRUE},
        {"Thunderbird",
         "<div class=\"moz-forward-container\">-------- Weitergeleitete Nachricht --------"
         "<table><tr><th>Von: </th><td>Nora</td></tr></table></div>",
         TRUE},
        {"in pieces", "<p>Begin for<wbr>warded mes<b></b>sage:</p>", TRUE},
        {"Outlook",
         "<div style=\"border:none;border-top:solid #E1E1E1 1.0pt\"><p><b>From:</b> Nora<br>"
         "<b>Sent:</b> Friday<br><b>To:</b> Olivia<br><b>Subject:</b> Date</p></div>",
         FALSE},
        {"Outlook, a table",
         "<table><tr><td>Von:</td><td>Nora</td></tr><tr><td>Gesendet:</td><td>Freitag</td></"
         "tr>"
         "<tr><td>An:</td><td>Olivia</td></tr></table>",
         FALSE},
        {"Gmail, an answer",
         "<div class=\"gmail_attr\">On Fri, 13 Nov 2026, Nora &lt;<a href=\"mailto:"
         "nora@example.org\">nora@example.org</a>&gt; wrote:<br></div>"
         "<blockquote class=\"gmail_quote\">Thursday?</blockquote>",
         FALSE},
        {"Outlook, an answer without a block",
         "<p>Am 13.11.2026 um 08:00 schrieb Nora:</p><p>Donnerstag?</p>", FALSE},
    };

    for (gsize i = 0; i < G_N_ELEMENTS(pages); i++) {
        g_autofree char *text = mail_render_html(pages[i].html);
        g_test_message("%s", pages[i].name);
        if (pages[i].forward) {
            gboolean forward = FALSE, quoted = FALSE;
            mail_find_quotes(text, &forward, &quoted);
            g_assert_true(forward);
        } else {
            assert_found(text, FALSE, TRUE);
        }
    }
    assert_found("Hello Nora,\n\nsee our page <https://example.com>.\n", FALSE, FALSE);
}

/* Names alone, as programs show them inside a house, in languages that are rarer above. */
static void
test_blocks(void)
{
    static const char *const blocks[] = {
        "Nga: Nora Berg\nDërguar: e premte, 13 nëntor 2026 10:12\nDrejt: Olivia\nSubjekti: x",
        "Од: Nora Berg\nИспратено: петок, 13 ноември 2026 10:12\nДо: Olivia\nПредмет: x",
        "Кімнен: Nora Berg\nЖіберілді: 13 қараша 2026 10:12\nКімге: Olivia\nТақырып: x",
        "Kimdən: Nora Berg\nGöndərildi: 13 noyabr 2026 10:12\nKimə: Olivia\nMövzu: x",
        "გამგზავნი: Nora Berg\nგაგზავნილია: 10:12\nადრესატი: Olivia\nთემა: x",
        "Ումից՝ Nora Berg\nՈւղարկված է՝ 13 նոյեմբեր 2026 10:12\nՈւմ՝ Olivia\nԹեմա՝ x",
        "அனுப்புநர்: Nora Berg\nஅனுப்பியது: 13 நவம்பர் 2026 10:12\nபெறுநர்: Olivia\nபொருள்: x",
        "పంపినవారు: Nora Berg\nపంపిన తేదీ: 13 నవంబర్ 2026 10:12\nవీరికి: Olivia\nవిషయం: x",
        "منجانب: Nora Berg\nارسال کردہ: 13 نومبر 2026 10:12\nبنام: Olivia\nعنوان: x",
        "Kutoka: Nora Berg\nIlitumwa: 13 Novemba 2026 10:12\nKwa: Olivia\nMada: x",
        "Mula kay: Nora Berg\nIpinadala: Nobyembre 13, 2026 10:12\nPara kay: Olivia\nPaksa: x",
        "ከ፦ Nora Berg\nየተላከው፦ 13 ኖቬምበር 2026 10:12\nለ፦ Olivia\nርዕሰ ጉዳይ፦ x",
        "ពី៖ Nora Berg\nបានផ្ញើ៖ 13 វិច្ឆិកា 2026 10:12\nទៅ៖ Olivia\nប្រធានបទ៖ x",
        "Minn: Nora Berg\nMibgħut: 13 ta' Novembru 2026 10:12\nLil: Olivia\nSuġġett: x",
        "Vun: Nora Berg\nGeschéckt: 13. November 2026 10:12\nUn: Olivia\nSujet: x",
        "Ад: Nora Berg\nАдпраўлена: 13 лістапада 2026 10:12\nКаму: Olivia\nТэма: x",
        "Хэнээс: Nora Berg\nИлгээсэн: 2026-11-13 10:12\nХэнд: Olivia\nСэдэв: x",
        "बाट: Nora Berg\nपठाइयो: 2026-11-13 10:12\nलाई: Olivia\nविषय: x",
        "ಇಂದ: Nora Berg\nಕಳುಹಿಸಲಾಗಿದೆ: 13 ನವೆಂಬರ್ 2026 10:12\nಗೆ: Olivia\nವಿಷಯ: x",
        "അയച്ചത്: Nora Berg\nഅയച്ച തീയതി: 13 നവംബർ 2026 10:12\nസ്വീകർത്താവ്: Olivia\nവിഷയം: x",
        "પ્રેષક: Nora Berg\nમોકલ્યું: 13 નવેમ્બર 2026 10:12\nપ્રતિ: Olivia\nવિષય: x",
        "Kimdan: Nora Berg\nYuborildi: 13-noyabr 2026 10:12\nKimga: Olivia\nMavzu: x",
        "ຈາກ: Nora Berg\nສົ່ງແລ້ວ: 13 ພະຈິກ 2026 10:12\nຫາ: Olivia\nຫົວຂໍ້: x",
        "වෙතින්: Nora Berg\nයැවුවේ: 2026-11-13 10:12\nවෙත: Olivia\nවිෂයය: x",
        "O: Nora Berg\nAir a chur: 13 Samhain 2026 10:12\nGu: Olivia\nCuspair: x",
        "보낸사람: Nora\n받는사람: Olivia\n날짜: 2026-11-13 10:12\n제목: x",
    };
    static const char *const others[] = {
        "Од: Скопје\nДо: Охрид\nДатум: 19 ноември\nСедиште: 12\n",
        "Հինգշաբթի՝ հարմար է։\nԵրբ՝ 19 նոյեմբեր\nՈւր՝ Գյումրի\n",
        "Dal: lunedì 3 maggio\nAl: venerdì 7 maggio\nOggetto: ferie\n",
        "Kwa: Dar es Salaam\nTarehe: 19 Novemba\nKiti: 12\n",
        "Kimdan: Toshkent\nKimga: Samarqand\nSana: 19-noyabr\n",
    };

    for (gsize i = 0; i < G_N_ELEMENTS(blocks); i++)
        assert_found(blocks[i], FALSE, TRUE);
    for (gsize i = 0; i < G_N_ELEMENTS(others); i++)
        assert_found(others[i], FALSE, FALSE);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (gsize i = 0; i < G_N_ELEMENTS(languages); i++) {
        g_autofree char *path = g_strconcat("/mail/language/", languages[i].name, NULL);
        g_test_add_data_func(path, &languages[i], test_language);
    }
    g_test_add_func("/mail/language/answers D16", test_answers);
    g_test_add_func("/mail/language/disguised XB21", test_disguised);
    g_test_add_func("/mail/language/subjects XB21", test_forwarding_subjects);
    g_test_add_func("/mail/language/pages XB21", test_pages);
    g_test_add_func("/mail/language/blocks D16", test_blocks);
    g_test_add_func("/mail/language/unmarked XB21", test_unmarked);
    return g_test_run();
}
