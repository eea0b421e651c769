#include "lib/mail-private.h"

#include <string.h>

#include "lib/lookalike.h"

/* What mail programs write, in the languages they speak. Compared without accents, case and
 * width, so each stands here once; words of one kind are separated by |. */
typedef struct {
    MailWord word;
    const char *names;
} MailWordRow;

static const MailWordRow labels[] = {
    {MAIL_WORD_FROM,
     "nork|oddi wrth|ó|daripada|mula kay|kimdən|mingħand|kutoka|sender|author|autor|auteur|"
     "šalje|expeditorul|avsendar|sendandi|remitent|igorlea|дасылаючы|адпраўнік|изпращач|"
     "пошиљалац|prej|dërguesi|প্রেরক|থেকে|प्रेषक|from|von|absender|de|expéditeur|da|dal|"
     "mittente|remitente|remetente|van|afzender|från|avsändare|fra|afsender|avsender|frá|"
     "lähettäjä|keneltä|od|nadawca|odesílatel|odosielateľ|pošiljatelj|feladó|от|от кого|"
     "отправитель|від|від кого|подател|gönderen|kimden|από|αποστολέας|de la|expeditor|"
     "saatja|nuo|siuntėjas|sūtītājs|nga|dari|pengirim|từ|người gửi|จาก|ผู้ส่ง|מאת|من|المرسل|"
     "از|发件人|寄件者|寄件人|差出人|送信者|送信元|보낸 사람|보낸이|발신|발신자|od "
     "koga|од|кімнен|გამგზავნი|ვისგან|ումից|"
     "ուղարկող|அனுப்புநர்|அனுப்பியவர்|పంపినవారు|నుండి|منجانب|فرستنده|ከ|ពី|minn|vun|ад|"
     "ад каго|хэнээс|बाट|ಇಂದ|ಇವರಿಂದ|അയച്ചത്|പ്രേഷകൻ|પ્રેષક|ਵੱਲੋਂ|kimdan|ຈາກ|වෙතින්|မှ|보낸사람"},
    {MAIL_WORD_DATE,
     "päivä|датум|datë|दिनांक|तारीख|date|datum|fecha|data|dato|päivämäärä|päiväys|pvm|dátum|"
     "dňa|дата|tarih|ημερομηνία|kuupäev|datums|tanggal|ngày|วันที่|תאריך|تاريخ|التاريخ|日期|"
     "時間|日付|日時|날짜|일시|তারিখ|ամսաթիվ|თარიღი|தேதி|తేదీ|تاریخ|petsa|ቀን|កាលបរិច្ឆេទ|огноо|"
     "मिति|"
     "ದಿನಾಂಕ|തീയതി|તારીખ|ਮਿਤੀ|sana|ວັນທີ|දිනය|ရက်စွဲ"},
    {MAIL_WORD_DATE | MAIL_WORD_SENT,
     "saatmisaeg|bidalia|anfonwyd|seolta|dihantar|ipinadala|göndərilib|mibgħut|ilitumwa|"
     "gestuur|data trimiterii|sendt den|geschickt|verstuurd|dato sendt|skrevet|napsáno|"
     "дата отправки|poslano dne|보낸 시간|發送時間|傳送時間|sent|sent at|sent "
     "on|gesendet|gesendet am|"
     "envoyé|envoyé le|date d'envoi|enviado|enviado el|fecha de envío|enviada|enviada em|"
     "enviado em|inviato|inviata|data invio|verzonden|verzonden op|skickat|skickades|sendt|"
     "sendt dato|lähetetty|wysłano|wysłane|data wysłania|odesláno|odoslané|küldve|elküldve|"
     "küldés dátuma|отправлено|отправлен|надіслано|відправлено|изпратено|poslano|poslato|"
     "gönderildi|gönderilme|gönderme tarihi|εστάλη|στάλθηκε|trimis|saadetud|nosūtīts|"
     "išsiųsta|enviat|dikirim|đã gửi|gửi|ส่ง|נשלח|تاريخ "
     "الإرسال|أرسلت|发送时间|发送日期|寄件日期|傳送日期|"
     "送信日時|送信日|보낸 날짜|보낸날짜|送信|পাঠানো "
     "হয়েছে|প্রেরিত|dërguar|испратено|жіберілді|göndərildi|"
     "გაგზავნილია|ուղարկված է|ուղարկվել է|அனுப்பியது|పంపిన తేదీ|పంపబడింది|भेजा गया|पाठवले|"
     "ارسال کردہ|بھیجا گیا|ارسال شده|የተላከው|បានផ្ញើ|geschéckt|адпраўлена|илгээсэн|पठाइयो|"
     "ಕಳುಹಿಸಲಾಗಿದೆ|അയച്ച തീയതി|મોકલ્યું|ਭੇਜਿਆ|yuborildi|ສົ່ງແລ້ວ|යැවුවේ|ပို့ပြီး|sendita|"
     "air a chur"},
    {MAIL_WORD_TO,
     "adressaat|nori|chuig|prima|destinatarul|destinatari|primatelj|prejemnik|příjemce|"
     "príjemca|адрасат|получател|прима|për|gavėjas|प्रति|প্রতি|প্রাপক|to|an|empfänger|à|a|"
     "destinataire|destinataires|para|destinatario|destinatário|per|aan|geadresseerde|till|"
     "mottagare|til|modtager|mottaker|vastaanottaja|kenelle|do|komu|adresat|za|címzett|"
     "címzettek|кому|получатель|до|до кого|kime|alıcı|προς|παραλήπτης|către|saaja|kellele|"
     "kam|kepada|untuk|đến|tới|người "
     "nhận|ถึง|אל|إلى|المستلم|به|收件人|收件者|宛先|送信先|受信者|받는 사람|"
     "받는이|받은이|수신|수신자|recipient|recipients|drejt|кімге|kimə|ადრესატი|ვის|ում|ստացող|"
     "பெறுநர்|"
     "వీరికి|بنام|گیرنده|kwa|para kay|ለ|ទៅ|ជូន|lil|un|каму|хэнд|लाई|ಗೆ|ಇವರಿಗೆ|സ്വീകർത്താവ്|"
     "પ્રતિ|ਨੂੰ|kimga|ຫາ|වෙත|သို့|gu|받는사람"},
    {MAIL_WORD_CC,
     "cc|copie|copie à|kopie|copia|cópia|con copia|kopia|kopi|kopio|dw|do wiadomości|"
     "másolat|másolatot kap|копия|копія|bilgi|κοιν|κοινοποίηση|抄送|副本|참조|עותק|نسخة|"
     "สำเนา|tembusan|kópia|c.c|bcc"},
    {MAIL_WORD_SUBJECT,
     "pwnc|ábhar|subiectul|titlu|тэма|tema|subjekt|lënda|विषय|বিষয়|efni|subject|betreff|"
     "betr|objet|sujet|asunto|assunto|assumpte|oggetto|onderwerp|ämne|emne|aihe|otsikko|"
     "temat|předmět|věc|predmet|tárgy|тема|предмет|относно|konu|θέμα|subiect|teema|pealkiri|"
     "temats|zadeva|naslov|subjek|perihal|gaia|chủ đề|tiêu đề|เรื่อง|หัวเรื่อง|נושא|הנדון|"
     "الموضوع|موضوع|主题|主題|主旨|标题|標題|件名|題名|제목|subjekti|тақырып|тақырыбы|mövzu|"
     "თემა|թեմա|"
     "பொருள்|విషయం|عنوان|mada|paksa|ርዕሰ ጉዳይ|ርዕስ|ប្រធានបទ|suġġett|сэдэв|ವಿಷಯ|വിഷയം|વિષય|"
     "ਵਿਸ਼ਾ|mavzu|ຫົວຂໍ້|විෂය|විෂයය|အကြောင်းအရာ|temo|cuspair"},
    {MAIL_WORD_TRACE,
     "received|message-id|return-path|mime-version|content-type|delivered-to"},
};

