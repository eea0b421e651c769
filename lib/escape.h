/* escape.h - untrusted text made safe to look at (XD3, XD4, XD16)
 *
 * Keeps printable UTF-8. Control characters, direction marks, zero-width and tag characters,
 * variation selectors and unassigned code points become \u{202E}; bytes that are not UTF-8
 * become \x{FF}; a backslash is doubled, so nothing can pretend to be an escape. */
#pragma once

#include <glib.h>

/* One line: line feeds and tabs are escaped too. The caller frees. */
char *escape_line(const char *text);

/* One line of printable ASCII, of at most that many bytes, for a reply (RFC 5321, 4.2):
 * letters of other scripts become like ones, the rest a question mark. The caller frees. */
char *escape_ascii(const char *text, gsize most);

/* Many lines: line feeds and tabs stay, CR LF becomes a line feed. The caller frees. */
char *escape_text(const char *text);
