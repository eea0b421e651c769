#include "lib/mail-private.h"

#include <string.h>

/* The line without its quote signs and the space that stuffs it (RFC 3676, 4.4 and 4.5). */
static const char *
skip_signs(const char *line, guint *level_out)
{
    guint level = 0;

    for (; line[level] == '>'; level++)
        ;
    *level_out = level;
    return line + level + (line[level] == ' ');
}

/* "-- " above a signature is no line that goes on (RFC 3676, 4.3). */
static gboolean
goes_on(const char *content, const char *end)
{
    return end > content && end[-1] == ' ' &&
           !(end - content == 3 && memcmp(content, "-- ", 3) == 0);
}

char *
mail_join_lines(const char *text, gboolean delsp)
{
    g_autoptr(GString) joined = NULL;
    guint open = 0; /* quote level of the line that goes on, and one more; 0 when none does */

    if (strstr(text, " \n") == NULL)
        return NULL;
    joined = g_string_sized_new(strlen(text));
    for (const char *line = text; *line != 0;) {
        const char *end = line + strcspn(line, "\n");
        guint level = 0;
        const char *content = skip_signs(line, &level);
        content = MIN(content, end);
        if (open == level + 1) {
            g_string_append_len(joined, content, end - content);
        } else {
            if (open > 0)
                g_string_append_c(joined, '\n');
            g_string_append_len(joined, line, end - line);
        }
        open = goes_on(content, end) && *end != 0 ? level + 1 : 0;
        if (open > 0 && delsp)
            g_string_truncate(joined, joined->len - 1);
        else if (open == 0 && *end != 0)
            g_string_append_c(joined, '\n');
        line = end + (*end != 0);
    }
    return g_string_free(g_steal_pointer(&joined), FALSE);
}
