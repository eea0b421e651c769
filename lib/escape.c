#include "lib/escape.h"

#include <string.h>

#define MARKS_MAX 4 /* combining marks on one letter; more would paint over other rows */

/* Letters or marks to the tables of Unicode, nothing to the eye. */
static gboolean
is_blank_letter(gunichar c)
{
    return c == 0x115f || c == 0x1160 || c == 0x3164 || c == 0xffa0 || c == 0x2800 ||
           c == 0x17b4 || c == 0x17b5;
}

static gboolean
is_variation_selector(gunichar c)
{
    return (c >= 0xfe00 && c <= 0xfe0f) || (c >= 0xe0100 && c <= 0xe01ef) ||
           (c >= 0x180b && c <= 0x180f) || c == 0x034f;
}

/* marks: how many combining marks stand directly before c. */
static gboolean
is_safe(gunichar c, guint marks)
{
    if (is_blank_letter(c) || is_variation_selector(c))
        return FALSE;
    if (g_unichar_ismark(c))
        return marks < MARKS_MAX;
    switch (g_unichar_type(c)) {
    case G_UNICODE_CONTROL:
    case G_UNICODE_FORMAT:
    case G_UNICODE_UNASSIGNED:
    case G_UNICODE_PRIVATE_USE:
    case G_UNICODE_SURROGATE:
    case G_UNICODE_LINE_SEPARATOR:
    case G_UNICODE_PARAGRAPH_SEPARATOR:
        return FALSE;
    default:
        return TRUE;
    }
}

static gboolean
is_plain(char c)
{
    return c >= ' ' && c <= '~' && c != '\\';
}

static char *
escape(const char *text, gboolean lines)
{
    g_autoptr(GString) safe = g_string_sized_new(strlen(text) + 16);
    guint marks = 0;

    for (const char *p = text; *p != 0;) {
        if (is_plain(*p)) { /* nearly all there is: no table need be asked */
            g_string_append_c(safe, *p++);
            marks = 0;
            continue;
        }
        gunichar c = g_utf8_get_char_validated(p, -1);
        if (c == (gunichar)-1 || c == (gunichar)-2) {
            g_string_append_printf(safe, "\\x{%02X}", (guchar)*p++);
            marks = 0;
            continue;
        }
        const char *next = g_utf8_next_char(p);
        if (c == '\\')
            g_string_append(safe, "\\\\");
        else if (lines && (c == '\n' || c == '\t'))
            g_string_append_c(safe, (char)c);
        else if (is_safe(c, marks))
            g_string_append_len(safe, p, next - p);
        else if (!lines || c != '\r' || *next != '\n')
            g_string_append_printf(safe, "\\u{%04X}", c);
        marks = g_unichar_ismark(c) ? marks + 1 : 0;
        p = next;
    }
    return g_strdup(safe->str);
}

char *
escape_line(const char *text)
{
    return escape(text, FALSE);
}

char *
escape_text(const char *text)
{
    return escape(text, TRUE);
}

char *
escape_ascii(const char *text, gsize most)
{
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    g_autofree char *ascii = g_str_to_ascii(valid, "C");
    char *line = g_strndup(ascii, most);

    for (char *c = line; *c != '\0'; c++)
        if (!g_ascii_isprint(*c))
            *c = '?';
    return line;
}
