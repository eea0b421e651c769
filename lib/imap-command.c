#include <string.h>

#include "lib/error.h"
#include "lib/imap-private.h"

enum {
    TEXT_LIMIT = 64 * 1024, /* bytes of an answer besides what was asked for */
    ANSWER_LIMIT = 20000,   /* to one command */
    CITE_LIMIT = 200,       /* bytes of an answer in a message */
    SLOWEST = 50 * 1024     /* bytes a second that must go through */
};

static gint64
deadline_of(const Imap *imap)
{
    return g_get_monotonic_time() + (gint64)imap->answer_ms * 1000;
}

gboolean
imap_command_send(Imap *imap, GError **error, const char *format, ...)
{
    g_autoptr(GString) line = g_string_new(NULL);
    va_list arguments;

    if (imap->broken) {
        g_set_error(error, EXEAT_ERROR, ERROR_TEMP, "the connection is lost");
        return FALSE;
    }
    imap->broken = TRUE;
    g_string_printf(line, "E%u ", ++imap->tag);
    va_start(arguments, format);
    g_string_append_vprintf(line, format, arguments);
    va_end(arguments);
    g_string_append(line, "\r\n");
    return imap_stream_send(imap->input.stream, line->str, line->len, deadline_of(imap),
                            error);
}

static gboolean
fail(ImapCursor cursor, ExeatError code, const char *what, GError **error)
{
    gssize length = MIN(cursor.end - cursor.at, CITE_LIMIT);
    g_autofree char *text = g_utf8_make_valid(cursor.at, length);

    g_set_error(error, EXEAT_ERROR, code, "the server %s: %s", what, text);
    return FALSE;
}

static ImapCursor
start_of(const Imap *imap)
{
    return (ImapCursor){imap->answer->str, imap->answer->str + imap->answer->len};
}

gboolean
imap_command_fail(const Imap *imap, GError **error)
{
    return fail(start_of(imap), ERROR_PROTOCOL, "says what is no answer", error);
}

/* Untagged answers that no command asks for by name */

/* A message was removed: those behind it have other numbers from now on. */
static void
note_expunge(Imap *imap, guint32 number)
{
    if (number > 0 && number < imap->next)
        imap->next--;
    if (number > 0 && number <= imap->last)
        imap->last--;
}

static void
note_capabilities(Imap *imap, ImapCursor cursor)
{
    g_autofree char *line = g_strndup(cursor.at, (gsize)(cursor.end - cursor.at));
    g_auto(GStrv) words = g_strsplit(line, " ", -1);

    /* RETURN (SPECIAL-USE) needs both: RFC 6154, section 2. */
    imap->uid_plus = g_strv_contains((const char *const *)words, "UIDPLUS");
    imap->lists_roles = g_strv_contains((const char *const *)words, "SPECIAL-USE") &&
                        g_strv_contains((const char *const *)words, "LIST-EXTENDED");
}

static gboolean
note(Imap *imap, ImapCursor cursor, guint32 message, GError **error)
{
    guint64 number;

    if (imap_cursor_skip(&cursor, "BYE"))
        return fail(cursor, ERROR_TEMP, "ends the connection", error);
    if (imap_cursor_skip(&cursor, "EXISTS"))
        imap->view.count = message;
    else if (imap_cursor_skip(&cursor, "EXPUNGE"))
        note_expunge(imap, message);
    else if (imap_cursor_skip(&cursor, "CAPABILITY "))
        note_capabilities(imap, cursor);
    else if (imap_cursor_skip(&cursor, "OK [UIDVALIDITY ") &&
             imap_cursor_number(&cursor, G_MAXUINT32, &number))
        imap->view.uid_validity = (guint32)number;
    else if (imap_cursor_skip(&cursor, "OK [UIDNEXT ") &&
             imap_cursor_number(&cursor, G_MAXUINT32, &number))
        imap->view.uid_next = (guint32)number;
    return TRUE;
}