static const MailWordRow prefixes[] = {
    {MAIL_WORD_FORWARD,
     "weiterleitung|weitergel|inoltra|rinvio|fw|fwd|fwrd|redir|videresend|vidaresendt|"
     "doorsturen|transfert|framsenda|reenviar|"
     "ilet|προωθημένο|reenvío|reencaminhada|forward|forwarded|wg|weitergeleitet|wtrlt|tr|"
     "trf|transf|transféré|rv|reenv|reenviado|i|inoltro|inoltrato|enc|encaminhado|"
     "encaminhada|doorst|doorgestuurd|vb|vidarebefordrat|videresendt|videres|fs|vl|"
     "välitetty|pd|podaj dalej|przekazane|přeposláno|preposlané|továbbítás|továbbítva|"
     "továbbküldés|"
     "továbbítom|пересл|переслано|переслать|пересылаю|перенаправлено|перенапр|препратено|"
     "ilt|iletilen|iletildi|προωθ|πρθ|προώθηση|redirecționat|prosl|proslijeđeno|"
     "prosleđeno|posredovano|edasi|edastatud|pārsūtīts|persiųsta|trs|terusan|yml|"
     "birbidalia|chuyển tiếp|ct|ส่งต่อ|הועבר|إعادة توجيه|محول|هدایت|转发|轉寄|转寄|轉發|"
     "転送|전달|转|пд|wtr|posr|препр|pārsūt"},
    /* Finnish answers and Danish or Norwegian forwards begin the same. */
    {MAIL_WORD_FORWARD | MAIL_WORD_REPLY, "vs"},
    {MAIL_WORD_REPLY,
     "re|aw|antw|antwort|rép|réf|res|resp|r|rif|sv|vá|válasz|odp|od|ynt|yan|atb|απ|σχετ|"
     "bls|balas|trả lời|ตอบกลับ|השב|תגובה|رد|رد على|回复|回覆|答复|答覆|返信|회신|답장|"
     "отв|ответ|на|відп|ext|external|extern|spam|auto|automatic reply|was|update|urgent"},
};

