/* mailbox-mbox.c - one mbox file, read once from its start to its end
 *
 * A message begins at a postmark behind an empty line that a header field follows. Where a
 * Content-Length leads to exactly such a place or to the end of the file, it is believed
 * (mboxcl2, which quotes nothing); elsewhere it is a stranger's number. */
#include "lib/mailbox-private.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/error.h"
#include "lib/pread.h"
#include "lib/postmark.h"

#define BUFFER_SIZE (256 * 1024) /* longer lines are read in pieces */
#define PEEK        1024         /* bytes behind a postmark that tell a field */

typedef struct {
    int fd;
    char *path;
    gint64 size;
    GChecksum *sum;
    char *buffer;
    gsize start, end;    /* bytes of the buffer not taken yet */
    gint64 offset;       /* of the first of them in the file */
    int failed;          /* errno of a read; what is left of the file is lost */
    gboolean told;       /* that it failed */
    gboolean line_start; /* the next byte begins a line */
    gboolean blank;      /* the line before it was empty */
    gint64 body_end;     /* by Content-Length; 0: the lines tell */
    gboolean in_message; /* a body is still to be skipped */
    gboolean takeout;    /* the first message is Google's */
    GString *head;
    char *where;
} Mbox;

/* Reads on until there are so many bytes, or the file ends. */
static void
fill(Mbox *mbox, gsize needed)
{
    if (mbox->end - mbox->start >= needed || mbox->failed != 0)
        return;
    memmove(mbox->buffer, mbox->buffer + mbox->start, mbox->end - mbox->start);
    mbox->end -= mbox->start;
    mbox->start = 0;
    gssize got = pread_most(mbox->fd, mbox->buffer + mbox->end, BUFFER_SIZE - mbox->end,
                            mbox->offset + (gint64)mbox->end, PREAD_UNKNOWN);
    if (got < 0) {
        mbox->failed = errno;
        return;
    }
    g_checksum_update(mbox->sum, (const guchar *)mbox->buffer + mbox->end, got);
    mbox->end += (gsize)got;
}

static const char *
peek(const Mbox *mbox)
{
    return mbox->buffer + mbox->start;
}

/* The length of the next line with its end, or of the piece of it that fits in the buffer; 0
 * at the end of the file. */
static gsize
line_length(Mbox *mbox)
{
    const char *feed = NULL;
    gsize held = mbox->end - mbox->start;

    if (held > 0)
        feed = memchr(peek(mbox), '\n', held);
    if (feed == NULL) {
        fill(mbox, BUFFER_SIZE);
        held = mbox->end - mbox->start;
        feed = held > 0 ? memchr(peek(mbox), '\n', held) : NULL;
    }
    return feed != NULL ? (gsize)(feed + 1 - peek(mbox)) : held;
}

static void
take(Mbox *mbox, gsize length)
{
    const char *line = peek(mbox);

    mbox->blank = mbox->line_start &&
                  ((length == 1 && line[0] == '\n') || (length == 2 && line[0] == '\r'));
    mbox->line_start = line[length - 1] == '\n';
    mbox->start += length;
    mbox->offset += (gint64)length;
}

/* Whether a message begins with the next line. */
static gboolean
at_postmark(Mbox *mbox, gsize length)
{
    if (!mbox->line_start || !(mbox->blank || mbox->offset == 0) || length < 5 ||
        memcmp(peek(mbox), "From ", 5) != 0)
        return FALSE;
    fill(mbox, length + PEEK);
    return mailbox_is_mbox(peek(mbox), mbox->end - mbox->start);
}

/* Takes what is left of the message, and writes it to copy unless that is -1. */
static gboolean
take_body(Mbox *mbox, int copy, GError **error)
{
    gint64 room = MAILBOX_WHOLE_MAX;
    gsize length;

    while ((length = line_length(mbox)) > 0) {
        if (mbox->body_end == 0 && at_postmark(mbox, length))
            break;
        if (mbox->body_end != 0)
            length = (gsize)MIN((gint64)length, mbox->body_end - mbox->offset);
        if (length == 0) { /* here the next message begins, maybe behind an empty line */
            mbox->body_end = 0;
            mbox->line_start = mbox->blank = TRUE;
            continue;
        }
        if (copy >= 0 && room > 0 &&
            !mailbox_write(copy, peek(mbox), MIN(length, (gsize)room), error))
            return FALSE;
        room -= (gint64)length;
        take(mbox, length);
    }
    mbox->in_message = FALSE;
    return TRUE;
}

/* Whether a message may end at this offset: the file does, or the next one begins. */
static gboolean
is_message_end(const Mbox *mbox, gint64 offset)
{
    char bytes[2 * PEEK];

    if (offset > mbox->size)
        return FALSE;
    gssize got = pread_most(mbox->fd, bytes, sizeof bytes, offset, PREAD_UNKNOWN);
    const char *p = bytes;
    gsize left = got > 0 ? (gsize)got : 0;
    if (left > 0 && *p == '\r')
        p++, left--;
    if (left > 0 && *p == '\n')
        p++, left--;
    return got >= 0 && (left == 0 || mailbox_is_mbox(p, left));
}

