/* socket.h - the name of the milter's socket, and who may serve it */
#pragma once

#include <glib.h>

/* The path in an address as smfi_setconn takes it; NULL when it is no unix socket. Borrowed.
 */
const char *socket_path(const char *address);

/* Takes the lock beside the socket, for the life of the process. ERROR_TEMP when another
 * process has it, ERROR_CONFIG when the folder cannot be used. */
gboolean socket_lock(const char *path, GError **error);