/* Lines between or before messages. The second kind belongs to answers: they quote, but are no
 * forward to those who take part. */
static const MailWordRow markers[] = {
    {MAIL_WORD_FORWARD,
     "this is a forwarded message|dies ist eine weitergeleitete nachricht|"
     "это пересылаемое сообщение|start of forwarded message|"
     "beginn der weitergeleiteten nachricht|přeposlaný e-mail|přeposlaný email|"
     "пересылаемого сообщения|以下是转发邮件内容|転送者|转发人|轉呈者|przesłane przez|"
     "przekazane przez|předáno uživatelem|תחילת ההודעה שהועברה|بداية الرسالة المعاد توجيهها|"
     "เริ่มข้อความที่ส่งต่อ|mulai pesan terusan|memulai pesan yang diteruskan|"
     "započni proslijeđenu poruku|továbbított levél kezdete|începe mesajul redirecționat|"
     "ileti başlangıcı|перенаправлене повідомлення|メッセージを転送|mensaxe reunviáu|"
     "mensaje remitido|накіраваны ліст|dalej pósrědnjona powěsć|dale sposrědkowana powěsć|"
     "trochstjoerd berjocht|teachtaireacht ar aghaidh|փոխանցվող նամակը|áframsendur póstur|"
     "vidaresend melding|messadi renvià|mesazhi i përcjellë|"
     "anfang der weitergeleiteten e-mail|anfang der weitergeleiteten mail|رسالة ممررة|"
     "បានបញ្ជូនសារបន្ត|forwarded message|forwarded mail|forwarded email|forwarded e-mail|"
     "forwarded by|forwarded letter|included message|begin forwarded message|"
     "message forwarded|weitergeleitete nachricht|weitergeleitete e-mail|"
     "weitergeleitete mail|weitergeleitet von|anfang der weitergeleiteten nachricht|"
     "weitergeleitete nachricht von|message transféré|message réexpédié|message transmis|"
     "courriel transféré|e-mail transféré|mail transféré|transféré par|réacheminé par|"
     "transmis par|début du message transféré|début du message réexpédié|mensaje reenviado|"
     "correo reenviado|reenviado por|remitido por|inicio del mensaje reenviado|"
     "mensaje transmitido|missatge reenviat|inici del missatge reenviat|mensaxe reenviada|"
     "mensagem encaminhada|mensagem reencaminhada|e-mail encaminhado|encaminhado por|"
     "início da mensagem encaminhada|início da mensagem reencaminhada|messaggio inoltrato|"
     "inizio messaggio inoltrato|inizio del messaggio inoltrato|inoltrato da|mail inoltrata|"
     "e-mail inoltrata|doorgestuurd bericht|begin doorgestuurd bericht|doorgestuurde e-mail|"
     "doorgezonden bericht|doorgestuurd door|vidarebefordrat meddelande|"
     "vidarebefordrat brev|vidarebefordrat mejl|vidarebefordrade meddelandet|"
     "början på vidarebefordrat|vidarebefordrat av|videresendt meddelelse|"
     "videresendt besked|videresendt melding|videresendt mail|videresendt e-post|"
     "start på videresendt besked|start på videresendt melding|videresendt af|"
     "videresendt av|framsent skeyti|áframsend skilaboð|välitetty viesti|"
     "edelleenlähetetty viesti|välitetty viesti alkaa|alkaa välitetty viesti|"
     "edelleen lähetetty viesti|przekazana wiadomość|treść przekazanej wiadomości|"
     "przekazywana wiadomość|wiadomość przekazana|początek przekazywanej wiadomości|"
     "początek przekazanej wiadomości|przesłana dalej wiadomość|wiadomość przesłana dalej|"
     "přeposlaná zpráva|přeposílaná zpráva|začátek přeposlané zprávy|"
     "začátek přeposílané zprávy|předávaná zpráva|preposlaná správa|"
     "začiatok preposlanej správy|továbbított üzenet|továbbított levél|"
     "továbbított üzenet kezdete|posredovano sporočilo|proslijeđena poruka|"
     "prosleđena poruka|прослеђена порука|пересылаемое сообщение|пересланное сообщение|"
     "пересылаемое письмо|пересланное письмо|перенаправленное сообщение|"
     "начало переадресованного сообщения|начало пересылаемого сообщения|"
     "переадресованное сообщение|переслане повідомлення|пересланий лист|"
     "переадресоване повідомлення|початок переадресованого повідомлення|"
     "початок листа, що пересилається|препратено съобщение|начало на препратеното съобщение|"
     "iletilen ileti|iletilen mesaj|iletilmiş ileti|iletilmiş mesaj|yönlendirilmiş ileti|"
     "yönlendirilen mesaj|iletilen ileti başlangıcı|προωθημένο μήνυμα|"
     "αρχή προωθημένου μηνύματος|προωθούμενο μήνυμα|mesaj redirecționat|mesaj transmis|"
     "mesaj înaintat|edastatud kiri|edastatud sõnum|pārsūtīta vēstule|pārsūtīts ziņojums|"
     "persiųstas laiškas|persiųsta žinutė|birbidalitako mezua|pesan terusan|"
     "pesan diteruskan|pesan yang diteruskan|mesej dimajukan|thư chuyển tiếp|"
     "thư được chuyển tiếp|tin nhắn được chuyển tiếp|bắt đầu thư được chuyển tiếp|"
     "ข้อความที่ส่งต่อ|จดหมายที่ส่งต่อ|הודעה שהועברה|התחלת הודעה שהועברה|הודעה מועברת|"
     "رسالة معاد توجيهها|رسالة محولة|الرسالة المعاد توجيهها|بداية الرسالة المحولة|"
     "پیام هدایت شده|پیام فوروارد شده|转发的邮件|转发的消息|转发邮件|转发邮件信息|转发信息|"
     "已转发邮件|被转发的邮件|下面是被转发的邮件|以下是转发的邮件|轉寄的郵件|轉寄郵件|"
     "轉寄訊息|轉寄的訊息|轉發郵件|開始轉寄郵件|以下是轉寄的郵件|已轉寄郵件|転送メッセージ|"
     "転送されたメッセージ|転送メール|転送されたメール|전달된 메시지|전달된 메일|"
     "전달된 이메일|전달 메시지|전달된 메시지 시작"},
    {MAIL_WORD_REPLY,
     "replied message|回复的原邮件|回复的邮件|původní e-mail|původní email|pôvodný e-mail|"
     "mail original|original-nachricht|ursprüngliche mitteilung|mensaxe orixinal|зыходны ліст|"
     "оригинално писмо|originalna powěsć|jatorrizko mezua|oarspronklik berjocht|"
     "missatge original|upprunalegur póstur|opphavleg melding|messadi original|"
     "mesajul original|mesazhi origjinal|treść oryginalnej wiadomości|原始消息|원본 이메일|"
     "oorspronklike boodskap|օրիգինալ նամակը|საწყისი წერილი|оригинална порака|मूल संदेश|"
     "original message|original mail|original email|original appointment|"
     "ursprüngliche nachricht|originalnachricht|ursprünglicher termin|message d'origine|"
     "message original|courriel original|mensaje original|correo original|mensagem original|"
     "messaggio originale|messaggio originario|oorspronkelijk bericht|origineel bericht|"
     "ursprungligt meddelande|originalmeddelande|ursprungligt mejl|oprindelig meddelelse|"
     "original meddelelse|opprinnelig melding|originalmelding|alkuperäinen viesti|"
     "oryginalna wiadomość|wiadomość oryginalna|původní zpráva|pôvodná správa|"
     "eredeti üzenet|izvorna poruka|izvirno sporočilo|originalna poruka|исходное сообщение|"
     "оригинальное сообщение|початкове повідомлення|вихідне повідомлення|"
     "оригінальне повідомлення|оригинално съобщение|özgün ileti|orijinal ileti|"
     "orijinal mesaj|αρχικό μήνυμα|mesaj original|mesaj inițial|algne kiri|algsõnum|"
     "sākotnējais ziņojums|originalus laiškas|pesan asli|thư gốc|tin nhắn gốc|"
     "ข้อความต้นฉบับ|הודעה מקורית|الرسالة الأصلية|پیام اصلی|原始邮件|原始郵件|原始訊息|"
     "元のメッセージ|オリジナルメッセージ|원본 메시지|원본 메일|원본메일"},
};

