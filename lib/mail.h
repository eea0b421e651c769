/* mail.h - reading messages from strangers
 *
 * The only home of gmime. A pre-scan caps parts, fields and depth before gmime sees a byte;
 * what is beyond a cap, broken or contradictory becomes a mark in the extract, never an error:
 * their oddness is a hold. Nothing is ever written back through gmime. Definitions of
 * attachment, forward and opaque: tests/cases/README.md and exeat-policy(5). */
#pragma once

#include "lib/extract.h"

/* Call once, before threads start. */
void mail_start(void);

/* Reads a whole message (RFC 5322, CRLF) from fd, which is read from its start and stays open.
 * Errors: ERROR_TEMP when it cannot be read at all. The caller frees. */
Extract *mail_extract(int fd, GError **error);

/* The same without the addresses that the text names: what an agent writes teaches nothing,
 * and looking for them takes a quarter of the time. */
Extract *mail_extract_submission(int fd, GError **error);
