/* mailbox-files.c - messages that are files: Maildir, .eml, .emlx
 *
 * A Maildir is read as it lies there (maildir(5)): new, then cur, in the order of the names,
 * which begin with the time of delivery; so a conversation comes in about its own order. Names
 * are the only thing kept of a folder. */
#include "lib/mailbox-private.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/error.h"
#include "lib/pread.h"

#define FIRST_READ    8192 /* most headers are shorter */
#define COUNT_LINE    64   /* of an .emlx: its first line */
#define PLIST_MAX     65536
#define YEAR_2100     G_GINT64_CONSTANT(4102444800)
#define APPLE_DELETED (1 << 1)
#define APPLE_DRAFT   (1 << 6)

typedef struct {
    const char *name;
    guint directory;
} Entry;

typedef struct {
    char *path;
    char *problem;      /* of the whole folder, not told yet */
    int directories[2]; /* -1 when there is none; of a single file both */
    const char *places[2];
    gboolean maildir;
    gboolean listed; /* the entries are there */
    GStringChunk *names;
    GArray *entries; /* of Entry, sorted */
    guint next;
    gboolean single; /* one file, kept open to its end */
    int fd;          /* of the message stepped to; -1: none */
    gint64 start;    /* where the message lies in it */
    gint64 length;
    char *buffer;
    gsize size; /* of the buffer */
    char *where;
} Files;

static int
compare_entries(gconstpointer a, gconstpointer b)
{
    return strcmp(((const Entry *)a)->name, ((const Entry *)b)->name);
}

/* The name of a message in a Maildir without its flags, which change. */
static gsize
unique_length(const char *name)
{
    return strcspn(name, ":");
}

static void
set_problem(Files *files, int number)
{
    g_free(files->problem);
    files->problem = g_strdup(g_strerror(number));
}

static void
list_names(Files *files, guint directory, int fd)
{
    DIR *stream = mailbox_open_names(fd);
    gboolean mh = !files->maildir && mailbox_is_mh(fd);
    struct dirent *found;

    if (stream == NULL) {
        set_problem(files, errno);
        return;
    }
    while ((found = readdir(stream)) != NULL) {
        Entry entry = {.directory = directory};
        if (found->d_name[0] == '.' ||
            !(files->maildir || mailbox_is_message_name(found->d_name, mh)))
            continue;
        entry.name = g_string_chunk_insert(files->names, found->d_name);
        g_array_append_val(files->entries, entry);
    }
    closedir(stream);
}

/* When the first message is asked for: many a folder is stepped over. */
static void
list_all(Files *files)
{
    for (guint i = 0; i < G_N_ELEMENTS(files->directories) && !files->single; i++)
        if (files->directories[i] >= 0)
            list_names(files, i, files->directories[i]);
    g_array_sort(files->entries, compare_entries);
    files->listed = TRUE;
}

static Files *
files_new(const char *path)
{
    Files *files = g_new0(Files, 1);

    files->path = g_strdup(path);
    files->directories[0] = files->directories[1] = -1;
    files->places[0] = files->places[1] = "";
    files->names = g_string_chunk_new(16384);
    files->entries = g_array_new(FALSE, FALSE, sizeof(Entry));
    files->fd = -1;
    files->size = FIRST_READ;
    files->buffer = g_malloc(files->size);
    return files;
}

static gboolean
fail_message(MailboxMessage *message, const char *problem)
{
    message->problem = problem;
    return FALSE;
}

/* "1604311200.M5P7.host:2,S": when it was delivered; 0 when it does not tell. */
static gint64
time_of_name(const char *name)
{
    gint64 when = g_ascii_strtoll(name, NULL, 10);

    return when > 0 && when < YEAR_2100 && strchr(name, '.') != NULL ? when : 0;
}

static void
read_maildir_flags(const char *name, MailboxMessage *message)
{
    const char *flags = strstr(name, ":2,");

    if (flags == NULL)
        return;
    message->draft = strchr(flags + 3, 'D') != NULL;
    message->deleted = strchr(flags + 3, 'T') != NULL;
}

/* An .emlx is a line with the message's length in bytes, the message, and a property list with
 * flags. */