/* Markers of answers that are words of every trade where another word follows. */
static const char alone[] = "original|原件";

/* Words for "forwarded", as far as they do not change with what is forwarded, and for how. */
static const char forwarded[] =
    "edasisaadetud|edasi saadetud|reenviat|meneruskan|dikirim semula|ফরোয়ার্ড|předal(a)|"
    "forwarded|weitergeleitet|weitergesandt|réexpédi|réachemin|message redirigé|reenviad|"
    "redirigido|remitido por|reexpedi|encaminhad|inoltrat|doorgestuurd|doorgezonden|"
    "aangestuurde|vidarebefordr|videresend|framsend|framsent|välitetty|edelleenlähet|"
    "edelleen lähet|przekazan|przesłana wiadomość|wiadomość przesłana|přeposlan|"
    "přeposílan|předaná zpráva|preposlan|preposielan|továbbított|proslijeđen|prosleđen|"
    "posredovan|preusmerjen|redirecționat|transmis mai departe|edastatud|pārsūtīt|persiųst|"
    "birbidali|diteruskan|terusan|dimajukan|chuyển tiếp|përcjell|ipinasang|uliosambazwa|"
    "ar aghaidh|hanfon ymlaen|mibgħut|iletilen|iletilmiş|yönlendirilen|yönlendirilmiş|"
    "yönləndiril|yoʻnaltirilgan|yo'naltirilgan|йўналтирилган|пересл|пересыл|переадрес|"
    "перенаправ|пераадрас|odluliselwe|пераслан|перасыл|накіраван|перенакірав|препрат|"
    "прослеђен|прослијеђен|"
    "проследен|қайта жіберілген|дамжуулсан|προωθ|გადაგზავნილ|გადამისამართ|փոխանցված|"
    "վերահասցեագրված|הועבר|מועבר|נשלחה הלאה|توجيه|محولة|المحول|ممررة|بازارسال|"
    "هدایت شده|هدایت\u200cشده|فوروارد|ارسال مجدد|آگے بھیج|فارورڈ|अग्रेषित|फॉरवर्ड|"
    "फ़ॉरवर्ड|आगे भेज|पुनः प्रेषित|ফরওয়ার্ড|অগ্রেষিত|முன்னனுப்பிய|பகிரப்பட்ட|"
    "ఫార్వార్డ్|ఫార్వర్డ్|ಫಾರ್ವರ್ಡ್|കൈമാറിയ|ഫോർവേഡ്|ફૉરવર્ડ|ફોરવર્ડ|ਅੱਗੇ ਭੇਜ|"
    "ඉදිරියට යැවූ|ส่งต่อ|ສົ່ງຕໍ່|បញ្ជូនបន្ត|ထပ်ဆင့်|የተላለፈ|转发|轉發|轉寄|转寄|転送|전달|"
    "포워드|포워딩";

