#include "store/witness.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/error.h"

/* Always of one length, so that it is written over in place, in one sector, on a full disk
 * too.
 */
#define HEAD_FORMAT "%020" G_GINT64_FORMAT " %64s %020" G_GINT64_FORMAT "\n"
#define HEAD_LENGTH (20 + 1 + SEAL_LENGTH + 1 + 20 + 1)

struct _Witness {
    char *head_path;
    char *log_path;
    int head_fd;
    int log_fd;
    ChainHead head;
    gint64 seen;
    gint64 synced_us; /* monotonic; 0: never */
};

static gboolean
fail(const char *path, GError **error)
{
    g_set_error(error, EXEAT_ERROR, ERROR_TEMP, "%s: %s", path, g_strerror(errno));
    return FALSE;
}

static gboolean
parse_head(Witness *witness, const char *text)
{
    g_auto(GStrv) words = g_strsplit(text, " ", -1);

    if (g_strv_length(words) != 3 || strlen(words[1]) != SEAL_LENGTH ||
        !g_ascii_string_to_signed(words[0], 10, 1, G_MAXINT64, &witness->head.seq, NULL) ||
        !g_ascii_string_to_signed(words[2], 10, 0, G_MAXINT64, &witness->seen, NULL))
        return FALSE;
    g_strlcpy(witness->head.seal, words[1], sizeof witness->head.seal);
    return TRUE;
}

static gboolean
read_head(Witness *witness, GError **error)
{
    char text[HEAD_LENGTH + 1] = "";
    ssize_t length = pread(witness->head_fd, text, sizeof text, 0);

    if (length < 0)
        return fail(witness->head_path, error);
    if (length == 0)
        return TRUE;
    if (length == HEAD_LENGTH && text[HEAD_LENGTH - 1] == '\n') {
        text[HEAD_LENGTH - 1] = '\0';
        if (parse_head(witness, text))
            return TRUE;
    }
    g_set_error(error, EXEAT_ERROR, ERROR_INTEGRITY,
                "%s: expected number, seal and time of the newest audit entry",
                witness->head_path);
    return FALSE;
}

/* What a crash or a full disk left without its end stays a line of its own, that says nothing.
 */
static gboolean
end_last_line(Witness *witness, GError **error)
{
    struct stat status;
    char last = '\n';

    if (fstat(witness->log_fd, &status) != 0 ||
        (status.st_size > 0 && pread(witness->log_fd, &last, 1, status.st_size - 1) != 1) ||
        (last != '\n' && write(witness->log_fd, "\n", 1) != 1))
        return fail(witness->log_path, error);
    return TRUE;
}

/* A line of the log. */
enum { WORD_TIME, WORD_ITEM, WORD_DIGEST, WORD_EXPIRES, WORD_SEQ, WORD_SEAL, WORD_COUNT };

/* Called with each whole line: its words, and the line with its end. */
typedef void (*VisitLine)(char **words, const char *line, gpointer data);

static gboolean
visit_lines(Witness *witness, VisitLine visit, gpointer data, GError **error)
{
    g_autoptr(GError) trouble = NULL;
    g_autofree char *text = NULL;

    if (!g_file_get_contents(witness->log_path, &text, NULL, &trouble)) {
        g_set_error(error, EXEAT_ERROR, ERROR_TEMP, "%s", trouble->message);
        return FALSE;
    }
    for (const char *start = text, *end; (end = strchr(start, '\n')) != NULL;
         start = end + 1) {
        g_autofree char *line = g_strndup(start, (gsize)(end - start) + 1);
        g_autofree char *bare = g_strndup(start, (gsize)(end - start));
        g_auto(GStrv) words = g_strsplit(bare, " ", -1);

        if (g_strv_length(words) == WORD_COUNT)
            visit(words, line, data);
    }
    return TRUE;
}

/* The head never goes back. */
static void
raise_head(char **words, const char *line G_GNUC_UNUSED, gpointer data)
{
    Witness *witness = data;
    gint64 seq;

    if (strlen(words[WORD_SEAL]) != SEAL_LENGTH ||
        !g_ascii_string_to_signed(words[WORD_SEQ], 10, witness->head.seq + 1, G_MAXINT64, &seq,
                                  NULL))
        return;
    witness->head.seq = seq;
    g_strlcpy(witness->head.seal, words[WORD_SEAL], sizeof witness->head.seal);
}

