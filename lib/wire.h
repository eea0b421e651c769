/* wire.h - the local socket: the only framing in Exeat
 *
 * A frame is 4 bytes of length, big endian, then one serialised GVariant of type (sa{sv}): a
 * verb and its arguments, in the byte order of the host: both ends are here. One descriptor
 * may ride along (SCM_RIGHTS), with the first bytes. A frame is answered before the next one
 * comes: more than one at once is none. Every read and write has a limit in bytes
 * and a deadline; what is not a frame in normal form is ERROR_PROTOCOL and ends the
 * connection, never the daemon. Who the peer is comes from the kernel (SO_PEERCRED), never
 * from an argument (C5). A Wire belongs to one thread at a time. Errors: ERROR_TEMP,
 * ERROR_PROTOCOL. */
#pragma once

#include <glib.h>
#include <sys/types.h>

#define WIRE_LIMIT_PEOPLE (64 * 1024)        /* a request of a person */
#define WIRE_LIMIT_LETTER (512 * 1024)       /* a request of an approver, who may edit */
#define WIRE_LIMIT_MILTER (16 * 1024 * 1024) /* a submission, an admin's batch, any reply */

typedef struct _Wire Wire;

/* Takes PATH.lock, so that two daemons never serve one path, replaces a dead socket and
 * listens there with the given mode (umask is not touched by callers). The lock lives as long
 * as the process. Returns the listening descriptor, or -1: ERROR_TEMP. */
int wire_listen(const char *path, mode_t mode, GError **error);

/* Wraps an accepted descriptor, which it then owns. */
Wire *wire_new(int fd);

Wire *wire_connect(const char *path, guint timeout_ms, GError **error);
void wire_free(Wire *wire);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Wire, wire_free)

/* The peer's user and primary group as the kernel saw them at connect. */
gboolean wire_peer(Wire *wire, uid_t *uid_out, gid_t *gid_out, GError **error);

/* TRUE when an idle connection still has its peer and no stray bytes. */
gboolean wire_idle(Wire *wire);

/* Sends one frame. arguments: "a{sv}", floating references are taken; NULL means none. fd: -1,
 * or a descriptor to pass, which stays the caller's. */
gboolean wire_send(Wire *wire, const char *verb, GVariant *arguments, int fd, guint timeout_ms,
                   GError **error);

/* Receives one frame of at most limit bytes. arguments_out: a reference of type a{sv}. fd_out:
 * the passed descriptor, close-on-exec, or -1; NULL means that one passed is an error.
 * *verb_out is NULL, with TRUE, when the peer closed between frames. */
gboolean wire_receive(Wire *wire, gsize limit, guint timeout_ms, char **verb_out,
                      GVariant **arguments_out, int *fd_out, GError **error);