static gboolean
take_untagged(Imap *imap, ImapCursor cursor, ImapTake take, GError **error)
{
    guint64 number = 0;

    /* So that numbers of messages can be added without a thought. */
    if (imap_cursor_number(&cursor, G_MAXINT32, &number))
        imap_cursor_skip(&cursor, " ");
    ImapCursor rest = cursor;
    if (take != NULL && imap_cursor_skip(&rest, "FETCH "))
        return take(imap, ANSWER_FETCH, (guint32)number, rest, error);
    if (take != NULL && imap_cursor_skip(&rest, "LIST "))
        return take(imap, ANSWER_LIST, 0, rest, error);
    if (take != NULL && imap_cursor_skip(&rest, "SEARCH"))
        return take(imap, ANSWER_SEARCH, 0, rest, error);
    return note(imap, cursor, (guint32)number, error);
}

typedef enum { STEP_FAILED, STEP_ON, STEP_ASKED, STEP_DONE } Step;

/* Reads one answer. asked: whether one that asks for more may come. */
static Step
step(Imap *imap, gsize limit, gboolean asked, ImapTake take, GError **error)
{
    g_autofree char *tag = g_strdup_printf("E%u ", imap->tag);

    if (!imap_input_read(&imap->input, limit + TEXT_LIMIT, deadline_of(imap), imap->answer,
                         error))
        return STEP_FAILED;
    ImapCursor cursor = start_of(imap);
    if (imap_cursor_skip(&cursor, tag)) {
        imap->broken = FALSE;
        if (imap_cursor_skip(&cursor, "OK"))
            return STEP_DONE;
        fail(cursor, ERROR_TEMP, "refuses", error);
        return STEP_FAILED;
    }
    if (asked && imap_cursor_skip(&cursor, "+"))
        return STEP_ASKED;
    if (!imap_cursor_skip(&cursor, "* ")) {
        imap_command_fail(imap, error);
        return STEP_FAILED;
    }
    return take_untagged(imap, cursor, take, error) ? STEP_ON : STEP_FAILED;
}

/* Reads answers until one that is not STEP_ON. */
static Step
read_answers(Imap *imap, gsize limit, gboolean asked, ImapTake take, GError **error)
{
    for (guint answers = 0; answers < ANSWER_LIMIT; answers++) {
        Step made = step(imap, limit, asked, take, error);
        if (made != STEP_ON)
            return made;
    }
    fail(start_of(imap), ERROR_PROTOCOL, "does not come to an end", error);
    return STEP_FAILED;
}

gboolean
imap_command_finish(Imap *imap, gsize limit, ImapTake take, GError **error)
{
    return read_answers(imap, limit, FALSE, take, error) == STEP_DONE;
}

static gboolean
take_fetch(Imap *imap, ImapAnswer kind, guint32 number, ImapCursor rest, GError **error)
{
    ImapMessage message;

    if (kind != ANSWER_FETCH)
        return TRUE;
    if (!imap_fetch_parse(rest, &message))
        return imap_command_fail(imap, error);
    imap->take_message(imap, number, &message);
    return TRUE;
}

gboolean
imap_command_fetched(Imap *imap, gsize limit, ImapTakeMessage take, GError **error)
{
    imap->take_message = take;
    return imap_command_finish(imap, limit, take_fetch, error);
}

gboolean
imap_command_continue(Imap *imap, const char *bytes, gsize length, GError **error)
{
    gint64 more = (gint64)length * G_USEC_PER_SEC / SLOWEST;

    switch (read_answers(imap, 0, TRUE, NULL, error)) {
    case STEP_FAILED:
    case STEP_ON:
        return FALSE;
    case STEP_DONE:
        return imap_command_fail(imap, error);
    case STEP_ASKED:
        break;
    }
    return imap_stream_send(imap->input.stream, bytes, length, deadline_of(imap) + more,
                            error) &&
           imap_stream_send(imap->input.stream, "\r\n", 2, deadline_of(imap), error);
}
