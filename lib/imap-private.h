/* imap-private.h - what the files of lib/imap share */
#pragma once

#include "lib/imap-name.h"
#include "lib/imap.h"

/* The connection (imap-stream.c). deadline: of g_get_monotonic_time. */
typedef struct _ImapStream ImapStream;

ImapStream *imap_stream_open(const ImapServer *server, GError **error);
void imap_stream_free(ImapStream *stream);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ImapStream, imap_stream_free)
gboolean imap_stream_send(ImapStream *stream, const char *bytes, gsize length, gint64 deadline,
                          GError **error);
/* At least one byte, at most size: how many; 0 after an error, a closed connection included.
 */
gsize imap_stream_receive(ImapStream *stream, char *bytes, gsize size, gint64 deadline,
                          GError **error);

/* Answers (imap-answer.c). */
typedef struct {
    ImapStream *stream;
    gsize start, end; /* of what is unread in bytes */
    char bytes[16384];
} ImapInput;

/* More than any answer has that we ask for, whatever was asked. */
#define IMAP_ANSWER_MAX (64 * 1024 * 1024)

/* Reads one answer: a line with its literals, as they came, without the last CR LF. limit: how
 * many bytes it may have. ERROR_PROTOCOL: it has more, or no CR LF where one belongs. */
gboolean imap_input_read(ImapInput *input, gsize limit, gint64 deadline, GString *answer,
                         GError **error);

/* A place in an answer. The functions move it behind what they read and return TRUE, or leave
 * it and return FALSE. */
typedef struct {
    char *at;
    const char *end;
} ImapCursor;

/* These characters, ASCII letters in either case. */
gboolean imap_cursor_skip(ImapCursor *cursor, const char *expected);
gboolean imap_cursor_number(ImapCursor *cursor, guint64 max, guint64 *number_out);
/* An atom, a quoted string (unquoted in place) or a literal; no list. NIL reads as an empty
 * one. */
gboolean imap_cursor_string(ImapCursor *cursor, char **bytes_out, gsize *length_out);
/* A string, a number or a list, whatever is in it. */
gboolean imap_cursor_value(ImapCursor *cursor);

/* Reads what stands after "FETCH ", each of it once or not at all; head is what BODY[...]
 * gives, borrowed from the answer. FALSE: it is none. */
gboolean imap_fetch_parse(ImapCursor cursor, ImapMessage *message_out);

/* Reads what stands after "LIST ". The caller frees; NULL: it is none, or its name is in no
 * form we could write back. */
ImapFolder *imap_folder_parse(ImapCursor cursor);

/* Commands (imap-command.c). */

/* Takes a message of which the server says something. message: until the next answer. */
typedef void (*ImapTakeMessage)(Imap *imap, guint32 number, const ImapMessage *message);

struct _Imap {
    ImapInput input;
    GString *answer; /* the last one */
    guint answer_ms;
    guint tag;       /* of the last command */
    gboolean broken; /* its end was never seen: nothing read from now on could be understood */
    gboolean lists_roles, uid_plus;
    GPtrArray *folders; /* while they are listed */
    ImapView view;
    guint32 next;      /* number of the message that follows the window */
    guint32 last;      /* number of the last message to be read */
    GPtrArray *window; /* of ImapMessage *, ahead of the caller */
    guint given;       /* of the window */
    ImapMessage whole; /* what imap_whole asked for; its head lies in whole_answer */
    GString *whole_answer;
    ImapTakeMessage take_message; /* while FETCH is answered */
    gpointer wanted;              /* what the command under way looks for, and what it found */
    GArray *found;
};

/* Which answers a command may ask for. */
typedef enum { ANSWER_FETCH, ANSWER_LIST, ANSWER_SEARCH } ImapAnswer;

/* Takes one of them. number: of the message, for FETCH. rest: what stands behind the word. */
typedef gboolean (*ImapTake)(Imap *imap, ImapAnswer kind, guint32 number, ImapCursor rest,
                             GError **error);

gboolean imap_command_send(Imap *imap, GError **error, const char *format, ...)
    G_GNUC_PRINTF(3, 4);

/* Reads the answers up to the one that ends the command, which must be OK. limit: bytes that
 * were asked for in one answer. take: NULL when nothing was. */
gboolean imap_command_finish(Imap *imap, gsize limit, ImapTake take, GError **error);

/* The same for a command that fetches messages. */
gboolean imap_command_fetched(Imap *imap, gsize limit, ImapTakeMessage take, GError **error);

/* Reads the answers up to the one that asks for the literal that was announced, and sends it
 * with the end of the line. */
gboolean imap_command_continue(Imap *imap, const char *bytes, gsize length, GError **error);

/* A folder's name as a quoted string. The caller frees. */
char *imap_quote_folder(const char *folder);

/* Any text as a quoted string; NULL when it cannot be one. The caller frees. */
char *imap_quote(const char *text);

/* For a last answer that cannot be read: ERROR_PROTOCOL, which cites it. Returns FALSE. */
gboolean imap_command_fail(const Imap *imap, GError **error);
