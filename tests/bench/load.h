/* load.h - what both load clients share: many connections in one thread, and what they found
 *
 * Every connection acts when bytes came. After some messages to warm up, all begin to count at
 * once; after the given seconds each finishes its message and ends. */
#pragma once

#include <glib.h>

#define LOAD_ACCOUNTS 32 /* connections beyond them begin with the first again */

typedef struct {
    GArray *waits; /* of gint64: microseconds from the end of a message to its answer */
    guint64 counted;
    gint64 begun_us, ended_us; /* monotonic; begun 0: still warming up */
} Found;

/* Fills in the head and body of a message: the same but for its Message-ID. CRLF, no dots at
 * the beginning of lines. from, to: addresses. The caller frees. */
char *load_message(const char *from, const char *to, gsize size);

/* text with # replaced by a number. The caller frees. */
char *load_number(const char *text, guint number);

/* Connects to host:port or to the path of a unix socket; ends the program when that fails. */
int load_connect(const char *address);

/* Ends the program with a message. */
void load_fail(const char *what, const char *answer) G_GNUC_NORETURN;

/* An answer came to a message that ended at ended_us. */
void load_count(Found *found, gint64 ended_us);

/* "messages=… seconds=… p50_us=… p99_us=…". */
void load_print(Found *found);
