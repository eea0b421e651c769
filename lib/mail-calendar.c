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
    address_scan(people->str, reading->attendees, EXTRACT_LIST_LIMIT);
    if (reading->attendees->len >= EXTRACT_LIST_LIMIT)
        mail_mark_capped(reading, "too many addresses or ids");
}
