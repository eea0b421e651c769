/* aliases.h - where the mail server's own addresses lead
 *
 * The mail server expands aliases after the gate has judged, so an inside address may lead
 * outside (XA11). Reads the source files of Postfix as they are: virtual(5) and aliases(5),
 * which local(8) uses. What cannot be told counts as outside: a command, an address that is
 * none, an :include: file that others may write, an expansion without end.
 *
 * The mail server's own settings are not read. Where they would decide, both answers count: a
 * name without domain is one in every internal domain, and what follows a + or - may be an
 * address extension or not. Immutable once read. */
#pragma once

#include <glib.h>

typedef struct _Aliases Aliases;

/* Reads "virtual:/path" and "aliases:/path" entries, all or nothing. Each file is read like a
 * policy (trusted.h), an :include: file too. Errors: ERROR_CONFIG with file and line, or
 * ERROR_TEMP. */
Aliases *aliases_read(char *const *files, GError **error);
void aliases_free(Aliases *aliases);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Aliases, aliases_free)

typedef struct {
    gboolean outside; /* somebody outside receives it, or nobody can tell */
    gboolean many;    /* more than one address receives it, or nobody can tell */
} AliasLead;

/* Where an address of an internal domain leads. normal: its normal form (address.h); internal:
 * the account's domains, normal forms. */
void aliases_follow(const Aliases *aliases, const char *normal, char *const *internal,
                    AliasLead *lead_out);
