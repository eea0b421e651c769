/* load.h - what both load clients share: many connections in one thread, and what they found
 *
 * Every connection acts when bytes came. After some messages to warm up, all begin to count at
 * once; after the given seconds each finishes its message and ends. */
#pragma once

#include <glib.h>

#define LOAD_ACCOUNTS 32 /* connections beyond them begin with the first again */

/* What both are told on the command line. */
typedef struct {
    char *address; /* host:port or the path of a unix socket */
    char *sender;  /* with # for the number of the account */
    int connections, size, most, warm_up;
    double seconds;
} LoadOptions;

extern LoadOptions load;

/* Reads them, and those of more. Ends the program when something is wrong. */
void load_parse(const GOptionEntry *more, int *argc, char ***argv);

/* Fills in the head and body of a message: the same but for its Message-ID. CRLF, no dots at
 * the beginning of lines. from, to: addresses. The caller frees. */
char *load_message(const char *from, const char *to, gsize size);

/* text with # replaced by a number. The caller frees. */
char *load_number(const char *text, guint number);

/* Connects to the address; ends the program when that fails. */
int load_connect(void);

/* Sends all of it, or ends the program. */
void load_send(int fd, const void *bytes, gsize length);

/* Calls take with the number of each connection that has input, until take has said TRUE of
 * each: it is over. fds: of all connections. */
void load_run(const int *fds, gboolean (*take)(guint number));

/* Ends the program with a message. */
void load_fail(const char *what, const char *answer) G_GNUC_NORETURN;

/* A message begins. */
void load_begin(void);

/* An answer came to a message that ended at message_us, monotonic. sent: of the connection,
 * counted here. TRUE: there is no time for another one. */
gboolean load_end(int *sent, gint64 message_us);

/* "messages=… seconds=… p50_us=… p99_us=…". */
void load_print(void);
