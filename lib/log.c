#include "lib/log.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "lib/escape.h"

#define LINE_LIMIT                                                                            \
    2048 /* bytes of one event; syslog daemons cut near here without saying so */

enum { PAUSE = 10 }; /* seconds */

static const char *log_program = "exeat";
static gboolean log_to_syslog;
static gboolean log_to_journal;

/* journald names the stream it reads, so that a redirected standard error is told from its own
 * (systemd.exec(5), JOURNAL_STREAM). */
static gboolean
journal_listens(void)
{
    const char *stream = g_getenv("JOURNAL_STREAM");
    struct stat status;

    if (stream == NULL || fstat(STDERR_FILENO, &status) != 0)
        return FALSE;
    g_autofree char *ours =
        g_strdup_printf("%ju:%ju", (uintmax_t)status.st_dev, (uintmax_t)status.st_ino);
    return g_str_equal(stream, ours);
}

void
log_open(const char *program, gboolean to_syslog)
{
    log_program = program;
    log_to_syslog = to_syslog;
    log_to_journal = !to_syslog && journal_listens();
    if (to_syslog)
        openlog(program, LOG_PID, LOG_MAIL);
}

/* Escapes, then cuts: no argument can make a line of its own or fill the disk with one. */
G_GNUC_PRINTF(1, 0)
static char *
make_line(const char *format, va_list arguments)
{
    g_autofree char *plain = g_strdup_vprintf(format, arguments);
    g_autofree char *line = escape_line(plain);
    gsize length = strlen(line);

    if (length <= LINE_LIMIT)
        return g_steal_pointer(&line);
    *g_utf8_find_prev_char(line, line + LINE_LIMIT + 1) = '\0';
    return g_strdup_printf("%s… (%" G_GSIZE_FORMAT " bytes)", line, length);
}

static char *
utc_now(void)
{
    char text[sizeof "2026-01-01T00:00:00Z"];
    time_t now = time(NULL);
    struct tm parts;

    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &parts));
    return g_strdup(text);
}

G_GNUC_PRINTF(2, 0)
static void
emit(int priority, const char *format, va_list arguments)
{
    int saved = errno;
    g_autofree char *line = make_line(format, arguments);

    if (log_to_syslog) {
        syslog(priority, "%s", line);
    } else if (log_to_journal) {
        fprintf(stderr, "<%d>%s\n", priority, line);
    } else {
        g_autofree char *when = utc_now();
        fprintf(stderr, "%s %s[%d]: %s\n", when, log_program, (int)getpid(), line);
    }
    errno = saved;
}

void
log_info(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    emit(LOG_INFO, format, arguments);
    va_end(arguments);
}

void
log_warning(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    emit(LOG_WARNING, format, arguments);
    va_end(arguments);
}

void
log_error(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    emit(LOG_ERR, format, arguments);
    va_end(arguments);
}

gboolean
log_may_repeat(gint64 *last)
{
    static GMutex lock;
    gint64 now = g_get_monotonic_time();

    g_mutex_lock(&lock);
    gboolean may = *last == 0 || now - *last > PAUSE * G_TIME_SPAN_SECOND;
    if (may)
        *last = now;
    g_mutex_unlock(&lock);
    return may;
}
