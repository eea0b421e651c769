#include "lib/mailbox-private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/error.h"
#include "lib/pread.h"
#include "lib/postmark.h"

#define HEAD_MAX     256 /* bytes that tell what a file is */
#define NUMBERED_MAX 20  /* files of a folder that are looked into */

struct _Mailbox {
    const MailboxSource *source;
    gpointer self;
    MailboxReading reading; /* of the folder stepped to; kind is NULL before the first */
};

Mailbox *
mailbox_new(const MailboxSource *source, gpointer self)
{
    Mailbox *mailbox = g_new0(Mailbox, 1);

    mailbox->source = source;
    mailbox->self = self;
    return mailbox;
}

Mailbox *
mailbox_open(const char *path, GError **error)
{
    return mailbox_walk(path, error);
}

static void
end_folder(Mailbox *mailbox)
{
    if (mailbox->reading.kind != NULL)
        mailbox->reading.kind->free(mailbox->reading.self);
    mailbox->reading = (MailboxReading){0};
}

void
mailbox_free(Mailbox *mailbox)
{
    if (mailbox == NULL)
        return;
    end_folder(mailbox);
    mailbox->source->free(mailbox->self);
    g_free(mailbox);
}

gboolean
mailbox_next_folder(Mailbox *mailbox, MailboxFolder *folder_out, GError **error)
{
    end_folder(mailbox);
    return mailbox->source->next_folder(mailbox->self, folder_out, &mailbox->reading, error);
}

void
mailbox_rewind(Mailbox *mailbox)
{
    end_folder(mailbox);
    mailbox->source->rewind(mailbox->self);
}

gboolean
mailbox_next(Mailbox *mailbox, MailboxMessage *message_out, GError **error)
{
    return mailbox->reading.kind->next(mailbox->reading.self, message_out, error);
}

int
mailbox_whole(Mailbox *mailbox, GError **error)
{
    return mailbox->reading.kind->whole(mailbox->reading.self, error);
}

char *
mailbox_digest(Mailbox *mailbox)
{
    return mailbox->reading.kind->digest(mailbox->reading.self);
}

static gboolean
is_number(const char *name)
{
    return name[strspn(name, "0123456789")] == 0;
}