static void
find_body_end(Mbox *mbox)
{
    static const char name[] = "content-length:";
    const char *end = mbox->head->str + mbox->head->len;

    mbox->body_end = 0;
    for (const char *line = mbox->head->str; line < end;) {
        if (g_ascii_strncasecmp(line, name, sizeof name - 1) == 0) {
            const char *digits = line + sizeof name - 1;
            digits += strspn(digits, " \t");
            guint64 length = g_ascii_strtoull(digits, NULL, 10);
            if (g_ascii_isdigit(*digits) && length <= (guint64)mbox->size &&
                is_message_end(mbox, mbox->offset + (gint64)length))
                mbox->body_end = mbox->offset + (gint64)length;
            return;
        }
        const char *feed = memchr(line, '\n', (gsize)(end - line));
        line = feed != NULL ? feed + 1 : end;
    }
}

/* FALSE when the header is longer than the limit; the rest of it is taken as body. */
static gboolean
take_head(Mbox *mbox)
{
    gsize length;

    g_string_truncate(mbox->head, 0);
    while ((length = line_length(mbox)) > 0) {
        if (mbox->head->len + length > MAILBOX_HEAD_MAX)
            return FALSE;
        g_string_append_len(mbox->head, peek(mbox), (gssize)length);
        take(mbox, length);
        if (mbox->blank)
            break;
    }
    return TRUE;
}

static void
describe(Mbox *mbox, MailboxMessage *message_out)
{
    g_free(mbox->where);
    mbox->where = g_strdup_printf("%s, at byte %" G_GINT64_FORMAT, mbox->path, mbox->offset);
    *message_out = (MailboxMessage){.where = mbox->where};
}

/* Takes what stands before the first message. */
static void
take_lead(Mbox *mbox)
{
    fill(mbox, PEEK);
    gsize lead = mailbox_lead(peek(mbox), mbox->end - mbox->start);

    if (lead > 0)
        take(mbox, lead);
}

/* One more message to tell that the file could not be read on; then nothing. */
static gboolean
tell_failure(Mbox *mbox, MailboxMessage *message_out)
{
    if (mbox->failed == 0 || mbox->told)
        return FALSE;
    describe(mbox, message_out);
    message_out->problem = g_strerror(mbox->failed);
    mbox->told = TRUE;
    return TRUE;
}

static gboolean
mbox_next(gpointer self, MailboxMessage *message_out, GError **error)
{
    Mbox *mbox = self;
    gboolean first = mbox->offset == 0;

    if (first)
        take_lead(mbox);
    if (mbox->in_message && !take_body(mbox, -1, error))
        return FALSE;
    gsize length = line_length(mbox);
    if (length == 0)
        return tell_failure(mbox, message_out);

    describe(mbox, message_out);
    gboolean takeout = postmark_is_takeout(peek(mbox), length);
    postmark_read(peek(mbox), length, &message_out->arrived);
    take(mbox, length);
    mbox->in_message = TRUE;
    if (take_head(mbox)) {
        message_out->head = mbox->head->str;
        message_out->head_length = mbox->head->len;
        find_body_end(mbox);
    } else {
        message_out->problem = "its header is too long";
    }
    takeout = takeout && g_str_has_prefix(mbox->head->str, "X-GM-THRID:");
    mbox->takeout = first ? takeout : mbox->takeout;
    message_out->labelled = mbox->takeout && takeout;
    return TRUE;
}

static int
mbox_whole(gpointer self, GError **error)
{
    Mbox *mbox = self;
    int copy = mailbox_memory(error);

    if (copy >= 0 && (!mailbox_write(copy, mbox->head->str, mbox->head->len, error) ||
                      !take_body(mbox, copy, error))) {
        close(copy);
        return -1;
    }
    return copy;
}

static char *
mbox_digest(gpointer self)
{
    Mbox *mbox = self;

    return g_strdup(g_checksum_get_string(mbox->sum));
}

static void
mbox_free(gpointer self)
{
    Mbox *mbox = self;

    close(mbox->fd);
    g_checksum_free(mbox->sum);
    g_string_free(mbox->head, TRUE);
    g_free(mbox->path);
    g_free(mbox->buffer);
    g_free(mbox->where);
    g_free(mbox);
}

MailboxReading
mailbox_read_mbox(int fd, const char *path)
{
    static const MailboxReader kind = {mbox_next, mbox_whole, mbox_digest, mbox_free};
    struct stat status;
    Mbox *mbox = g_new0(Mbox, 1);

    mbox->fd = fd;
    mbox->path = g_strdup(path);
    mbox->size = fstat(fd, &status) == 0 ? status.st_size : 0;
    mbox->sum = g_checksum_new(G_CHECKSUM_SHA256);
    mbox->buffer = g_malloc(BUFFER_SIZE);
    mbox->head = g_string_new(NULL);
    mbox->line_start = TRUE;
    return (MailboxReading){&kind, mbox};
}