/* Words that Apple Mail puts before or, in some languages, behind "the forwarded message:". */
static const char begins[] =
    "begin|start|anfang|début|inicio|início|inici|inizio|början|alkaa|początek|začátek|"
    "začiatok|začetek|početak|započni|почетак|kezdete|începutul|începe|αρχή|начало|початок|"
    "пачатак|algus|sākums|pradžia|başlangıcı|hasiera|upphaf|dechrau|tús|bắt đầu|mulai|เริ่ม|"
    "시작|开始|開始|תחילת|התחלת|بداية|شروع|आरंभ|शुरू|শুরু";

/* The verb of "On … wrote:". Lines with a date or an address need none. */
static const char verbs[] =
    "pisze|님이 씀|가 씀|ने लिखा|লিখেছেন|idatzi du|ysgrifennodd|எழுதி|రాశారు|लिहिले|لکھا|"
    "wrote|writes|geschrieben|geschreven|skreiv|skrifaði|escribiu|ha escrit|idatzi zuen|"
    "напісаў|написа|shkroi|ha scrit|skreau|scríobh|գրել է|写于|쓴 글|yazmış|schrieb|"
    "écrit|escribió|escribía|ha scritto|scrisse|escreveu|schreef|skrev|kirjoitti|napisał|"
    "napsal|napísal|napisao|napisal|írta|írja|написал|написав|пише|пишет|писал|yazdı|"
    "έγραψε|a scris|kirjutas|rakstīja|rašė|va escriure|menulis|đã viết|เขียนว่า|כתב|كتب|"
    "نوشت|写道|寫道|书写|書きました|のメール|작성|님이 쓴|skribis|geskryf|aliandika|ጻፈ|ጽፏል|"
    "បានសរសេរ|бичсэн|ຂຽນວ່າ|წერდა|დაწერა|ಬರೆದಿದ್ದಾರೆ|എഴുതി|લખ્યું|ਲਿਖਿਆ|ලිවීය|жазды|提到|viết:";

