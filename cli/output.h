/* output.h - text for a terminal
 *
 * Pure functions over UTF-8, except the last group. What comes from a message is escaped first
 * (escape.h) and measured here: wide letters take two columns, combining marks none. Strings
 * returned are the caller's. */
#pragma once

#include <glib.h>

/* Columns that a text takes. */
guint output_width(const char *text);

/* The text, cut to so many columns with … as the last when it is longer. */
char *output_fit(const char *text, guint columns);

/* The text, cut after so many characters, with a mark and its whole length (XD6):
 * "Dear all… (10000 characters)". */
char *output_cut(const char *text, guint characters);

/* One line, first before it, and next before whatever does not fit in columns; 0: it always
 * fits. A terminal would go on at its left edge, where text of a message could pass for a line
 * of ours. */
char *output_wrap(const char *first, const char *next, const char *text, guint columns);

/* Text of many lines, each with "| " before it, and ": " where a line is continued. */
char *output_quote(const char *text, guint columns);

/* Lines of a text; the last counts without a line feed too. */
guint output_lines(const char *text);

/* Seconds in one unit, the largest that fits: "45s", "12m", "3h", "9d". */
char *output_span(gint64 seconds);

/* "2026-11-29 23:40 (3m ago)", or "(in 3m)", in local time; "never" for 0. */
char *output_time(gint64 when, gint64 now);

/* Rows of char ** with the same number of cells, the first row being the headings, as aligned
 * lines. Columns from flexible on are made narrower until a line fits; those before stay
 * whole. The first of them, where an address stands, is the last that gets narrower than 24.
 * columns 0: everything stays whole. */
char *output_table(const GPtrArray *rows, guint flexible, guint columns);

/* Prints a line, folded as output_wrap does for the terminal. text may be a stranger's: it is
 * escaped here. */
void output_print(const char *first, const char *next, const char *text);

/* Columns of the terminal that standard output is; 0 when it is none. */
guint output_terminal_columns(void);

/* Those, else COLUMNS, else 0: a pipe or a file takes any line. */
guint output_columns(void);
