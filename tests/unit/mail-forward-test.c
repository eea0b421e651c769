/* mail-forward-test - forwards by their looks, and markers that were broken into lines
 *
 * XB21: a language that no list has, and the line ends a mail program adds (RFC 3676). */
#include "lib/mail-private.h"

#define NONE    0
#define QUOTED  1
#define FORWARD 2

typedef struct {
    const char *name;
    const char *text;
    guint found; /* bits */
} Row;

/* In words that no list of ours has. */
static const Row shapes[] = {
    {"as Gmail does",
     "---------- აბგდ ----------\nვისგან: Nora <nora@example.org>\n"
     "თარიღი: პარ, 13 ნოე. 2026, 08:00\nთემა: x\nვის: <owner@example.com>\n",
     FORWARD | QUOTED},
    {"digits of another script",
     "---------- واژه ----------\nفرستنده: Nora <nora@example.org>\n"
     "تاریخ: جمعه ۱۳ نوامبر ۲۰۲۶ ۸:۰۰\nموضوع: x\nگیرنده: <owner@example.com>\n",
     FORWARD | QUOTED},
    {"another calendar",
     "---------- บางคำ ---------\nแหล่ง: Nora <nora@example.org>\n"
     "เมื่อ: 13 พ.ย. 2569 เวลา 08:00\nหัวข้อ: x\nปลายทาง: owner@example.com\n",
     FORWARD | QUOTED},
    {"as Apple Mail does",
     "Look:\n\n> Abcd efghi:\n> \n> Xyz: Nora <nora@example.org>\n> Qwe: hello\n"
     "> Dto: 13 November 2026 at 08:00:00\n> Rec: Olivia <owner@example.com>\n",
     FORWARD | QUOTED},
    {"as Outlook does",
     "Xyz: Nora [mailto:nora@example.org]\nDto: 13 Nob 2026 08:00\n"
     "Rec: Olivia [mailto:owner@example.com]\nQwe: Termin 13.11.2026\n",
     QUOTED},
    {"a marker above an answer",
     "-------- Original Message --------\nFrom: Nora <nora@example.org>\n"
     "Date: 13 Nov 2026 08:00\nTo: <owner@example.com>\nSubject: x\n",
     QUOTED},
    {"a ticket",
     "---------- Ticket 4711 ----------\nRequester: Lee <lee@example.net>\n"
     "Created: 2026-11-13 08:00\nStatus: open\nPriority: high\n",
     NONE},
    {"a meeting",
     "Host: Nora <nora@example.org>\nWhen: 13 Nov 2026 08:00-09:00\nWhere: Room 4\n"
     "Dial-in: +49 30 1234567\n",
     NONE},
    {"a list of people",
     "Contacts:\nNora: nora@example.org\nSam: sam@example.org\nLee: lee@example.net\n"
     "Deadline: 2026-11-13 10:00\nBudget: 100\n",
     NONE},
    {"a signature",
     "-----\nNora Park\nPhone: +49 30 1234567\nMail: nora@example.org\n"
     "Web: www.example.org\nSince: 2026-11-13 10:00\n",
     NONE},
    {"a colon of another script",
     "Ումից՝ Nora <nora@example.org>\nԵրբ՝ 13 նոյեմբեր 2026 10:12\n"
     "Ում՝ Olivia <owner@example.com>\nԹեմա՝ x\n",
     QUOTED},
    {"such a colon above quoted lines",
     "ថ្ងៃ 13 វិច្ឆិកា 2026 10:12 Nora <nora@example.org>៖\n> x\n", QUOTED},
    {"one that ends a word", "በ13 ኖቬም 2026 Nora ጻፈ፦\n> x\n", QUOTED},
    {"a header in one line",
     "From: Nora <nora@example.org> Sent: Friday 10:12 To: Olivia <owner@example.com> "
     "Subject: x\n",
     QUOTED},
    {"another one",
     "*Von:* Nora <nora@example.org>, *Gesendet am:* 13.11.2026; *An:* Olivia; *Betreff:* x\n",
     QUOTED},
    {"an answer of a French program",
     "----- Mail original -----\nDe: \"Nora\" <nora@example.org>\n"
     "À: \"Olivia\" <owner@example.com>\n"
     "Envoyé: Vendredi 13 Novembre 2026 10:12:44\nObjet: x\n",
     QUOTED},
    {"a header in braces",
     "{\"from\":\"nora@example.org\",\"date\":\"2026-11-13\",\"subject\":\"x\",\"to\":[]}\n",
     QUOTED},
    {"in tags",
     "<from>Nora &lt;nora@example.org&gt;</from>\n<date>13 Nov 2026</date>\n<to>Olivia</to>\n",
     QUOTED},
    {"a table of messages",
     "| From | Date | Subject |\n|---|---|---|\n| Nora <nora@example.org> | Friday | x |\n",
     QUOTED},
    {"the same with commas", "from,date,subject,to\n\"nora@example.org\",\"Friday\",x,y\n",
     QUOTED},
    {"a table of journeys", "| From | Date | To |\n|---|---|---|\n| Basel | Friday | Bern |\n",
     NONE},
    {"settings", "[mail]\nfrom = \"a@example.com\"\nto = \"b@example.com\"\nsubject = \"x\"\n",
     NONE},
    {"a sentence about one",
     "From: who wrote it. To: who reads it. Date: when. Subject: what about.\n", NONE},
    {"a journey in one line", "From: Basel To: Bern Date: 13 Nov Mail: nora@example.org\n",
     NONE},
    {"a log of changes",
     "commit 0123456\nAuthor: Nora <nora@example.org>\nDate:   Fri Nov 13 10:12:44 2026\n\n"
     "    shut it\n\ncommit 1123456\nAuthor: Lee <lee@example.net>\n"
     "Date:   Thu Nov 12 10:12:44 2026\n",
     NONE},
    {"a change and who signed it",
     "Author: Nora <nora@example.org>\nDate:   Fri Nov 13 10:12:44 2026\n\n"
     "    gate: shut it\n\n    Signed-off-by: Olivia <owner@example.com>\n",
     NONE},
};

