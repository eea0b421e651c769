#include "lib/postmark.h"

#include <stdio.h>
#include <string.h>

#define LINE_MAX_BYTES 1000
#define YEAR_LEAST     1970
#define YEAR_MOST      2200

typedef struct {
    int year, month, day, hour, minute, second;
    int offset; /* seconds east of Greenwich */
} Stamp;

/* 1 for the first of the words, 0 for none of them. */
static int
find_word(const char *token, const char *words)
{
    const char *found = strlen(token) == 3 ? strstr(words, token) : NULL;

    return found != NULL ? (int)(found - words) / 4 + 1 : 0;
}

static gboolean
is_weekday(const char *token)
{
    g_autofree char *name = g_strdup(token);

    if (g_str_has_suffix(name, ","))
        name[strlen(name) - 1] = 0;
    return find_word(name, "Mon Tue Wed Thu Fri Sat Sun") > 0;
}

static gboolean
read_month(const char *token, Stamp *stamp)
{
    stamp->month = find_word(token, "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec");
    return stamp->month > 0;
}

static gboolean
read_number(const char *token, int least, int most, int *number_out)
{
    guint64 number;

    if (!g_ascii_string_to_unsigned(token, 10, (guint64)least, (guint64)most, &number, NULL))
        return FALSE;
    *number_out = (int)number;
    return TRUE;
}

static gboolean
read_time(const char *token, Stamp *stamp)
{
    int taken = 0;

    stamp->second = 0;
    /* The widths keep the numbers small. NOLINTNEXTLINE(cert-err34-c) */
    if (sscanf(token, "%2d:%2d%n:%2d%n", &stamp->hour, &stamp->minute, &taken, &stamp->second,
               &taken) < 2 ||
        token[taken] != 0)
        return FALSE;
    return stamp->hour >= 0 && stamp->hour < 24 && stamp->minute >= 0 && stamp->minute < 60 &&
           stamp->second >= 0 && stamp->second <= 60;
}

/* "+0100"; zones with letters are taken for UTC: the hour does not matter. */
static void
read_zone(const char *token, Stamp *stamp)
{
    int number;

    if ((token[0] == '+' || token[0] == '-') && strlen(token) == 5 &&
        read_number(token + 1, 0, 1400, &number))
        stamp->offset = (token[0] == '-' ? -1 : 1) * (number / 100 * 3600 + number % 100 * 60);
}

/* Mon Nov 2 10:00:00 [zone] 2026 [zone] */
static gboolean
read_asctime(char *const *tokens, guint count, Stamp *stamp)
{
    guint year = 4;

    if (count < 5 || !read_month(tokens[1], stamp) ||
        !read_number(tokens[2], 1, 31, &stamp->day) || !read_time(tokens[3], stamp))
        return FALSE;
    while (year < MIN(count, 6) &&
           !read_number(tokens[year], YEAR_LEAST, YEAR_MOST, &stamp->year))
        read_zone(tokens[year++], stamp);
    if (year + 1 < count)
        read_zone(tokens[year + 1], stamp);
    return stamp->year != 0;
}

/* Mon, 2 Nov 2026 10:00:00 [zone] */
static gboolean
read_rfc(char *const *tokens, guint count, Stamp *stamp)
{
    if (count < 5 || !read_number(tokens[1], 1, 31, &stamp->day) ||
        !read_month(tokens[2], stamp) ||
        !read_number(tokens[3], YEAR_LEAST, YEAR_MOST, &stamp->year) ||
        !read_time(tokens[4], stamp))
        return FALSE;
    if (count > 5)
        read_zone(tokens[5], stamp);
    return TRUE;
}

static gboolean
read_stamp(char *const *tokens, guint count, gint64 *when_out)
{
    Stamp stamp = {0};

    if (!read_asctime(tokens, count, &stamp)) {
        stamp = (Stamp){0};
        if (!read_rfc(tokens, count, &stamp))
            return FALSE;
    }
    g_autoptr(GDateTime) date =
        g_date_time_new_utc(stamp.year, stamp.month, stamp.day, stamp.hour, stamp.minute, 0);
    if (date == NULL) /* the 31st of February */
        return FALSE;
    *when_out = g_date_time_to_unix(date) + stamp.second - stamp.offset;
    return TRUE;
}

gboolean
postmark_read(const char *line, gsize length, gint64 *when_out)
{
    g_autoptr(GPtrArray) tokens = g_ptr_array_new();

    if (length < 5 || length > LINE_MAX_BYTES || memcmp(line, "From ", 5) != 0)
        return FALSE;
    g_autofree char *text = g_strndup(line, length);
    g_auto(GStrv) words = g_strsplit_set(text, " \t\r\n", -1);
    for (char **word = words; *word != NULL; word++)
        if (**word != 0)
            g_ptr_array_add(tokens, *word);
    for (guint i = 1; i < tokens->len; i++) {
        char *const *rest = (char *const *)tokens->pdata + i;
        if (is_weekday(rest[0]) && read_stamp(rest, tokens->len - i, when_out))
            return TRUE;
    }
    return FALSE;
}

gboolean
postmark_is_takeout(const char *line, gsize length)
{
    gsize i = 5;

    if (length < 5 || memcmp(line, "From ", 5) != 0)
        return FALSE;
    while (i < length && g_ascii_isdigit(line[i]))
        i++;
    return i > 5 && length - i > 5 && memcmp(line + i, "@xxx ", 5) == 0;
}
