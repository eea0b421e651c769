/* smtp-auth.h - AUTH (RFC 4954): who we are, to the server of the next hop
 *
 * For smtp-session.c alone. */
#pragma once

#include "relay/smtp-session.h"

/* After EHLO. Nothing secret is said without TLS, unless the server sits on a unix socket. A
 * token that the server does not take is fetched anew, once. */
gboolean session_authenticate(Sending *sending);
