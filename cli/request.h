/* request.h - one question to exeat-relay, and its answer
 *
 * Who asks is told to the relay by the kernel; nothing in the question says so (C5). What
 * comes back is text from strangers for the most part: escape before showing. */
#pragma once

#include "lib/wire.h"

typedef struct {
    const char *socket;
    const char *config; /* NULL when none was given */
    gboolean json;
    const GPtrArray *suppositions; /* of const char *: each --what-if; may be NULL */
    GHashTable *options; /* name to value of those that only some commands take; may be NULL */
} Session;

/* What was given with --name, "" for an option without a value; NULL when it was not given. */
const char *session_option(const Session *session, const char *name);
gboolean session_has(const Session *session, const char *name);

/* Asks, and returns the answer as a{sv}, or NULL after one line on standard error.
 * *status_out: EX_OK; EX_USAGE, EX_NOINPUT (66, no such item), EX_NOPERM (77), EX_DATAERR (65,
 * it changed or is decided), EX_CONFIG (78, its files cannot be used) as the relay says;
 * EX_TEMPFAIL when there is no answer. arguments: a{sv}, floating is taken; NULL: none. */
GVariant *request_ask(const Session *session, const char *verb, GVariant *arguments,
                      int *status_out);

/* The two halves of it, for who has something to do in between, or many questions: the relay
 * serves those of one connection in one thread. request_send leaves arguments to the caller
 * and returns NULL like request_ask. earlier is taken: a connection whose answer has come,
 * which is used again if it is still there; may be NULL. request_answer leaves wire to the
 * caller. */
Wire *request_send(const Session *session, Wire *earlier, const char *verb,
                   GVariant *arguments, int *status_out);
GVariant *request_answer(Wire *wire, int *status_out);

/* The same for an answer that comes with a file; the caller closes *fd_out. */
GVariant *request_ask_bytes(const Session *session, const char *verb, GVariant *arguments,
                            int *fd_out, int *status_out);

/* Members of an answer. A missing one reads as "", 0 or otherwise, an empty list or array.
 * Text is borrowed; the caller frees lists (g_strfreev) and unrefs arrays. */
const char *answer_text(GVariant *answer, const char *key);
gint64 answer_number(GVariant *answer, const char *key);
gboolean answer_flag(GVariant *answer, const char *key, gboolean otherwise);
char **answer_list(GVariant *answer, const char *key);
GVariant *answer_array(GVariant *answer, const char *key, const char *type);
