#include "lib/mail-private.h"

#include <gmime/gmime.h>
#include <string.h>

#define JULIAN_1970 719163 /* the day, as GDate counts */
#define YEAR_LEAST  1970   /* gmime takes the year 21 for 2021 */
#define DAY_SECONDS (24 * 60 * 60)

static gboolean
take_number(const char **p, guint least, guint most, guint *number_out)
{
    guint digits = 0;

    *number_out = 0;
    for (; digits < most && g_ascii_isdigit(**p); digits++)
        *number_out = *number_out * 10 + (guint)(*(*p)++ - '0');
    return digits >= least;
}

static gboolean
take_sign(const char **p, char sign)
{
    return *(*p)++ == sign;
}

static gboolean
take_month(const char **p, guint *month_out)
{
    static const char months[][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

    for (guint i = 0; i < G_N_ELEMENTS(months); i++)
        if (strncmp(*p, months[i], 3) == 0) {
            *month_out = i + 1;
            *p += 3;
            return TRUE;
        }
    return FALSE;
}

/* "Mon, 2 Nov 2026" */
static gboolean
take_day(const char **p, gint64 *seconds_out)
{
    const char *word = *p;
    guint day, month, year;
    GDate date;

    if (g_ascii_isalpha(word[0]) && g_ascii_isalpha(word[1]) && g_ascii_isalpha(word[2]) &&
        word[3] == ',' && word[4] == ' ')
        *p += 5;
    if (!take_number(p, 1, 2, &day) || !take_sign(p, ' ') || !take_month(p, &month) ||
        !take_sign(p, ' ') || !take_number(p, 4, 4, &year) || year < YEAR_LEAST ||
        !g_date_valid_dmy((GDateDay)day, (GDateMonth)month, (GDateYear)year))
        return FALSE;
    g_date_clear(&date, 1);
    g_date_set_dmy(&date, (GDateDay)day, (GDateMonth)month, (GDateYear)year);
    *seconds_out = ((gint64)g_date_get_julian(&date) - JULIAN_1970) * DAY_SECONDS;
    return TRUE;
}

/* "10:00:00" */
static gboolean
take_clock(const char **p, gint64 *seconds_out)
{
    guint hour, minute, second;

    if (!take_number(p, 2, 2, &hour) || !take_sign(p, ':') || !take_number(p, 2, 2, &minute) ||
        !take_sign(p, ':') || !take_number(p, 2, 2, &second) || hour > 23 || minute > 59 ||
        second > 59)
        return FALSE;
    *seconds_out = hour * 3600 + minute * 60 + second;
    return TRUE;
}

/* "+0100", east of Greenwich */
static gboolean
take_zone(const char **p, gint64 *seconds_out)
{
    const char sign = *(*p)++;
    guint zone;

    if ((sign != '+' && sign != '-') || !take_number(p, 4, 4, &zone) || zone > 1400 ||
        zone % 100 > 59)
        return FALSE;
    const gint64 seconds = zone / 100 * 3600 + zone % 100 * 60;
    *seconds_out = sign == '+' ? seconds : -seconds;
    return TRUE;
}

/* As nearly all are written (RFC 5322, 3.3). FALSE: it has to be looked at closer. */
static gboolean
read_plain(const char *value, gint64 *when_out)
{
    const char *p = value + strspn(value, " \t");
    gint64 day, clock, zone;

    if (!take_day(&p, &day) || !take_sign(&p, ' ') || !take_clock(&p, &clock) ||
        !take_sign(&p, ' ') || !take_zone(&p, &zone) || p[strspn(p, " \t")] != 0)
        return FALSE;
    *when_out = day + clock - zone;
    return TRUE;
}

gint64
mail_read_date(const char *value)
{
    gint64 when = 0;

    if (read_plain(value, &when))
        return MAX(when, 0);
    g_autoptr(GDateTime) date = g_mime_utils_header_decode_date(value);

    return date != NULL ? MAX(g_date_time_to_unix(date), 0) : 0;
}
