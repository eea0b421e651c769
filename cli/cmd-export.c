#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/json.h"

enum { MESSAGE, ENVELOPE };

static const char *const NAMES[] = {[MESSAGE] = "message.eml", [ENVELOPE] = "envelope.json"};

static gboolean
write_all(int fd, const char *bytes, gsize length)
{
    while (length > 0) {
        ssize_t written = write(fd, bytes, length);

        if (written < 0 && errno != EINTR)
            return FALSE;
        bytes += MAX(written, 0);
        length -= MAX(written, 0);
    }
    return TRUE;
}

static gboolean
write_json(int fd, GVariant *answer)
{
    g_autofree char *json = json_of_answer(answer);

    return json != NULL && write_all(fd, json, strlen(json));
}

static gboolean
copy(int fd, int from)
{
    char buffer[64 * 1024];
    off_t offset = 0;
    ssize_t length;

    while ((length = pread(from, buffer, sizeof buffer, offset)) > 0) {
        if (!write_all(fd, buffer, length))
            return FALSE;
        offset += length;
    }
    return length == 0;
}

/* One file, which others cannot read: the bytes of from, or the answer when from is -1. */
static int
write_file(const char *folder, const char *name, int from, GVariant *answer)
{
    g_autofree char *path = g_build_filename(folder, name, NULL);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    if (fd < 0)
        return command_fail_file(path, EX_CANTCREAT);
    gboolean written = from >= 0 ? copy(fd, from) : write_json(fd, answer);
    if (close(fd) == 0 && written)
        return EX_OK;
    return command_fail_file(path, EX_CANTCREAT);
}

/* What could not be written whole is taken away again. */
static void
remove_folder(const char *folder)
{
    for (guint i = 0; i < G_N_ELEMENTS(NAMES); i++) {
        g_autofree char *path = g_build_filename(folder, NAMES[i], NULL);
        (void)unlink(path);
    }
    (void)rmdir(folder);
}

static int
write_folder(const char *folder, int bytes, GVariant *answer)
{
    if (mkdir(folder, 0700) != 0)
        return command_fail_file(folder, EX_CANTCREAT);
    int status = write_file(folder, NAMES[MESSAGE], bytes, NULL);
    if (status == EX_OK)
        status = write_file(folder, NAMES[ENVELOPE], -1, answer);
    if (status != EX_OK)
        remove_folder(folder);
    return status;
}

/* A folder of its own, so that nothing is written over. */
int
cmd_export(const Session *session, char **words)
{
    GVariantDict arguments;
    int bytes = -1, status;

    g_variant_dict_init(&arguments, NULL);
    g_variant_dict_insert(&arguments, "id", "s", words[0]);
    g_autoptr(GVariant) answer =
        request_ask_bytes(session, "export", g_variant_dict_end(&arguments), &bytes, &status);
    if (answer == NULL)
        return status;
    status = write_folder(words[1], bytes, answer);
    close(bytes);
    return status != EX_OK
               ? status
               : command_print_text(session, "digest", answer_text(answer, "digest"));
}
