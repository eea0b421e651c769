/* courier.h - the gate's own mail on its way to the mail server
 *
 * From the null sender: nobody answers it, and a bounce of it goes nowhere (RFC 5321, 4.5.5).
 * At a gated door it carries a ticket that lives in memory for as long as it is sent: what has
 * none, whatever its From says, is mail like any other. */
#pragma once

#include "lib/config.h"
#include "relay/smtp.h"

/* Sends a message to addresses of ASCII. Blocks as smtp_send does, and never returns NULL.
 */
SmtpResult *courier_send(Config *config, const char *const *to, const GString *message);

/* Whether this is the message that was sent with the ticket: its digest is that of the empty
 * account. A ticket is good once. Any thread. */
gboolean courier_redeem(const char *ticket, const char *digest);
