/* postmark.h - the line that begins a message in an mbox
 *
 * "From sender Mon Nov  2 10:00:00 2026" (RFC 4155, appendix A), with the deviations of real
 * programs: a time zone before or after the year, no seconds, a date in the order of RFC 5322.
 * Words that only begin with "From " are no postmark (case I1). */
#pragma once

#include <glib.h>

/* TRUE when the line, length bytes with or without its end, is one. *when_out: its time; UTC
 * is assumed where no zone is given. */
gboolean postmark_read(const char *line, gsize length, gint64 *when_out);

/* TRUE when Google Takeout wrote it: "From 1880000000000000001@xxx Mon …". */
gboolean postmark_is_takeout(const char *line, gsize length);
