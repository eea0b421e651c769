/* compose.h - a plain message made from words of our own
 *
 * Nothing of another message is copied: what is not plain text is encoded (RFC 2045, 2047), so
 * that no word given can become a field or a part. */
#pragma once

#include <glib.h>

typedef struct {
    const char *from;           /* an address of ASCII, as are all others */
    const char *const *to;      /* may be empty */
    const char *subject;        /* UTF-8, one line */
    const char *message_id;     /* in angle brackets */
    const char *const *parents; /* likewise, the one that is answered last */
    const char *automatic;      /* the value of Auto-Submitted (RFC 3834), or NULL */
    const char *text;           /* UTF-8, lines end with a line feed */
} Letter;

/* The message with CRLF line ends, dated now. The caller frees. */
GString *compose_message(const Letter *letter, gint64 now);

/* Adds a text as a body or the part of one: its two fields, an empty line and the text in the
 * encoding that they name. */
void compose_add_text(GString *message, const char *text);

/* A new Message-ID, in angle brackets. The caller frees. */
char *compose_message_id(const char *host);

/* A date as RFC 5322, 3.3 wants it. The caller frees. */
char *compose_date(gint64 now);