static const Row markers[] = {
    {"a word in a frame", "---------- अग्रेषित संदेश ----------\n", FORWARD},
    {"another word order", "-------- Μήνυμα που προωθήθηκε --------\n", FORWARD},
    {"a letter, not a message", "-------- Переадресованное письмо --------\n", FORWARD},
    {"broken at a space", "---------- Weitergeleitete\nNachricht ----------\n", FORWARD},
    {"broken in a word", "---------- Weitergeleitete Nach\nricht ----------\n", FORWARD},
    {"broken without spaces", "---------- 转发的\n邮件 ----------\n", FORWARD},
    {"broken twice",
     "-----Weitergeleitete Nachricht\nvon Jonas <jonas@example.net>\nam 13.11.2026-----\n",
     FORWARD},
    {"a title broken", "Begin forwarded\nmessage:\n", FORWARD},
    {"a title broken, quoted", "> 下面是被转发的\n> 邮件：\n", FORWARD},
    {"a heading", "=== Forward planning ===\n\n**Forwarded ports** are 80 and 443\n", NONE},
    {"a sentence", "I forwarded\nthe message:\nsee below\n", NONE},
    {"a patch", "--- a/file.c\n+++ b/file.c\n@@ -1,3 +1,3 @@\n-x: 1\n+x: 2\n", NONE},
    {"a heading of a program", "=== 3 packets forwarded ===\n*** 자료 전달 ***\n", NONE},
    {"a heading in Japanese", "=== ファイル転送 ===\n", NONE},
    {"dots", "..... Forwarded message .....\n", FORWARD},
    {"pictures", "\U0001f4e8 Forwarded message \U0001f4e8\n", FORWARD},
    {"a table", "| Forwarded message |\n|---|\n", FORWARD},
    {"an entry of a list", "1. Forwarded message:\n", FORWARD},
    {"words before it in a frame", "--- see the Forwarded message ---\n", FORWARD},
    {"words before it in a title", "Here comes the forwarded message:\n", FORWARD},
    {"in brackets", "(Forwarded message)\n", FORWARD},
    {"a sentence in brackets", "(Sorry, I had overlooked the forwarded message)\n", NONE},
    {"a sentence in quotation marks", "\"I did not get the forwarded message\"\n", NONE},
    {"a sentence before a colon", "Regarding the forwarded email you sent me:\nyes\n", NONE},
    {"another one", "The included message is:\nwe meet at ten.\n", NONE},
    {"a sentence in a list", "- Please read the forwarded message.\n", NONE},
    {"its beginning in a list", "- Forwarded messages wait here.\n", NONE},
    {"behind a sign that breaks the line",
     "See:\u2028---------- Forwarded message ---------\n", FORWARD},
    {"behind another one", "See:\f---------- Forwarded message ---------\vFrom: Nora\n",
     FORWARD},
    {"in a cell", "| See: | ---------- Forwarded message --------- | Nora |\n", FORWARD},
    {"words in cells", "| Forward | Forwarded message | Nora |\n", NONE},
    {"letters set apart", "--- f o r w a r d e d   m e s s a g e ---\n", FORWARD},
    {"hyphens between them", "*** F-o-r-w-a-r-d-e-d ***\n", FORWARD},
    {"letters that are none", "--- a b c ---\n\n1 2 3\n", NONE},
    {"letters of another script", "--- F\u043erw\u0430rd\u0435d m\u0435ssage ---\n", FORWARD},
    {"in Greek", "--- F\u03bfrwarded message ---\n", FORWARD},
    {"who did it", "Forwarded by Olivia <owner@example.com>\n\nSee you\n", FORWARD},
    {"a sentence about it", "Forwarded by mistake, sorry.\n", NONE},
    {"the name of another language", "-------- Пераадрасаванае паведамленне --------\n",
     FORWARD},
    {"a sentence of a program", "Это пересылаемое сообщение\n", FORWARD},
    {"a frame that never ends", "--- a\nb\nc\nd\nthe forwarded message\n", NONE},
};

