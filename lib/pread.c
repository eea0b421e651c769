#include "lib/pread.h"

#include <errno.h>
#include <unistd.h>

gssize
pread_most(int fd, void *buffer, gsize room, guint64 offset, guint64 size)
{
    gsize filled = 0;

    while (filled < room && (filled == 0 || offset + filled != size)) {
        ssize_t got =
            pread(fd, (char *)buffer + filled, room - filled, (off_t)(offset + filled));

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        filled += (gsize)got;
    }
    return (gssize)filled;
}