/* Whether a file begins as a message does, and not as an mbox. */
static gboolean
begins_with_field(int fd, const char *name)
{
    char bytes[HEAD_MAX];
    int file = openat(fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    ssize_t length = file >= 0 ? read(file, bytes, sizeof bytes) : -1;

    if (file >= 0)
        close(file);
    return length > 0 && mailbox_is_field(bytes, (gsize)length);
}

/* refile, rcvstore and Fcc write into a folder and no sequences: there the files with numbers
 * for names tell, as far as all of them are messages. */
static gboolean
has_numbered_messages(int fd)
{
    DIR *stream = mailbox_open_names(fd);
    struct dirent *found;
    guint messages = 0;
    gboolean others = FALSE;

    while (stream != NULL && !others && messages < NUMBERED_MAX &&
           (found = readdir(stream)) != NULL) {
        struct stat status;
        if (!is_number(found->d_name) ||
            fstatat(fd, found->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(status.st_mode))
            continue;
        messages++;
        others = !begins_with_field(fd, found->d_name);
    }
    if (stream != NULL)
        closedir(stream);
    return messages > 0 && !others;
}

gboolean
mailbox_is_mh(int fd)
{
    struct stat status;

    return (fstatat(fd, ".mh_sequences", &status, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(status.st_mode)) ||
           has_numbered_messages(fd);
}

gboolean
mailbox_is_message_name(const char *name, gboolean mh)
{
    g_autofree char *lower = g_ascii_strdown(name, -1);

    return (mh && is_number(name)) || g_str_has_suffix(lower, ".eml") ||
           g_str_has_suffix(lower, ".emlx");
}

gboolean
mailbox_is_field(const char *bytes, gsize length)
{
    gsize i = 0;

    while (i < length && bytes[i] > ' ' && bytes[i] < 0x7f && bytes[i] != ':')
        i++;
    return i > 0 && i < length && bytes[i] == ':';
}

gboolean
mailbox_is_mbox(const char *bytes, gsize length)
{
    const char *feed = memchr(bytes, '\n', length);
    gint64 when;

    return feed != NULL && postmark_read(bytes, (gsize)(feed - bytes), &when) &&
           mailbox_is_field(feed + 1, length - (gsize)(feed + 1 - bytes));
}

static gsize
empty_lines(const char *bytes, gsize length)
{
    gsize taken = 0;

    while (taken < length && (bytes[taken] == '\r' || bytes[taken] == '\n'))
        taken++;
    return taken;
}

gsize
mailbox_lead(const char *bytes, gsize length)
{
    static const char mark[] = "\xef\xbb\xbf";
    gsize lead = sizeof mark - 1;
    gint64 when;

    if (length < lead || memcmp(bytes, mark, lead) != 0)
        lead = 0;
    for (;;) {
        lead += empty_lines(bytes + lead, length - lead);
        const char *feed = memchr(bytes + lead, '\n', length - lead);
        gsize line = feed != NULL ? (gsize)(feed - bytes) - lead : 0;
        gsize empty = feed != NULL ? empty_lines(feed + 1, length - lead - line - 1) : 0;
        if (empty == 0 || !postmark_read(bytes + lead, line, &when))
            return lead;
        lead += line + 1; /* a message of nothing */
    }
}

gboolean
mailbox_is_takeout(const char *bytes, gsize length)
{
    static const char first[] = "X-GM-THRID:";
    const char *feed = memchr(bytes, '\n', length);

    return feed != NULL && postmark_is_takeout(bytes, (gsize)(feed - bytes)) &&
           length - (gsize)(feed + 1 - bytes) >= sizeof first - 1 &&
           memcmp(feed + 1, first, sizeof first - 1) == 0;
}

DIR *
mailbox_open_names(int fd)
{
    /* A duplicate would go on where the last reader stopped. */
    int again = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *names = again >= 0 ? fdopendir(again) : NULL;

    if (names == NULL && again >= 0)
        close(again);
    return names;
}

gsize
mailbox_head_end(const char *bytes, gsize length)
{
    const char *end = bytes + length;
    const char *line = bytes;

    while (line < end) {
        gsize rest = (gsize)(end - line);
        if (line[0] == '\n')
            return (gsize)(line + 1 - bytes);
        if (rest > 1 && line[0] == '\r' && line[1] == '\n')
            return (gsize)(line + 2 - bytes);
        const char *feed = memchr(line, '\n', rest);
        if (feed == NULL)
            return 0;
        line = feed + 1;
    }
    return 0;
}

static gboolean
fail(const char *what, GError **error)
{
    g_set_error(error, EXEAT_ERROR, ERROR_TEMP, "%s: %s", what, g_strerror(errno));
    return FALSE;
}

int
mailbox_memory(GError **error)
{
    int fd = memfd_create("message", MFD_CLOEXEC);

    if (fd < 0)
        fail("no memory for a message", error);
    return fd;
}

gboolean
mailbox_write(int fd, const char *bytes, gsize length, GError **error)
{
    while (length > 0) {
        ssize_t written = write(fd, bytes, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return fail("a message cannot be kept", error);
        bytes += written;
        length -= (gsize)written;
    }
    return TRUE;
}

int
mailbox_copy(int fd, gint64 offset, gint64 length, GError **error)
{
    char buffer[16384];
    int copy = mailbox_memory(error);

    while (copy >= 0 && length > 0) {
        gssize got = pread_most(fd, buffer, (gsize)MIN(length, (gint64)sizeof buffer),
                                (guint64)offset, PREAD_UNKNOWN);
        if (got == 0)
            break;
        if (got < 0 ? !fail("a message cannot be read", error)
                    : !mailbox_write(copy, buffer, (gsize)got, error)) {
            close(copy);
            return -1;
        }
        offset += got;
        length -= got;
    }
    return copy;
}
