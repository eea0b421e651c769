#include "lib/folder.h"

#include "lib/imap-name.h"

/* clang-format off */
/* What Thunderbird, Outlook, Apple Mail, Gmail and the providers call it. Many are short for
 * "sent items": the whole name counts, so no other folder can be meant. */
static const char *const sent_names[] = {
    "Sent", "Sent Items", "Sent Mail", "Sent Messages", "Sent Objects", "Sentmail", "Gesendet",
    "Gesendete", "Gesendete Elemente", "Gesendete Objekte", "Gesendete Nachrichten",
    "Gesendete Mails", "Gesendete E-Mails", "Postausgang gesendet", "Envoyé", "Envoyés",
    "Messages envoyés", "Éléments envoyés", "Courrier envoyé", "Objets envoyés", "Enviado",
    "Enviados", "Enviadas", "Elementos enviados", "Mensajes enviados", "Correo enviado",
    "Itens enviados", "Mensagens enviadas", "E-mails enviados", "Correio enviado", "Enviat",
    "Enviats", "Elements enviats", "Bidalita", "Bidalitakoak", "Bidalitako elementuak",
    "Inviata", "Inviate", "Inviati", "Posta inviata", "Elementi inviati", "Messaggi inviati",
    "Verzonden", "Verzonden items", "Verzonden berichten", "Verstuurd", "Verstuurde items",
    "Skickat", "Skickade", "Skickade objekt", "Skickade meddelanden", "Skickade mail",
    "Skickade mejl", "Skickad e-post", "Sendt", "Sendte", "Sendte elementer", "Sendte mails",
    "Sendt post", "Sendt e-post", "Sendte meldinger", "Lähetetyt", "Lähetetyt viestit",
    "Saadetud", "Saadetud kirjad", "Saadetud üksused", "Nosūtītie", "Nosūtītās",
    "Nosūtītie vienumi", "Išsiųsta", "Išsiųsti", "Išsiųsti laiškai", "Išsiųsti elementai",
    "Wysłane", "Elementy wysłane", "Elem. wysłane", "Wiadomości wysłane", "Poczta wysłana",
    "Odeslané", "Odeslaná pošta", "Odeslaná", "Odoslané", "Odoslaná pošta", "Poslano",
    "Poslana pošta", "Poslane", "Poslane stavke", "Poslane poruke", "Poslana sporočila",
    "Poslato", "Послато", "Poslate poruke", "Poslate stavke", "Послате поруке", "Elküldött",
    "Elküldött elemek", "Elküldött levelek", "Elküldött üzenetek", "Elküldve", "Trimis",
    "Trimise", "Mesaje trimise", "Elemente trimise", "Gönderilmiş", "Gönderilmiş Öğeler",
    "Gönderilmiş Postalar", "Gönderilenler", "Gönderilen Öğeler", "Отправленные",
    "Отправленные сообщения", "Отправленные письма", "Надіслані", "Надіслані листи",
    "Надіслані елементи", "Відправлені", "Адпраўленыя", "Изпратени", "Изпратени елементи",
    "Изпратени съобщения", "Изпратена поща", "Απεσταλμένα", "Σταλμένα", "Στάλθηκαν", "נשלח",
    "נשלחו", "דואר יוצא", "פריטים שנשלחו", "المرسل", "المرسلة", "البريد المرسل",
    "العناصر المرسلة", "الرسائل المرسلة", "ارسال شده", "موارد ارسال شده", "فرستاده شده",
    "送信済み", "送信済みメール", "送信済みアイテム", "送信済みトレイ", "送信済みメッセージ", "已发送", "已发送邮件", "已发邮件", "已发送消息",
    "已寄出", "已傳送", "已傳送郵件", "寄件備份", "已傳送的郵件", "寄件備份匣", "보낸편지함", "보낸 편지함", "보낸 메일함", "보낸메일함",
    "보낸 항목", "Terkirim", "Item Terkirim", "Dihantar", "Item Dihantar", "Mel Dihantar",
    "Đã gửi", "Thư đã gửi", "Mục đã gửi", "ส่งแล้ว", "จดหมายที่ส่ง", "จดหมายที่ส่งแล้ว",
    "รายการที่ส่ง", "भेजा गया", "भेजे गए", "भेजे गए आइटम", "भेजे गए मेल", "पाठवलेले",
    "পাঠানো", "அனுப்பியவை", "పంపినవి", "ಕಳುಹಿಸಿದ", "അയച്ചവ", "મોકલેલા", "بھیجے گئے",
    "Испратени", "Dërguar", "Gestuur", "Anfonwyd", "Eitemau a anfonwyd", "Sendur",
    "Sendir hlutir", "გაგზავნილი", "Ուղարկված", "Göndərilmiş", "Жіберілген", "Илгээсэн",
    "Naipadala", "Ipinadala", "Zilizotumwa", "የተላከ", "បានផ្ញើ", "ສົ່ງແລ້ວ", "ပို့ပြီး",
    "යැවූ",
};

