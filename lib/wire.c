#include "lib/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/error.h"

#define FRAME_TYPE    G_VARIANT_TYPE("(sa{sv})")
#define PREFIX_LENGTH 4
#define BACKLOG       128

/* What is read at once: most frames are whole then. */
#define AHEAD (16 * 1024)

struct _Wire {
    int fd;
    guint patience_ms; /* with which the kernel waits for the first byte; 0: for ever */
};

/* What one recvmsg may bring: room for more than the one allowed, so that more is seen. */
typedef union {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(4 * sizeof(int))];
} Control;

static gboolean
fail(int number, const char *what, GError **error)
{
    g_set_error(error, EXEAT_ERROR, ERROR_TEMP, "%s: %s", what, g_strerror(number));
    return FALSE;
}

static gboolean
blame(const char *what, GError **error)
{
    g_set_error_literal(error, EXEAT_ERROR, ERROR_PROTOCOL, what);
    return FALSE;
}

/* Listening */

static gboolean
fill_address(struct sockaddr_un *address, const char *path, GError **error)
{
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    if (strlen(path) >= sizeof address->sun_path)
        return fail(ENAMETOOLONG, path, error);
    g_strlcpy(address->sun_path, path, sizeof address->sun_path);
    return TRUE;
}

/* The descriptor stays open, unseen, until the process ends: that is the lock. */
static gboolean
take_lock(const char *path, GError **error)
{
    g_autofree char *lock = g_strconcat(path, ".lock", NULL);
    int fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

    if (fd < 0)
        return fail(errno, lock, error);
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        return TRUE;
    if (errno == EWOULDBLOCK)
        g_set_error(error, EXEAT_ERROR, ERROR_TEMP, "%s: another process serves it", path);
    else
        fail(errno, lock, error);
    close(fd);
    return FALSE;
}

/* Binds under a private name and moves the socket into place once its mode is right and it
 * listens: nobody can meet it half made, and a dead socket of that name is replaced. */
static gboolean
listen_at(int fd, const char *path, mode_t mode, GError **error)
{
    g_autofree char *private = g_strconcat(path, ".new", NULL);
    struct sockaddr_un address;
    struct stat status;

    if (lstat(path, &status) == 0 && !S_ISSOCK(status.st_mode))
        return fail(ENOTSOCK, path, error);
    if (!fill_address(&address, private, error))
        return FALSE;
    if (unlink(private) != 0 && errno != ENOENT)
        return fail(errno, private, error);
    if (bind(fd, (struct sockaddr *)&address, sizeof address) != 0)
        return fail(errno, private, error);
    if (chmod(private, mode) == 0 && listen(fd, BACKLOG) == 0 && rename(private, path) == 0)
        return TRUE;
    fail(errno, path, error);
    unlink(private);
    return FALSE;
}

int
wire_listen(const char *path, mode_t mode, GError **error)
{
    if (!take_lock(path, error))
        return -1;

    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        fail(errno, "socket", error);
        return -1;
    }
    if (!listen_at(fd, path, mode, error)) {
        close(fd);
        return -1;
    }
    return fd;
}

/* Connections */

Wire *
wire_new(int fd)
{
    Wire *wire = g_new0(Wire, 1);

    wire->fd = fd;
    return wire;
}

Wire *
wire_connect(const char *path, guint timeout_ms, GError **error)
{
    struct sockaddr_un address;
    struct timeval patience = {timeout_ms / 1000, timeout_ms % 1000 * 1000};

    if (!fill_address(&address, path, error))
        return NULL;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        fail(errno, "socket", error);
        return NULL;
    }
    g_autoptr(Wire) wire = wire_new(fd);

    /* With a full backlog connect waits as long as a send would (unix(7) has no poll for it).
     */
    if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience) != 0) {
        fail(errno, "SO_SNDTIMEO", error);
        return NULL;
    }
    while (connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        if (errno == EINTR)
            continue;
        fail(errno, path, error);
        return NULL;
    }
    return g_steal_pointer(&wire);
}

void
wire_free(Wire *wire)
{
    if (wire == NULL)
        return;
    close(wire->fd);
    g_free(wire);
}