static gboolean
read_emlx_frame(Files *files, gint64 size, MailboxMessage *message)
{
    char line[COUNT_LINE + 1];
    char *end = NULL;
    gssize got = pread_most(files->fd, line, COUNT_LINE, 0, PREAD_UNKNOWN);

    if (got <= 0)
        return fail_message(message, "it is empty");
    line[got] = 0;
    guint64 length = g_ascii_strtoull(line, &end, 10);
    end += strspn(end, " \t\r");
    if (!g_ascii_isdigit(line[0]) || *end != '\n')
        return fail_message(message, "it has no length in its first line");
    files->start = end + 1 - line;
    if (length > (guint64)(size - files->start))
        return fail_message(message, "it is shorter than it says");
    files->length = (gint64)length;
    return TRUE;
}

static void
read_emlx_flags(Files *files, gint64 size, MailboxMessage *message)
{
    gint64 offset = files->start + files->length;
    gsize length = (gsize)MIN(size - offset, PLIST_MAX);
    g_autofree char *plist = g_malloc0(length + 1);

    if (pread_most(files->fd, plist, length, offset, PREAD_UNKNOWN) < 0)
        return;
    const char *key = strstr(plist, "<key>flags</key>");
    const char *value = key != NULL ? strstr(key, "<integer>") : NULL;
    if (value == NULL)
        return;
    guint64 flags = g_ascii_strtoull(value + strlen("<integer>"), NULL, 10);
    message->draft = (flags & APPLE_DRAFT) != 0;
    message->deleted = (flags & APPLE_DELETED) != 0;
}

static gboolean
read_head(Files *files, MailboxMessage *message)
{
    gsize wanted = FIRST_READ;

    for (;;) {
        gsize most = (gsize)MIN((gint64)wanted, files->length);
        if (most > files->size) {
            files->size = wanted;
            files->buffer = g_realloc(files->buffer, files->size);
        }
        gssize got = pread_most(files->fd, files->buffer, most, files->start, PREAD_UNKNOWN);
        if (got < 0)
            return fail_message(message, g_strerror(errno));
        gsize end = mailbox_head_end(files->buffer, (gsize)got);
        if (end == 0 && (gsize)got < wanted)
            end = (gsize)got; /* a header and nothing else */
        message->head = files->buffer;
        message->head_length = end;
        if (end > 0)
            return TRUE;
        if (got == 0)
            return fail_message(message, "it is empty");
        if (wanted >= MAILBOX_HEAD_MAX)
            return fail_message(message, "its header is too long");
        wanted = MIN(wanted * 4, MAILBOX_HEAD_MAX);
    }
}

static gboolean
is_emlx(const char *name)
{
    const char *dot = strrchr(name, '.');

    return dot != NULL && g_ascii_strcasecmp(dot, ".emlx") == 0;
}

/* A header that one read brings, in a file whose name told the time: most of a Maildir are
 * so, and nothing else has to be asked about the file. */
static gboolean
read_at_once(Files *files, MailboxMessage *message)
{
    ssize_t got = pread(files->fd, files->buffer, FIRST_READ, 0);

    message->head = files->buffer;
    message->head_length = got > 0 ? mailbox_head_end(files->buffer, (gsize)got) : 0;
    files->start = 0;
    files->length = MAILBOX_WHOLE_MAX;
    return message->head_length > 0;
}

