/* mail-private.h - what the files of lib/mail share; for mail*.c only
 *
 * mail-scan reads bytes, mail-field, mail-entries and mail-date the header, mail-part the MIME
 * tree (gmime), mail-text, mail-html, mail-quote and mail-copied the texts in it, mail-words
 * the languages, mail-report reads what mail servers say of a delivery, mail-sealed knows
 * encrypted files. All of them add to one MailReading.
 */
#pragma once

#include "lib/extract.h"

/* One block of memory: there are many of them. */
typedef struct {
    const char *value; /* unfolded; bytes as they came, a NUL is a space */
    char name[];       /* as written, without the colon */
} MailField;

typedef struct {
    Extract *extract;
    GPtrArray *opaque; /* of const char *, static: each reason once */
    GString *text;     /* valid UTF-8, as long as the extract allows */
    GString *html;
    GString *page;        /* the HTML as a browser shows it; for searching, never shown */
    GString *more;        /* texts in other ways to read them; for searching, never shown */
    GString *calendar;    /* invitations, to be shown after the text */
    GString *heads;       /* of attached messages, to be shown after that */
    GPtrArray *attendees; /* of char *, owned: whom they name */
    GPtrArray *bounced;   /* likewise, for the extract */
    GPtrArray *returned;  /* likewise */
    GPtrArray *fields;    /* of MailField *: the header of the message */
    gboolean capped;      /* beyond a cap: gmime must not see it */
    char *small;          /* all bytes of a small message, owned; NULL: read them anew */
    gsize small_size;
} MailReading;

/* Adds a reason why something cannot be shown. why is static. */
void mail_mark(MailReading *reading, const char *why);

/* The same, and what lies beyond was not read: counts are no longer known. */
void mail_mark_capped(MailReading *reading, const char *why);

/* All names of a file as one text, "a.pdf (also named b.exe)"; of a long one the middle is
 * left out, for its end tells what it is (XD12). The caller frees. */
char *mail_join_names(const char *const *names);

/* Adds an attachment, or marks the message when it has too many. name and type are valid
 * UTF-8. */
void mail_add_part(MailReading *reading, const char *name, const char *type, guint64 size,
                   const char *sha256);

/* An empty array for the fields of a reading. */
GPtrArray *mail_fields_new(void);

/* Reads all bytes once, in bounded memory: fields, malformed, capped, and keeps the bytes of a
 * small message. ERROR_TEMP. */
gboolean mail_scan(MailReading *reading, int fd, GError **error);

/* Holds bytes that were hidden in an encoding against the same caps; FALSE when beyond one. */
gboolean mail_scan_bytes(MailReading *reading, const char *bytes, gsize length);

/* Splits a header into unfolded fields (RFC 5322, 2.2.3); bytes without NUL. */
void mail_split_header(MailReading *reading, const char *bytes, gsize length);

/* A list for the extract, each entry once and no more than it takes. */
typedef struct {
    MailReading *reading;
    GPtrArray *entries; /* NULL before the first */
    GHashTable *seen;   /* the same entries; NULL while they are few */
    gsize vain;         /* bytes looked through for an end that never came */
    gboolean unread;    /* something with an @ is no address here, maybe one elsewhere */
} MailEntries;

void mail_entries_start(MailEntries *list, MailReading *reading);

/* Takes entry. */
void mail_entries_add(MailEntries *list, char *entry);

/* *strv_out is replaced by the entries. */
void mail_entries_end(MailEntries *list, char ***strv_out);

/* Adds the normal forms of an address list (RFC 5322, 3.4) as written: encoded words are names
 * and are split off before anybody decodes them (XB12). FALSE when something in it is no
 * address. */
gboolean mail_entries_addresses(MailEntries *list, const char *value);

/* Only ids in angle brackets count, outside comments and quoted strings (T9, XB5, XB6). */
void mail_entries_ids(MailEntries *list, const char *value);

/* <mailto:dev@lists.example.org?subject=x>, more than one allowed (RFC 2369, 3.4). Some write
 * one without brackets. FALSE when one cannot be read. */
gboolean mail_entries_list_post(MailEntries *list, const char *value);

/* <dev.lists.example.org> mostly is dev@lists.example.org (RFC 2919, 2). */
void mail_entries_list_id(MailEntries *list, const char *value);

/* Ids, addresses, doubled fields, lists and marks of the header, all but the subject. */
void mail_read_fields(MailReading *reading);

/* Of these only where the message belongs: ids, From, To and Cc, lists, automatic. */
void mail_read_origin(MailReading *reading);

/* The first field of that name; NULL when there is none. Borrowed. */
const char *mail_field(const MailReading *reading, const char *name);

/* The addresses in every field of that name. *strv_out is replaced. */
void mail_read_addresses(MailReading *reading, const char *name, char ***strv_out);

