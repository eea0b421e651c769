#include "store/witness.h"

#include <errno.h>
#include <fcntl.h>
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
    return read_head(witness, error) ? g_steal_pointer(&witness) : NULL;
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
witness_hand_over(Witness *witness, const char *item, const char *digest, gint64 now,
                  GError **error)
{
    g_autofree char *line = g_strdup_printf("%" G_GINT64_FORMAT " %s %s\n", now, item, digest);
    gssize length = (gssize)strlen(line);

    return end_last_line(witness, error) && ((write(witness->log_fd, line, length) == length &&
                                              fdatasync(witness->log_fd) == 0) ||
                                             fail(witness->log_path, error));
}

GHashTable *
witness_handed_over(Witness *witness, GError **error)
{
    g_autoptr(GHashTable) items = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GError) trouble = NULL;
    g_autofree char *text = NULL;

    if (!g_file_get_contents(witness->log_path, &text, NULL, &trouble)) {
        g_set_error(error, EXEAT_ERROR, ERROR_TEMP, "%s", trouble->message);
        return NULL;
    }
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (guint i = 0; lines[i] != NULL; i++) {
        g_auto(GStrv) words = g_strsplit(lines[i], " ", -1);

        if (g_strv_length(words) == 3)
            g_hash_table_add(items, g_strdup(words[1]));
    }
    return g_steal_pointer(&items);
}