/* Opens the message, whatever it is; a pipe does not make us wait. */
static gboolean
read_message(Files *files, const Entry *entry, MailboxMessage *message)
{
    struct stat status;

    if (files->maildir) {
        message->arrived = time_of_name(entry->name);
        read_maildir_flags(entry->name, message);
    }
    if (!files->single)
        files->fd = openat(files->directories[entry->directory], entry->name,
                           O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (files->fd >= 0 && message->arrived > 0 && read_at_once(files, message))
        return TRUE;
    if (files->fd < 0 || fstat(files->fd, &status) != 0)
        return fail_message(message, g_strerror(errno));
    if (!S_ISREG(status.st_mode))
        return fail_message(message, "it is no regular file");
    if (message->arrived == 0)
        message->arrived = status.st_mtime;
    files->start = 0;
    files->length = status.st_size;
    if (!files->maildir && is_emlx(entry->name)) {
        if (!read_emlx_frame(files, status.st_size, message))
            return FALSE;
        read_emlx_flags(files, status.st_size, message);
    }
    return read_head(files, message);
}

static void
close_message(Files *files)
{
    if (files->fd >= 0)
        close(files->fd);
    files->fd = -1;
}

static gboolean
files_next(gpointer self, MailboxMessage *message_out, GError **error G_GNUC_UNUSED)
{
    Files *files = self;

    *message_out = (MailboxMessage){.where = files->path};
    if (!files->listed)
        list_all(files);
    if (files->problem != NULL) {
        g_free(files->where);
        files->where = g_steal_pointer(&files->problem);
        message_out->problem = files->where;
        return TRUE;
    }
    if (!files->single)
        close_message(files);
    if (files->next >= files->entries->len)
        return FALSE;

    const Entry *entry = &g_array_index(files->entries, Entry, files->next++);
    if (!files->single) {
        g_free(files->where);
        files->where =
            g_strconcat(files->path, files->places[entry->directory], "/", entry->name, NULL);
        message_out->where = files->where;
    }
    if (!read_message(files, entry, message_out)) {
        message_out->head = NULL;
        message_out->head_length = 0;
    }
    return TRUE;
}

static int
files_whole(gpointer self, GError **error)
{
    Files *files = self;

    return mailbox_copy(files->fd, files->start, MIN(files->length, MAILBOX_WHOLE_MAX), error);
}

static char *
files_digest(gpointer self)
{
    Files *files = self;
    g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
    gint64 offset = 0;
    gssize got;

    while (files->single && (got = pread_most(files->fd, files->buffer, files->size, offset,
                                              PREAD_UNKNOWN)) > 0) {
        g_checksum_update(sum, (const guchar *)files->buffer, got);
        offset += got;
    }
    for (guint i = 0; i < files->entries->len && !files->single; i++) {
        const char *name = g_array_index(files->entries, Entry, i).name;
        gsize length = files->maildir ? unique_length(name) : strlen(name);
        g_checksum_update(sum, (const guchar *)name, (gssize)length);
        g_checksum_update(sum, (const guchar *)"\n", 1);
    }
    return g_strdup(g_checksum_get_string(sum));
}

static void
files_free(gpointer self)
{
    Files *files = self;

    close_message(files);
    for (guint i = 0; i < G_N_ELEMENTS(files->directories); i++)
        if (files->directories[i] >= 0)
            close(files->directories[i]);
    g_string_chunk_free(files->names);
    g_array_unref(files->entries);
    g_free(files->path);
    g_free(files->problem);
    g_free(files->buffer);
    g_free(files->where);
    g_free(files);
}

static const MailboxReader files_reader = {files_next, files_whole, files_digest, files_free};

MailboxReading
mailbox_read_nothing(const char *path, const char *problem)
{
    Files *files = files_new(path);

    files->problem = g_strdup(problem);
    return (MailboxReading){&files_reader, files};
}

MailboxReading
mailbox_read_file(int fd, const char *path)
{
    Files *files = files_new(path);
    g_autofree char *name = g_path_get_basename(path);
    Entry entry = {.name = g_string_chunk_insert(files->names, name)};

    files->single = TRUE;
    files->fd = fd;
    g_array_append_val(files->entries, entry);
    return (MailboxReading){&files_reader, files};
}

MailboxReading
mailbox_read_directory(int fd, const char *path)
{
    Files *files = files_new(path);

    files->directories[0] = fd;
    return (MailboxReading){&files_reader, files};
}

MailboxReading
mailbox_read_maildir(int fd, const char *path)
{
    static const char *const places[] = {"new", "cur"};
    Files *files = files_new(path);

    files->maildir = TRUE;
    for (guint i = 0; i < G_N_ELEMENTS(places); i++) {
        files->places[i] = i == 0 ? "/new" : "/cur";
        files->directories[i] =
            openat(fd, places[i], O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (files->directories[i] < 0 && errno != ENOENT)
            set_problem(files, errno);
    }
    close(fd);
    return (MailboxReading){&files_reader, files};
}