/* Bytes in a character set that may be a lie, as UTF-8 without NUL. charset may be NULL. */
char *mail_decode(const char *bytes, gsize length, const char *charset);

/* Whether they are the same in UTF-8 and in the character sets that most mail is in. */
gboolean mail_is_ascii(const char *bytes, gsize length);

/* TRUE when no reader makes other letters of the bytes than mail_decode does (XD13). */
gboolean mail_is_certain(const char *bytes, gsize length, const char *charset);

/* Appends a text, after a line break, up to the limit. */
void mail_append(MailReading *reading, GString *all, const char *text);

/* Looks a text over: uuencoded files, blocks, forward markers, quotes.
 * counted: FALSE inside an attached message, whose content counts no more. */
void mail_read_text(MailReading *reading, const char *text, gboolean counted);

/* Marks what only a program can read: encoded and encrypted blocks. */
void mail_find_blocks(MailReading *reading, const char *text);

/* Adds a text to those that are searched for addresses and never shown, as far as it fits. */
void mail_search(MailReading *reading, const char *text);

/* Searches a visiting card (RFC 6350; 2.1 with its own encoding) for addresses. */
void mail_read_card(MailReading *reading, const char *text);

/* Notes whom an invitation names (XB22), and what it says, in whole lines. */
void mail_read_calendar(MailReading *reading, const char *text);

/* TRUE for a part that reports on a delivery (RFC 3464), or has the header of what came back
 * (RFC 6522, 4). */
gboolean mail_is_report(const char *type);

/* Notes what such a part says: the recipients that failed, the id of what came back. */
void mail_read_report(MailReading *reading, const char *type, const char *bytes, gsize length);

/* Notes the id of an attached message by its header. */
void mail_read_returned(MailReading *reading, const char *header, gsize length);

/* TRUE when two texts have the same words in the same order, however they are laid out. */
gboolean mail_same_words(const char *one, const char *other);

/* HTML as text: whatever is no tag, texts and links in attributes, blockquotes behind "> ". */
char *mail_render_html(const char *html);

/* The same without what a browser does not show: letters of an address or a marker come
 * together again that comments or attributes stood between. */
char *mail_render_page(const char *html);

/* The same with the line ends of the source, for pages that show them by their style. NULL
 * when this one does not. */
char *mail_render_lines(const char *html);

/* text/enriched (RFC 1896) and text/richtext (RFC 1341) as text. */
char *mail_render_enriched(const char *text);

/* RTF as text: its groups, also hidden ones, and the letters that its words stand for. */
char *mail_render_rtf(const char *text);

/* The character that the entity at p, a "&", stands for, and where the text goes on; 0 when it
 * is none. */
gunichar mail_entity(const char *p, const char **end_out);

/* TRUE when a decoded subject begins, or ends, as forwards do in some language. */
gboolean mail_subject_forwards(const char *subject);

/* Sets what it finds to TRUE: a forward marker line, a quoted copy of another message. */
void mail_find_quotes(const char *text, gboolean *forward, gboolean *quoted);

/* A text with the lines that were only broken to be sent put together again (RFC 3676), the
 * space at the break taken out where delsp says so. NULL when no line goes on. */
char *mail_join_lines(const char *text, gboolean delsp);

/* A text with a line feed for every other sign that Unicode breaks lines at (UAX #14). NULL
 * when it has none of them. */
char *mail_break_lines(const char *text);

/* What a line looks like, whatever its language: a short name and a colon, and behind them a
 * mailbox or a point in time. Bits. */
typedef enum {
    MAIL_SHAPE_NONE = 0,
    MAIL_SHAPE_LABEL = 1 << 0,
    MAIL_SHAPE_MAILBOX = 1 << 1,
    MAIL_SHAPE_NAMED = 1 << 2, /* a mailbox in brackets, as behind a name */
    MAIL_SHAPE_DATE = 1 << 3
} MailShape;

MailShape mail_line_shape(const char *folded);

/* Header lines that are known by their looks alone. */
typedef struct {
    guint labels;
    guint mailboxes;
    guint named; /* of those */
    guint dates;
    guint gap;       /* lines since the last of them */
    gboolean from;   /* one is known to name the author */
    gboolean marked; /* below a line that a forward would begin with */
} MailShapes;

/* The header of a message that a mail program copied, as far as it was read. */
typedef struct {
    guint labels;     /* bits of MailWord */
    gboolean address; /* in one of its lines */
    gboolean filled;  /* something stands behind a name, or below it */
    gboolean sender;  /* behind "from", a name and its mailbox */
    gboolean odd;     /* a name ends in another sign than a colon */
    gboolean columns; /* the names stand above, as in a table of messages */
    guint gap;        /* lines since the last that is known by its words */
    MailShapes shapes;
} MailCopied;

/* Behind "1. ", "(2) " or "a) " before an entry of a list. */
const char *mail_skip_number(const char *folded);