typedef struct {
    GHashTable *labels; /* folded word to MailWord */
    GHashTable *prefixes;
    GHashTable *markers;
    gsize marker_most[256]; /* bytes of the longest that begins with this one */
    char **verbs;           /* folded, as are those below */
    char **begins;
    char **alone;
    char **forwarded;
} Words;

static char *
fold_ascii(const char *text, gsize length)
{
    char *folded = g_malloc(length + 1);
    char *end = folded;

    for (const char *p = text; *p != 0; p++)
        if (*p > ' ' || !g_ascii_isspace(*p))
            *end++ = *p >= 'A' && *p <= 'Z' ? (char)(*p - 'A' + 'a') : *p;
        else if (end > folded && end[-1] != ' ')
            *end++ = ' ';
    end -= end > folded && end[-1] == ' ';
    *end = 0;
    return folded;
}

gboolean
mail_is_colon(gunichar c)
{
    return c == ':' || c == 0xff1a || c == 0x2236 || c == 0xa789 || c == 0x55d ||
           c == 0x1366 || c == 0x17d6;
}

char *
mail_fold(const char *text)
{
    const gsize length = strlen(text);

    if (mail_is_ascii(text, length))
        return fold_ascii(text, length);

    g_autofree char *wide = g_utf8_normalize(text, -1, G_NORMALIZE_NFKD);
    g_autoptr(GString) bare = g_string_new(NULL);
    gboolean space = FALSE;
    for (const char *p = wide; p != NULL && *p != 0; p = g_utf8_next_char(p)) {
        gunichar c = g_utf8_get_char(p);
        if (g_unichar_ismark(c) || g_unichar_type(c) == G_UNICODE_FORMAT)
            continue;
        if (g_unichar_isspace(c)) {
            space = bare->len > 0;
            continue;
        }
        if (space)
            g_string_append_c(bare, ' ');
        space = FALSE;
        g_string_append_unichar(bare, mail_is_colon(c) ? ':' : c);
    }
    g_autofree char *folded = g_utf8_casefold(bare->str, (gssize)bare->len);
    return lookalike_text(folded);
}

static char **
fold_all(const char *names)
{
    char **folded = g_strsplit(names, "|", -1);

    for (char **name = folded; *name != NULL; name++) {
        char *plain = *name;
        *name = mail_fold(plain);
        g_free(plain);
    }
    return folded;
}

static GHashTable *
index_words(gsize n_rows, const MailWordRow *rows)
{
    GHashTable *index = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

    for (gsize i = 0; i < n_rows; i++) {
        g_autofree char **names = fold_all(rows[i].names);
        for (char **name = names; *name != NULL; name++)
            g_hash_table_insert(index, *name, GUINT_TO_POINTER(rows[i].word));
    }
    return index;
}

