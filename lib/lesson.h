/* lesson.h - what one message of a mailbox teaches, from exeat to exeat-relay
 *
 * Addresses are normal forms (address.h), ids stand in angle brackets. An admin's command made
 * it: what it says is taken as is, for who may import may vouch.
 *
 * Many go together as one text, since a GVariant for each message takes longer than reading
 * it. A lesson is some lines: "s", "r" or "m", for sent, received, or received from a machine,
 * with the time behind the letter; its id; its sender; then the five lists, a line for each
 * entry and an empty one at the end. What has a line feed in it is no id and no address, and
 * is left out. */
#pragma once

#include <glib.h>

/* Strings and lists are borrowed; lists end with NULL. */
typedef struct {
    gboolean sent;      /* by the human; otherwise received */
    gboolean automatic; /* received, and a machine wrote it */
    gint64 when;
    const char *message_id;      /* "" when none */
    const char *sender;          /* "" when it cannot be told */
    const char **parents;        /* ids it names */
    const char **recipients;     /* whom it was sent to */
    const char **correspondents; /* its own From, To, Cc */
    const char **mentioned;      /* addresses in its text */
    const char **lists;
} Lesson;

/* Appends a lesson to those in text. */
void lesson_add(GString *text, const Lesson *lesson);

typedef struct {
    char *text; /* a copy, whose lines become strings */
    char *next;
    GPtrArray *entries; /* of the lists of the lesson read last */
} LessonReader;

void lesson_reader_init(LessonReader *reader, const char *text);
void lesson_reader_clear(LessonReader *reader);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LessonReader, lesson_reader_clear)

/* Reads the next lesson, whose strings and lists are valid until the one after. FALSE: there
 * is none, or it is broken: ERROR_PROTOCOL. */
gboolean lesson_next(LessonReader *reader, Lesson *lesson_out, GError **error);