static const char *const draft_names[] = {
    "Draft", "Drafts", "Outbox", "Unsent", "Unsent Messages", "Scheduled", "Templates",
    "Entwurf", "Entwürfe", "Postausgang", "Vorlagen", "Geplant", "Brouillon", "Brouillons",
    "Boîte d'envoi", "Programmé", "Programmés", "Borrador", "Borradores",
    "Bandeja de salida", "Programados", "Rascunho", "Rascunhos", "Caixa de saída",
    "Programado", "Agendados", "Esborrany", "Esborranys", "Zirriborroak", "Bozza", "Bozze",
    "Posta in uscita", "Programmati", "Programmata", "Concept", "Concepten", "Postvak UIT",
    "Gepland", "Utkast", "Utkorgen", "Kladde", "Kladder", "Udkast", "Udbakke", "Utboks",
    "Luonnokset", "Lähtevät", "Mustandid", "Melnraksti", "Juodraščiai", "Kopie robocze",
    "Szkice", "Wersje robocze", "Skrzynka nadawcza", "Koncepty", "Rozepsané", "Rozpísané",
    "Skice", "Nacrti", "Osnutki", "Piszkozatok", "Piszkozat", "Vázlatok", "Ciorne", "Schițe",
    "Taslak", "Taslaklar", "Черновик", "Черновики", "Чернетки", "Чернови", "Исходящие",
    "Πρόχειρα", "טיוטות", "المسودات", "مسودات", "پیش نویس", "پیش نویس ها", "下書き",
    "送信トレイ", "草稿", "草稿箱", "草稿匣", "发件箱", "寄件匣", "임시보관함",
    "임시 보관함", "보낼 편지함", "Draf", "Konsep", "Bản nháp", "Thư nháp", "แบบร่าง",
    "ร่างจดหมาย", "ड्राफ़्ट",
};

/* clang-format on */

/* Without case, width, punctuation, needless spaces and the marks on letters that some write
 * and some do not, such as the vowels of Arabic. */
static char *
fold_name(const char *name)
{
    g_autofree char *valid = g_utf8_make_valid(name, -1);
    g_autofree char *plain = g_utf8_normalize(valid, -1, G_NORMALIZE_ALL_COMPOSE);
    g_autofree char *folded = g_utf8_casefold(plain, -1);
    g_autoptr(GString) bare = g_string_new(NULL);

    for (const char *p = folded; *p != 0; p = g_utf8_next_char(p)) {
        gunichar c = g_utf8_get_char(p);
        if (g_unichar_isalnum(c) || g_unichar_type(c) == G_UNICODE_SPACING_MARK)
            g_string_append_unichar(bare, c);
    }
    return g_string_free(g_steal_pointer(&bare), FALSE);
}

static void
add_names(GHashTable *table, const char *const *names, gsize count, FolderRole role)
{
    for (gsize i = 0; i < count; i++)
        g_hash_table_insert(table, fold_name(names[i]), GINT_TO_POINTER(role));
}

static gpointer
make_table(gpointer unused G_GNUC_UNUSED)
{
    GHashTable *table = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

    add_names(table, sent_names, G_N_ELEMENTS(sent_names), FOLDER_SENT);
    add_names(table, draft_names, G_N_ELEMENTS(draft_names), FOLDER_DRAFTS);
    return table;
}

static FolderRole
role_of_part(const char *part)
{
    static GOnce once = G_ONCE_INIT;
    GHashTable *table = g_once(&once, make_table, NULL);
    g_autofree char *decoded = imap_name_decode(part);
    g_autofree char *folded = fold_name(decoded != NULL ? decoded : part);

    return (FolderRole)GPOINTER_TO_INT(g_hash_table_lookup(table, folded));
}

FolderRole
folder_role(const char *name)
{
    g_auto(GStrv) parts = g_strsplit_set(name, "/.", -1);
    FolderRole role = role_of_part(name);

    for (guint i = g_strv_length(parts); i > 0 && role == FOLDER_OTHER; i--)
        role = role_of_part(parts[i - 1]);
    return role;
}

/* A label that holds a comma stands in quotes: "Sent, but not by me" is one. */
char **
folder_split_labels(const char *labels)
{
    g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
    g_autoptr(GString) label = g_string_new(NULL);
    gboolean quoted = FALSE;

    for (const char *p = labels;; p++) {
        if (*p == '"') {
            quoted = !quoted;
        } else if (*p == '\0' || (*p == ',' && !quoted)) {
            g_strv_builder_add(builder, label->str);
            g_string_truncate(label, 0);
        } else {
            g_string_append_c(label, *p);
        }
        if (*p == '\0')
            return g_strv_builder_end(builder);
    }
}

static gboolean
is_among(const char *label, char *const *names)
{
    g_autofree char *folded = fold_name(label);

    for (; *names != NULL; names++) {
        g_autofree char *name = fold_name(*names);
        if (*name != '\0' && g_str_equal(name, folded)) /* no label is none of them */
            return TRUE;
    }
    return FALSE;
}

static FolderRole
role_of_label(const char *label, char *const *sent)
{
    if (sent != NULL && is_among(label, sent))
        return FOLDER_SENT;
    FolderRole role = role_of_part(label);
    return sent != NULL && role == FOLDER_SENT ? FOLDER_OTHER : role;
}

FolderRole
folder_role_of_labels(const char *labels, char *const *sent)
{
    g_auto(GStrv) parts = folder_split_labels(labels);
    FolderRole role = FOLDER_OTHER;

    for (char **part = parts; *part != NULL && role != FOLDER_DRAFTS; part++)
        role = MAX(role, role_of_label(*part, sent));
    return role;
}
