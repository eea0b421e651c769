/* smtp-scram.h - the client's side of SCRAM (RFC 5802, RFC 7677), without channel binding
 *
 * The password never leaves, and the server has to show that it knows it, too. Pure but for
 * the nonce, which is an argument. Errors: ERROR_PROTOCOL for what the server said. */
#pragma once

#include <glib.h>

typedef struct _Scram Scram;

/* sha256 FALSE: SHA-1. nonce: printable, without a comma. Text that is no ASCII is taken in
 * its form NFKC, which is what SASLprep (RFC 4013) does to most of it. */
Scram *scram_new(gboolean sha256, const char *user, const char *password, const char *nonce);
void scram_free(Scram *scram);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Scram, scram_free)

/* The first message. Borrowed. */
const char *scram_first(const Scram *scram);

/* What the server's first message is answered with; the caller frees. A server that wants
 * fewer than 4096 rounds, or so many that it would keep us busy, is refused. */
char *scram_final(Scram *scram, const char *server_first, GError **error);

/* FALSE with error unless the server's last message proves that it knows the password. */
gboolean scram_verify(const Scram *scram, const char *server_final, GError **error);