Witness *
witness_open(const char *folder, GError **error)
{
    g_autoptr(Witness) witness = g_new0(Witness, 1);

    witness->head_path = g_build_filename(folder, "audit.head", NULL);
    witness->log_path = g_build_filename(folder, "handovers.log", NULL);
    witness->log_fd = -1;
    witness->head_fd =
        open(witness->head_path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (witness->head_fd < 0) {
        fail(witness->head_path, error);
        return NULL;
    }
    witness->log_fd =
        open(witness->log_path, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (witness->log_fd < 0) {
        fail(witness->log_path, error);
        return NULL;
    }
    if (!read_head(witness, error) || !visit_lines(witness, raise_head, witness, error))
        return NULL;
    return g_steal_pointer(&witness);
}

void
witness_free(Witness *witness)
{
    if (witness == NULL)
        return;
    if (witness->head_fd >= 0)
        close(witness->head_fd);
    if (witness->log_fd >= 0)
        close(witness->log_fd);
    g_free(witness->head_path);
    g_free(witness->log_path);
    g_free(witness);
}

const ChainHead *
witness_head(const Witness *witness)
{
    return &witness->head;
}

gint64
witness_seen(const Witness *witness)
{
    return witness->seen;
}

gboolean
witness_sync(Witness *witness, GError **error)
{
    if (fdatasync(witness->head_fd) != 0)
        return fail(witness->head_path, error);
    witness->synced_us = g_get_monotonic_time();
    return TRUE;
}

gboolean
witness_write(Witness *witness, const ChainHead *head, gint64 seen, GError **error)
{
    g_autofree char *text = g_strdup_printf(HEAD_FORMAT, head->seq, head->seal, seen);

    if (pwrite(witness->head_fd, text, HEAD_LENGTH, 0) != HEAD_LENGTH)
        return fail(witness->head_path, error);
    witness->head = *head;
    witness->seen = seen;
    return g_get_monotonic_time() - witness->synced_us < G_USEC_PER_SEC ||
           witness_sync(witness, error);
}

gboolean
witness_hand_over(Witness *witness, const char *item, const char *digest, gint64 expires,
                  gint64 now, GError **error)
{
    const ChainHead *head = &witness->head;
    g_autofree char *line = g_strdup_printf(
        "%" G_GINT64_FORMAT " %s %s %" G_GINT64_FORMAT " %" G_GINT64_FORMAT " %s\n", now, item,
        digest, expires, head->seq, head->seal[0] != '\0' ? head->seal : "-");
    gssize length = (gssize)strlen(line);

    return end_last_line(witness, error) && ((write(witness->log_fd, line, length) == length &&
                                              fdatasync(witness->log_fd) == 0) ||
                                             fail(witness->log_path, error));
}

static void
add_item(char **words, const char *line G_GNUC_UNUSED, gpointer data)
{
    g_hash_table_replace(data, g_strdup(words[WORD_ITEM]), g_strdup(words[WORD_DIGEST]));
}

GHashTable *
witness_handed_over(Witness *witness, GError **error)
{
    g_autoptr(GHashTable) items =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);

    return visit_lines(witness, add_item, items, error) ? g_steal_pointer(&items) : NULL;
}

typedef struct {
    gint64 expired;
    GString *kept;
    char *last; /* the newest line that was not kept: it has the head */
    guint dropped;
} Sieve;

static void
sift(char **words, const char *line, gpointer data)
{
    Sieve *sieve = data;
    gint64 expires = 0;

    g_clear_pointer(&sieve->last, g_free);
    if (g_ascii_string_to_signed(words[WORD_EXPIRES], 10, 0, G_MAXINT64, &expires, NULL) &&
        expires < sieve->expired) {
        sieve->last = g_strdup(line);
        sieve->dropped++;
        return;
    }
    g_string_append(sieve->kept, line);
}

static gboolean
write_whole(int fd, const GString *text)
{
    gsize done = 0;

    while (done < text->len) {
        ssize_t wrote = write(fd, text->str + done, text->len - done);

        if (wrote < 0)
            return FALSE;
        done += (gsize)wrote;
    }
    return fsync(fd) == 0;
}

static gboolean
sync_folder(const char *path)
{
    g_autofree char *folder = g_path_get_dirname(path);
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    gboolean synced = fd >= 0 && fsync(fd) == 0;

    if (fd >= 0)
        close(fd);
    return synced;
}

/* From the moment of the exchange new lines go to the new file; until its name is synced, none
 * is written. */
static gboolean
exchange_log(Witness *witness, const GString *text, GError **error)
{
    g_autofree char *fresh = g_strconcat(witness->log_path, ".new", NULL);
    int fd = open(fresh, O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (fd < 0)
        return fail(fresh, error);
    if (!write_whole(fd, text) || rename(fresh, witness->log_path) != 0) {
        fail(fresh, error);
        close(fd);
        return FALSE;
    }
    close(witness->log_fd);
    witness->log_fd = fd;
    return sync_folder(witness->log_path) || fail(witness->log_path, error);
}

gboolean
witness_prune(Witness *witness, gint64 expired, GError **error)
{
    g_autoptr(GString) kept = g_string_new(NULL);
    Sieve sieve = {.expired = expired, .kept = kept};
    gboolean read = visit_lines(witness, sift, &sieve, error);
    g_autofree char *last = sieve.last;

    if (!read)
        return FALSE;
    if (last != NULL)
        g_string_append(kept, last);
    return sieve.dropped == (last != NULL) || exchange_log(witness, kept, error);
}
