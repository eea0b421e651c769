#include "milter/socket.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "lib/error.h"

/* libmilter replaces a socket even while another milter serves it, so a lock comes first. The
 * descriptor stays open for the life of the process. */
gboolean
socket_lock(const char *path, GError **error)
{
    g_autofree char *name = g_strconcat(path, ".lock", NULL);
    int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

    if (fd < 0) {
        g_set_error(error, EXEAT_ERROR, ERROR_CONFIG,
                    "%s: %s; the key “milter-socket” names its folder", name,
                    g_strerror(errno));
        return FALSE;
    }
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        return TRUE;
    g_set_error(error, EXEAT_ERROR, ERROR_TEMP, "%s: %s", name,
                errno == EWOULDBLOCK ? "another exeat-milter serves this socket"
                                     : g_strerror(errno));
    close(fd);
    return FALSE;
}

const char *
socket_path(const char *address)
{
    if (g_str_has_prefix(address, "unix:"))
        return address + strlen("unix:");
    if (g_str_has_prefix(address, "local:"))
        return address + strlen("local:");
    return NULL;
}