static void
measure_keys(GHashTable *table, gsize *most)
{
    GHashTableIter iter;
    gpointer key;

    g_hash_table_iter_init(&iter, table);
    while (g_hash_table_iter_next(&iter, &key, NULL)) {
        const guchar first = *(guchar *)key;
        most[first] = MAX(most[first], strlen(key));
    }
}

/* Built once, for all threads; it lives as long as the process. */
static const Words *
words(void)
{
    static Words built;
    static gsize ready;

    if (g_once_init_enter(&ready)) {
        built.labels = index_words(G_N_ELEMENTS(labels), labels);
        built.prefixes = index_words(G_N_ELEMENTS(prefixes), prefixes);
        built.markers = index_words(G_N_ELEMENTS(markers), markers);
        measure_keys(built.markers, built.marker_most);
        built.verbs = fold_all(verbs);
        built.begins = fold_all(begins);
        built.alone = fold_all(alone);
        built.forwarded = fold_all(forwarded);
        g_once_init_leave(&ready, 1);
    }
    return &built;
}

MailWord
mail_word_label(const char *folded)
{
    return GPOINTER_TO_UINT(g_hash_table_lookup(words()->labels, folded));
}

MailWord
mail_word_prefix(const char *folded)
{
    return GPOINTER_TO_UINT(g_hash_table_lookup(words()->prefixes, folded));
}

gboolean
mail_word_may_mark(char first, gsize length)
{
    return length <= words()->marker_most[(guchar)g_ascii_tolower(first)];
}

/* Not "forwarded messages" for "forwarded message". */
static gboolean
begins_with(const char *folded, const char *phrase)
{
    const gsize length = strlen(phrase);

    return strncmp(folded, phrase, length) == 0 &&
           !(g_ascii_isalpha(folded[length]) && g_ascii_isalpha(phrase[length - 1]));
}

static gboolean
ends_with(const char *folded, const char *phrase)
{
    const gsize length = strlen(folded), tail = strlen(phrase);

    return tail <= length && strcmp(folded + length - tail, phrase) == 0 &&
           !(tail < length && g_ascii_isalpha(folded[length - tail - 1]) &&
             g_ascii_isalpha(phrase[0]));
}

static gboolean
stands_in(const char *folded, const char *phrase, MailMarkerPlace place)
{
    switch (place) {
    case MAIL_MARKER_WHOLE:
        return strcmp(folded, phrase) == 0;
    case MAIL_MARKER_FIRST:
        return begins_with(folded, phrase);
    case MAIL_MARKER_EDGE:
        return begins_with(folded, phrase) || ends_with(folded, phrase);
    case MAIL_MARKER_ANYWHERE:
        break;
    }
    return strstr(folded, phrase) != NULL;
}

MailWord
mail_word_marker(const char *folded, MailMarkerPlace place)
{
    MailWord found = MAIL_WORD_NONE;
    GHashTableIter iter;
    gpointer phrase, word;

    if (g_strv_contains((const char *const *)words()->alone, folded))
        return MAIL_WORD_REPLY;
    if (place == MAIL_MARKER_WHOLE)
        return GPOINTER_TO_UINT(g_hash_table_lookup(words()->markers, folded));
    g_hash_table_iter_init(&iter, words()->markers);
    while (found != MAIL_WORD_FORWARD && g_hash_table_iter_next(&iter, &phrase, &word))
        if (stands_in(folded, phrase, place))
            found = GPOINTER_TO_UINT(word);
    return found;
}

static gboolean
has_one_of(char **names, const char *folded)
{
    for (char **name = names; *name != NULL; name++)
        if (strstr(folded, *name) != NULL)
            return TRUE;
    return FALSE;
}

gboolean
mail_word_forwarded(const char *folded)
{
    return has_one_of(words()->forwarded, folded);
}

gboolean
mail_word_forwards(const char *folded)
{
    for (char **name = words()->forwarded; *name != NULL; name++)
        if (g_str_has_prefix(folded, *name) &&
            (strchr(*name, ' ') != NULL || strchr(folded + strlen(*name), ' ') == NULL))
            return TRUE;
    return FALSE;
}

gboolean
mail_word_begins(const char *folded)
{
    for (char **name = words()->begins; *name != NULL; name++)
        if (g_str_has_prefix(folded, *name) || g_str_has_suffix(folded, *name))
            return mail_word_forwarded(folded);
    return FALSE;
}

gboolean
mail_word_verb(const char *folded)
{
    return has_one_of(words()->verbs, folded);
}