static void
test_row(gconstpointer data)
{
    const Row *row = data;
    gboolean forward = FALSE, quoted = FALSE;

    mail_find_quotes(row->text, &forward, &quoted);
    g_assert_cmpint(forward, ==, (row->found & FORWARD) != 0);
    g_assert_cmpint(quoted, ==, (row->found & QUOTED) != 0);
}

static void
test_joined(void)
{
    static const struct {
        const char *text;
        gboolean delsp;
        const char *joined; /* NULL: as it was */
    } rows[] = {
        {"one \ntwo\nthree\n", FALSE, "one two\nthree\n"},
        {"one \ntwo\n", TRUE, "onetwo\n"},
        {"> one \n> two \nthree\n", FALSE, "> one two \nthree\n"},
        {"> one \n>> two\n", FALSE, "> one \n>> two\n"},
        {"one \n two\n", FALSE, "one two\n"},
        {"one\n-- \nNora\n", FALSE, "one\n-- \nNora\n"},
        {"one \n", FALSE, "one "},
        {"one\ntwo\n", FALSE, NULL},
        {" \n \n", TRUE, " \n \n"}, /* stuffed empty lines */
    };

    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *joined = mail_join_lines(rows[i].text, rows[i].delsp);
        g_assert_cmpstr(joined, ==, rows[i].joined);
    }
}

static void
test_subjects(void)
{
    static const char *const forwards[] = {
        "Прослеђено: x", "Пересл.: x",      "ส่งต่อ: x",     "अग्रेषित: x",
        "【转发】预算",  "[전달] 예산",     "转：预算",    "【転送】x",
        "(Forwarded) x", "გადაგზავნილი: x", "Re: 转发：x", "Přeposlaná zpráva: x",
        "⚠️ WG: x",  "Fwd – x",
    };
    static const char *const others[] = {
        "[dev] budget",           "(draft) budget",    "【重要】预算",
        "ファイル転送: 手順",     "자료 전달: 예산",   "Protokół przekazania: x",
        "Стоимость пересылки: x", "Port forwarded: x", "[Ports forwarded] x",
    };

    for (gsize i = 0; i < G_N_ELEMENTS(forwards); i++)
        if (!mail_subject_forwards(forwards[i]))
            g_error("no forward: %s", forwards[i]);
    for (gsize i = 0; i < G_N_ELEMENTS(others); i++)
        if (mail_subject_forwards(others[i]))
            g_error("a forward: %s", others[i]);
}

static void
add_rows(const char *folder, gsize n_rows, const Row *rows)
{
    for (gsize i = 0; i < n_rows; i++) {
        g_autofree char *path = g_strconcat(folder, rows[i].name, NULL);
        g_test_add_data_func(path, &rows[i], test_row);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    add_rows("/mail/forward/by looks XB21/", G_N_ELEMENTS(shapes), shapes);
    add_rows("/mail/forward/marker XB21/", G_N_ELEMENTS(markers), markers);
    g_test_add_func("/mail/forward/joined lines", test_joined);
    g_test_add_func("/mail/forward/subjects XB21", test_subjects);
    return g_test_run();
}
