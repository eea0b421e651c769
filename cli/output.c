#include "cli/output.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "lib/escape.h"

#define COLUMN_LEAST  8  /* a flexible column of a table is never narrower */
#define FIRST_LEAST   24 /* nor the first of them while another can be */
#define PADDED_MOST   60 /* where nothing is cut: a longer cell pads no other */
#define COLUMNS_LEAST 40
#define LINE_LEAST    8 /* columns for the text of a wrapped line: a tab fits */
#define GAP           2

/* A tab counts as the most that it can take. */
static guint
letter_width(gunichar letter)
{
    if (letter == '\t')
        return 8;
    if (g_unichar_iszerowidth(letter))
        return 0;
    return g_unichar_iswide(letter) ? 2 : 1;
}

guint
output_width(const char *text)
{
    guint width = 0;

    for (; *text != '\0'; text = g_utf8_next_char(text))
        width += letter_width(g_utf8_get_char(text));
    return width;
}

/* The end of what fits in columns, marks of the last letter included. */
static const char *
fitting_end(const char *text, guint columns)
{
    guint width = 0;

    for (; *text != '\0'; text = g_utf8_next_char(text)) {
        width += letter_width(g_utf8_get_char(text));
        if (width > columns)
            break;
    }
    return text;
}

char *
output_fit(const char *text, guint columns)
{
    if (columns == 0 || *fitting_end(text, columns) == '\0')
        return g_strdup(columns == 0 ? "" : text);
    const char *end = fitting_end(text, columns - 1);
    return g_strdup_printf("%.*s…", (int)(end - text), text);
}

char *
output_cut(const char *text, guint characters)
{
    glong length = g_utf8_strlen(text, -1);

    if (length <= (glong)characters)
        return g_strdup(text);
    const char *end = g_utf8_offset_to_pointer(text, characters);
    return g_strdup_printf("%.*s… (%ld characters)", (int)(end - text), text, length);
}

/* Where to break a text that is longer than columns: behind a space, unless that leaves the
 * line more than half empty. */
static const char *
breaking_end(const char *text, guint columns)
{
    const char *end = fitting_end(text, columns);
    const char *space = end;

    if (*end == '\0')
        return end;
    while (space > text && space[-1] != ' ')
        space--;
    return space - text > (end - text) / 2 ? space : end;
}

/* A column is left free, because a terminal may go on in the next line when the last is
 * filled. */
static void
append_wrapped(GString *out, const char *first, const char *next, const char *text,
               gsize length, guint columns)
{
    g_autofree char *rest = g_strndup(text, length);
    const char *prefix = first;
    const char *from = rest;

    do {
        guint taken = output_width(prefix) + 1;
        const char *end = columns == 0
                              ? from + strlen(from)
                              : breaking_end(from, MAX(columns, taken + LINE_LEAST) - taken);
        g_string_append_printf(out, "%s%.*s\n", prefix, (int)(end - from), from);
        prefix = next;
        from = end;
    } while (*from != '\0');
}

char *
output_wrap(const char *first, const char *next, const char *text, guint columns)
{
    g_autoptr(GString) out = g_string_new(NULL);

    append_wrapped(out, first, next, text, strlen(text), columns);
    return g_string_free(g_steal_pointer(&out), FALSE);
}

char *
output_quote(const char *text, guint columns)
{
    g_autoptr(GString) out = g_string_new(NULL);

    while (*text != '\0') {
        gsize length = strcspn(text, "\n");
        append_wrapped(out, "| ", ": ", text, length, columns);
        text += length + (text[length] == '\n');
    }
    return g_string_free(g_steal_pointer(&out), FALSE);
}

guint
output_lines(const char *text)
{
    guint lines = 0;

    while (*text != '\0') {
        gsize length = strcspn(text, "\n");
        text += length + (text[length] == '\n');
        lines++;
    }
    return lines;
}

char *
output_span(gint64 seconds)
{
    static const struct {
        gint64 seconds;
        char unit;
    } UNITS[] = {{86400, 'd'}, {3600, 'h'}, {60, 'm'}};

    for (gsize i = 0; i < G_N_ELEMENTS(UNITS); i++)
        if (seconds >= UNITS[i].seconds)
            return g_strdup_printf("%" G_GINT64_FORMAT "%c", seconds / UNITS[i].seconds,
                                   UNITS[i].unit);
    return g_strdup_printf("%" G_GINT64_FORMAT "s", MAX(seconds, 0));
}

