#include "lib/mail-private.h"

#include <string.h>

#include "lib/address.h"

/* Properties whose value or parameters name people (RFC 5545, 3.8.4; RFC 9073, 6.4). */
static gboolean
names_people(const char *line)
{
    static const char *const properties[] = {"ATTENDEE", "ORGANIZER", "CALENDAR-ADDRESS"};

    for (gsize i = 0; i < G_N_ELEMENTS(properties); i++) {
        gsize length = strlen(properties[i]);
        if (g_ascii_strncasecmp(line, properties[i], length) == 0 && line[length] != 0 &&
            strchr(":; \t", line[length]) != NULL)
            return TRUE;
    }
    return FALSE;
}

/* Lines that begin with a space go on with the one before (RFC 5545, 3.1). */
static char *
unfold(const char *text)
{
    g_autoptr(GString) lines = g_string_sized_new(strlen(text));

    for (const char *p = text; *p != 0; p++) {
        if (p[0] == '\n' && (p[1] == ' ' || p[1] == '\t'))
            p++;
        else
            g_string_append_c(lines, *p);
    }
    return g_string_free(g_steal_pointer(&lines), FALSE);
}

/* Values with their escapes undone (RFC 5545, 3.3.11; RFC 6350, 3.4). */
static char *
unescape(const char *text)
{
    g_autoptr(GString) plain = g_string_sized_new(strlen(text));

    for (const char *p = text; *p != 0; p++) {
        gboolean escaped = p[0] == '\\' && p[1] != 0;
        p += escaped;
        g_string_append_c(plain, escaped && (*p == 'n' || *p == 'N') ? '\n' : *p);
    }
    return g_string_free(g_steal_pointer(&plain), FALSE);
}

/* Values as people read them: without escapes, and a description in HTML as a page. */
static void
search_values(MailReading *reading, const char *unfolded)
{
    g_autofree char *plain = unescape(unfolded);

    mail_search(reading, plain);
    if (strchr(plain, '<') != NULL) {
        g_autofree char *page = mail_render_page(plain);
        mail_search(reading, page);
    }
}

/* "=40" and lines that end in "=", as a card of version 2.1 may have them. */
static char *
decode_quoted(const char *text)
{
    g_autoptr(GString) decoded = g_string_sized_new(strlen(text));

    for (const char *p = text; *p != 0; p++) {
        int high = *p == '=' ? g_ascii_xdigit_value(p[1]) : -1;
        int low = high >= 0 ? g_ascii_xdigit_value(p[2]) : -1;
        if (p[0] == '=' && p[1] == '\n')
            p++;
        else if (low >= 0 && high * 16 + low != 0) {
            g_string_append_c(decoded, (char)(high * 16 + low));
            p += 2;
        } else
            g_string_append_c(decoded, *p);
    }
    return g_utf8_make_valid(decoded->str, (gssize)decoded->len);
}

void
mail_read_card(MailReading *reading, const char *text)
{
    g_autofree char *unfolded = unfold(text);
    g_autofree char *decoded = decode_quoted(text);

    search_values(reading, unfolded);
    if (strcmp(decoded, text) != 0)
        search_values(reading, decoded);
}

void
mail_read_calendar(MailReading *reading, const char *text)
{
    g_autofree char *unfolded = unfold(text);
    g_auto(GStrv) lines = g_strsplit(unfolded, "\n", -1);
    g_autoptr(GString) people = g_string_new(NULL);

    for (char **line = lines; *line != NULL; line++)
        if (names_people(*line))
            g_string_append_printf(people, "%s\n", *line);
    mail_append(reading, reading->calendar, unfolded);
    search_values(reading, unfolded);
    address_scan(people->str, reading->attendees, EXTRACT_LIST_LIMIT);
    if (reading->attendees->len >= EXTRACT_LIST_LIMIT)
        mail_mark_capped(reading, "too many addresses or ids");
}