gboolean
wire_peer(Wire *wire, uid_t *uid_out, gid_t *gid_out, GError **error)
{
    struct ucred peer;
    socklen_t length = sizeof peer;

    if (getsockopt(wire->fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0)
        return fail(errno, "SO_PEERCRED", error);
    *uid_out = peer.uid;
    *gid_out = peer.gid;
    return TRUE;
}

gboolean
wire_idle(Wire *wire)
{
    struct pollfd item = {wire->fd, POLLIN | POLLRDHUP, 0};

    return poll(&item, 1, 0) == 0;
}

/* Frames */

static gint64
deadline_after(guint timeout_ms)
{
    return g_get_monotonic_time() + (gint64)timeout_ms * 1000;
}

/* The deadline is the whole frame's: a peer that sends a byte now and then gains nothing. */
static gboolean
wait_for(Wire *wire, short events, gint64 deadline, GError **error)
{
    struct pollfd item = {wire->fd, events, 0};

    for (;;) {
        gint64 left = (deadline - g_get_monotonic_time() + 999) / 1000;
        if (left <= 0)
            return fail(ETIMEDOUT, "local socket", error);
        int ready = poll(&item, 1, MIN(left, G_MAXINT));
        if (ready > 0)
            return TRUE;
        if (ready < 0 && errno != EINTR)
            return fail(errno, "poll", error);
    }
}

/* Closes every passed descriptor, but leaves the only one in *fd_out when that is wanted and
 * still empty. FALSE when more came than may come. */
static gboolean
take_descriptors(struct msghdr *message, int *fd_out)
{
    gboolean welcome = (message->msg_flags & MSG_CTRUNC) == 0;

    for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c != NULL; c = CMSG_NXTHDR(message, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        for (gsize at = CMSG_LEN(0); at + sizeof(int) <= c->cmsg_len; at += sizeof(int)) {
            int fd;
            memcpy(&fd, (char *)c + at, sizeof fd);
            if (fd_out != NULL && *fd_out < 0) {
                *fd_out = fd;
                continue;
            }
            close(fd);
            welcome = FALSE;
        }
    }
    return welcome;
}

/* How long the first byte may take. */
static gboolean
be_patient(Wire *wire, guint timeout_ms, GError **error)
{
    guint most = MAX(timeout_ms, 1); /* 0 would be for ever */
    struct timeval patience = {most / 1000, most % 1000 * 1000};

    if (wire->patience_ms == most)
        return TRUE;
    if (setsockopt(wire->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) != 0)
        return fail(errno, "SO_RCVTIMEO", error);
    wire->patience_ms = most;
    return TRUE;
}

/* Waits, and takes what is there. Where a descriptor may come, with the prefix, nothing beyond
 * the prefix is read: which bytes one came with could not be told. *got_out: 0 when the peer
 * closed. */
static gboolean
receive_first(Wire *wire, struct iovec parts[2], gsize *got_out, int *fd_out, GError **error)
{
    Control control;
    ssize_t got;
    struct msghdr message = {.msg_iov = parts,
                             .msg_iovlen = fd_out == NULL ? 2 : 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};

    do
        got = recvmsg(wire->fd, &message, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return fail(errno == EAGAIN ? ETIMEDOUT : errno, "local socket", error);
    if (!take_descriptors(&message, fd_out))
        return blame(fd_out != NULL ? "more descriptors than may come"
                                    : "a descriptor, which none but milter-user may send",
                     error);
    *got_out = (gsize)got;
    return TRUE;
}

/* Fills a buffer; *got_out falls short only when the peer closed. Tries once before the first
 * wait, where most often all is there. A descriptor does not come here any more. */
static gboolean
receive_all(Wire *wire, void *buffer, gsize length, gint64 deadline, gsize *got_out,
            GError **error)
{
    gsize total = 0;

    for (gboolean wait = FALSE; total < length; wait = TRUE) {
        Control control;
        struct iovec part = {(char *)buffer + total, length - total};
        struct msghdr message = {.msg_iov = &part,
                                 .msg_iovlen = 1,
                                 .msg_control = &control,
                                 .msg_controllen = sizeof control};

        if (wait && !wait_for(wire, POLLIN, deadline, error))
            return FALSE;
        ssize_t got = recvmsg(wire->fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
        if (got < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (got < 0)
            return fail(errno, "local socket", error);
        if (!take_descriptors(&message, NULL))
            return blame("more descriptors than may come", error);
        if (got == 0)
            break;
        total += got;
    }
    *got_out = total;
    return TRUE;
}

/* The rest of a frame whose prefix is read, and of which some bytes are there already. */
static GVariant *
receive_body(Wire *wire, gsize length, const guint8 *ahead, gsize had, gint64 deadline,
             GError **error)
{
    g_autofree guint8 *body = g_malloc(length);
    gsize got = 0;

    memcpy(body, ahead, had);
    if (!receive_all(wire, body + had, length - had, deadline, &got, error))
        return NULL;
    got += had;
    if (got < length) {
        blame("the peer closed within a frame", error);
        return NULL;
    }
    g_autoptr(GBytes) bytes = g_bytes_new_take(g_steal_pointer(&body), length);
    g_autoptr(GVariant) frame =
        g_variant_ref_sink(g_variant_new_from_bytes(FRAME_TYPE, bytes, FALSE));
    if (!g_variant_is_normal_form(frame)) {
        blame("a frame that is not in normal form", error);
        return NULL;
    }
    return g_steal_pointer(&frame);
}

/* *frame_out is NULL, with TRUE, when the peer closed before the first byte. */
static gboolean
receive_frame(Wire *wire, gsize limit, gint64 deadline, GVariant **frame_out, int *fd_out,
              GError **error)
{
    guint8 prefix[PREFIX_LENGTH], ahead[AHEAD];
    struct iovec parts[] = {{prefix, sizeof prefix}, {ahead, sizeof ahead}};
    guint32 length;
    gsize got = 0, rest = 0;

    if (!receive_first(wire, parts, &got, fd_out, error))
        return FALSE;
    if (got == 0) {
        *frame_out = NULL;
        return TRUE;
    }
    gsize had = got > sizeof prefix ? got - sizeof prefix : 0;
    if (got < sizeof prefix &&
        !receive_all(wire, prefix + got, sizeof prefix - got, deadline, &rest, error))
        return FALSE;
    if (got + rest < sizeof prefix)
        return blame("the peer closed within a frame", error);
    memcpy(&length, prefix, sizeof length);
    length = GUINT32_FROM_BE(length);
    if (length == 0 || length > limit)
        return blame("a frame of no bytes or too many", error);
    if (had > length)
        return blame("another frame before the answer to the first", error);
    *frame_out = receive_body(wire, length, ahead, had, deadline, error);
    return *frame_out != NULL;
}

gboolean
wire_receive(Wire *wire, gsize limit, guint timeout_ms, char **verb_out,
             GVariant **arguments_out, int *fd_out, GError **error)
{
    g_autoptr(GVariant) frame = NULL;
    int fd = -1;

    if (!be_patient(wire, timeout_ms, error) ||
        !receive_frame(wire, limit, deadline_after(timeout_ms), &frame,
                       fd_out != NULL ? &fd : NULL, error)) {
        if (fd >= 0)
            close(fd);
        return FALSE;
    }
    *verb_out = NULL;
    *arguments_out = NULL;
    if (frame != NULL)
        g_variant_get(frame, "(s@a{sv})", verb_out, arguments_out);
    if (fd_out != NULL)
        *fd_out = fd;
    return TRUE;
}

/* fd: -1, or a descriptor to ride on the first byte. */
static ssize_t
send_some(Wire *wire, struct iovec parts[2], int fd)
{
    Control control = {.bytes = {0}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};

    if (fd >= 0) {
        message.msg_control = &control;
        message.msg_controllen = CMSG_SPACE(sizeof fd);
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(header), &fd, sizeof fd);
    }
    return sendmsg(wire->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void
skip(struct iovec *part, gsize *bytes)
{
    gsize length = MIN(part->iov_len, *bytes);

    part->iov_base = (char *)part->iov_base + length;
    part->iov_len -= length;
    *bytes -= length;
}

/* Waits only when a first try did not send it all: most often there is room. */
static gboolean
send_all(Wire *wire, struct iovec parts[2], int fd, gint64 deadline, GError **error)
{
    for (gboolean wait = FALSE; parts[0].iov_len + parts[1].iov_len > 0; wait = TRUE) {
        if (wait && !wait_for(wire, POLLOUT, deadline, error))
            return FALSE;
        ssize_t written = send_some(wire, parts, fd);
        if (written < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (written < 0)
            return fail(errno, "local socket", error);
        gsize sent = (gsize)written;
        skip(&parts[0], &sent);
        skip(&parts[1], &sent);
        fd = -1;
    }
    return TRUE;
}

gboolean
wire_send(Wire *wire, const char *verb, GVariant *arguments, int fd, guint timeout_ms,
          GError **error)
{
    if (arguments == NULL)
        arguments = g_variant_new("a{sv}", NULL);
    GVariant *members[] = {g_variant_new_string(verb), arguments};
    g_autoptr(GVariant) frame =
        g_variant_ref_sink(g_variant_new_tuple(members, G_N_ELEMENTS(members)));
    gsize length = g_variant_get_size(frame);

    if (length > WIRE_LIMIT_MILTER)
        return fail(EMSGSIZE, "local socket", error);
    guint32 prefix = GUINT32_TO_BE((guint32)length);
    struct iovec parts[] = {{&prefix, sizeof prefix},
                            {(gpointer)g_variant_get_data(frame), length}};
    return send_all(wire, parts, fd, deadline_after(timeout_ms), error);
}