char *
output_time(gint64 when, gint64 now)
{
    g_autoptr(GDateTime) time = g_date_time_new_from_unix_local(when);

    if (when == 0 || time == NULL)
        return g_strdup(when == 0 ? "never" : "beyond the calendar");
    g_autofree char *written = g_date_time_format(time, "%Y-%m-%d %H:%M");
    g_autofree char *span = output_span(ABS(when - now));
    return when > now ? g_strdup_printf("%s (in %s)", written, span)
                      : g_strdup_printf("%s (%s ago)", written, span);
}

static guint
total_width(const GArray *widths)
{
    guint total = 0;

    for (guint i = 0; i < widths->len; i++)
        total += g_array_index(widths, guint, i) + (i > 0 ? GAP : 0);
    return total;
}

/* The widest of the flexible columns that may still give one up; NULL when there is none. */
static guint *
find_widest(GArray *widths, guint flexible, guint first_least)
{
    guint *widest = NULL;

    for (guint i = flexible; i < widths->len; i++) {
        guint *width = &g_array_index(widths, guint, i);
        guint least = i == flexible ? first_least : COLUMN_LEAST;
        if (*width > least && (widest == NULL || *width > *widest))
            widest = width;
    }
    return widest;
}

/* Takes columns from the widest of the flexible ones, one at a time, until the line fits. */
static void
narrow(GArray *widths, guint flexible, guint columns)
{
    while (total_width(widths) > columns) {
        guint *widest = find_widest(widths, flexible, FIRST_LEAST);
        if (widest == NULL)
            widest = find_widest(widths, flexible, COLUMN_LEAST);
        if (widest == NULL)
            return;
        (*widest)--;
    }
}

/* Cells of those columns stay whole; a very long one moves its own line alone. */
static void
limit_padding(GArray *widths, guint flexible)
{
    for (guint i = flexible; i < widths->len; i++) {
        guint *width = &g_array_index(widths, guint, i);
        *width = MIN(*width, PADDED_MOST);
    }
}

static GArray *
measure(const GPtrArray *rows)
{
    GArray *widths = g_array_new(FALSE, TRUE, sizeof(guint));

    for (guint i = 0; i < rows->len; i++) {
        char **cells = g_ptr_array_index(rows, i);
        for (guint j = 0; cells[j] != NULL; j++) {
            if (j >= widths->len)
                g_array_set_size(widths, j + 1);
            guint *width = &g_array_index(widths, guint, j);
            *width = MAX(*width, output_width(cells[j]));
        }
    }
    return widths;
}

char *
output_table(const GPtrArray *rows, guint flexible, guint columns)
{
    g_autoptr(GArray) widths = measure(rows);
    g_autoptr(GString) out = g_string_new(NULL);

    if (columns > 0)
        narrow(widths, flexible, columns);
    else
        limit_padding(widths, flexible);
    for (guint i = 0; i < rows->len; i++) {
        char **cells = g_ptr_array_index(rows, i);
        guint gap = 0;
        for (guint j = 0; cells[j] != NULL; j++) {
            guint width = g_array_index(widths, guint, j);
            g_autofree char *cell =
                columns > 0 ? output_fit(cells[j], width) : g_strdup(cells[j]);
            g_string_append_printf(out, "%*s%s", (int)gap, "", cell);
            gap = MAX(width, output_width(cell)) - output_width(cell) + GAP;
        }
        g_string_append_c(out, '\n');
    }
    return g_string_free(g_steal_pointer(&out), FALSE);
}

guint
output_terminal_columns(void)
{
    struct winsize size;

    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0
               ? MAX(size.ws_col, COLUMNS_LEAST)
               : 0;
}

guint
output_columns(void)
{
    const char *set = g_getenv("COLUMNS");
    guint columns = output_terminal_columns();
    guint64 number;

    if (columns > 0)
        return columns;
    if (set != NULL &&
        g_ascii_string_to_unsigned(set, 10, COLUMNS_LEAST, G_MAXUINT16, &number, NULL))
        return (guint)number;
    return 0;
}

void
output_print(const char *first, const char *next, const char *text)
{
    g_autofree char *safe = escape_line(text);
    g_autofree char *lines = output_wrap(first, next, safe, output_terminal_columns());

    fputs(lines, stdout);
}