/* Takes the next line that is not empty, and sets to TRUE what the lines so far are: a copied
 * header, and one below a marker. marked: the line above could be such a marker. */
void mail_copied_look(MailCopied *copied, const char *folded, gboolean marked,
                      gboolean *forward, gboolean *quoted);

/* Takes a line that is none of a header. */
void mail_copied_pass(MailCopied *copied, gboolean marked);

/* The dashes, stars or the like around a line. */
typedef enum {
    MAIL_FRAME_NONE,
    MAIL_FRAME_OPEN,   /* only at its beginning */
    MAIL_FRAME_CLOSED, /* at both ends */
    MAIL_FRAME_LONG,   /* the same, longer than a person types it */
    MAIL_FRAME_WIDE,   /* the same as mail programs do it above a forwarded message */
    MAIL_FRAME_RULE    /* nothing else */
} MailFrame;

MailFrame mail_line_frame(const char *folded);

/* How many signs that are no letter, digit, bracket or quotation mark stand at each end of a
 * line, at the poorer one. */
guint mail_line_signs(const char *folded);

/* Cuts signs and colons off both ends in place; returns the rest, and how many signs went
 * beside those that end a sentence. */
char *mail_strip_decoration(char *line, guint *cut_out);

/* Letters set apart, "f o r w a r d e d", with one sign between them, as a word; NULL when the
 * phrase has other words. The caller frees. */
char *mail_join_letters(const char *phrase);

/* What a word says about the line or subject it begins. The kinds of header lines are bits. */
typedef enum {
    MAIL_WORD_NONE = 0,
    MAIL_WORD_FROM = 1 << 0,
    MAIL_WORD_DATE = 1 << 1,
    MAIL_WORD_TO = 1 << 2,
    MAIL_WORD_CC = 1 << 3,
    MAIL_WORD_SUBJECT = 1 << 4,
    MAIL_WORD_TRACE = 1 << 7, /* what only programs write */
    MAIL_WORD_REPLY = 1 << 5, /* an answer, or a tag before the real prefix */
    MAIL_WORD_FORWARD = 1 << 6,
    MAIL_WORD_SENT = 1 << 8 /* beside MAIL_WORD_DATE: only messages have it */
} MailWord;

/* A text without accents, invisible characters, needless spaces, differences of case and
 * width: the form in which the words below are compared. */
char *mail_fold(const char *text);

/* A colon, or what some scripts write in its place: Armenian, Ethiopic, Khmer. mail_fold makes
 * it one. */
gboolean mail_is_colon(gunichar c);

MailWord mail_word_label(const char *folded);  /* "from" before a colon */
MailWord mail_word_prefix(const char *folded); /* "fwd" before a colon in a subject */

/* Where in a line the words of a marker may stand. */
typedef enum {
    MAIL_MARKER_WHOLE, /* and nothing else does */
    MAIL_MARKER_FIRST,
    MAIL_MARKER_EDGE, /* first or last */
    MAIL_MARKER_ANYWHERE
} MailMarkerPlace;

/* A line between or before messages: forward, reply or none. */
MailWord mail_word_marker(const char *folded, MailMarkerPlace place);

/* TRUE when a word for "forwarded" is in it: enough for a framed line, where a sentence would
 * not stand. */
gboolean mail_word_forwarded(const char *folded);

/* The same for what is that word and nothing else, as a prefix is: many of them have other
 * meanings, as in "Przekazanie kluczy", a handing over of keys. */
gboolean mail_word_forwards(const char *folded);

/* TRUE when it also says, at one of its ends, that something begins: "Start of …". */
gboolean mail_word_begins(const char *folded);

/* FALSE when no marker that begins so is as long as that, in bytes. */
gboolean mail_word_may_mark(char first, gsize length);

/* TRUE when "wrote" is in it. */
gboolean mail_word_verb(const char *folded);

/* TRUE when a file that begins so is encrypted, or has an archive's password on one of the
 * entries that follow (XB20). */
gboolean mail_sealed_starts(const guint8 *bytes, gsize length);

#define MAIL_SEALED_MARK 64 /* bytes that a mark of the following kind is shorter than */

/* TRUE when these bytes of a file that begins with start say that something in it wants a
 * password: archives, Office documents and PDF say so anywhere (XB20). */
gboolean mail_sealed_within(const guint8 *start, gsize start_length, const guint8 *bytes,
                            gsize length);

/* Reads structure and content through gmime: parts, texts and marks. */
void mail_read_parts(MailReading *reading, int fd);

/* A point in time as fields have it (RFC 5322, 3.3), old and odd spellings too; 0 when it is
 * none, or before 1970. */
gint64 mail_read_date(const char *value);

/* A header text with its encoded words (RFC 2047) decoded, as valid UTF-8 in one line (H4). */
char *mail_decode_header(const char *value);
