/* session.h - the conversation with the mail server: the only home of libmilter
 *
 * Right under libmilter's worker pool and with a thread per connection: all state hangs on the
 * connection (smfi_setpriv). Every failure ends in one function, one log line and a 451; a
 * human's and an inbound message pass even then, because the gate is not for them. */
#pragma once

#include "lib/config.h"
#include "milter/gate.h"

/* Serves until the mail server's side is closed by a signal. path: of exeat.conf, which is
 * read again when it changes. Returns FALSE when the socket cannot be opened: ERROR_TEMP or
 * ERROR_CONFIG. */
gboolean session_serve(const char *path, Config *config, Gate *gate, GError **error);
