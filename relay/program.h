/* program.h - programs of the admin's that the relay runs
 *
 * Without a shell, and in their arguments with nothing of a message but its Message-ID, where
 * the admin asks for that. */
#pragma once

#include <glib.h>

/* For g_spawn_async: lets the program have the signals that the relay keeps from itself. */
void program_allow_signals(gpointer unused);

/* Runs a program, lets it read input, and waits at most 60 seconds for it to end well; then it
 * is killed. Its environment has PATH and LANG alone. FALSE with ERROR_TEMP and what was
 * wrong: it could not be run, took too long, or ended otherwise than with 0. */
gboolean program_run(char *const *command, const char *input, GError **error);

/* The same without input: what the program printed, cut off after 16 KiB, up to its first NUL.
 * The caller frees it. */
char *program_ask(char *const *command, GError **error);

/* Asks a program whether something is there: it ends with 0, *found_out TRUE, or with 1.
 * Anything else is ERROR_TEMP. */
gboolean program_find(char *const *command, gboolean *found_out, GError **error);
