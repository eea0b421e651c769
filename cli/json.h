/* json.h - an answer of the relay as JSON
 *
 * Names are those of the protocol, times are epoch seconds, and a fact that is unknown is
 * null. Only printable ASCII comes out, everything else as \uXXXX: it may be looked at in a
 * terminal (XD4). */
#pragma once

#include <glib.h>

/* One object with sorted keys and a line feed. NULL when it cannot be written. The caller
 * frees. */
char *json_of_answer(GVariant *answer);
