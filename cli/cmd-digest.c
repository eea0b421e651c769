#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sysexits.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/envelope-file.h"
#include "lib/digest.h"
#include "lib/escape.h"

static int
give_up(const char *message)
{
    g_autofree char *safe = escape_line(message);

    fprintf(stderr, "exeat: %s\n", safe);
    return EX_NOINPUT;
}

/* The digest of a message with an envelope, computed here: the relay is not asked. */
int
cmd_digest(const Session *session, char **words)
{
    const char *named = session_option(session, "envelope");
    g_autofree char *folder = g_path_get_dirname(words[0]);
    g_autofree char *beside = g_build_filename(folder, "envelope.json", NULL);
    g_auto(EnvelopeFile) file = {0};
    g_autoptr(GError) error = NULL;

    if (!envelope_file_read(named != NULL ? named : beside, &file, &error))
        return give_up(error->message);
    int fd = open(words[0], O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return command_fail_file(words[0], EX_NOINPUT);
    g_autofree char *digest = digest_action(file.account, file.envelope, fd, &error);
    close(fd);
    if (digest == NULL)
        return give_up(error->message);
    int status = command_print_text(session, "digest", digest);
    if (status != EX_OK || g_str_equal(digest, file.digest))
        return status;
    fprintf(stderr, "exeat: the relay's digest is another one\n");
    return EX_DATAERR;
}
