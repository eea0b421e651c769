/* audit-file.h - an exported audit record: written here, verified without the relay
 *
 * An entry is a line of eight fields with tabs between them: seq, at, kind, account, item,
 * who, details, seal; bytes outside of printable ASCII and the backslash as C writes them. */
#pragma once

#include <stdio.h>

#include "cli/request.h"

/* Writes one entry as the relay answers it. What fails shows in ferror(3). */
void audit_file_write(FILE *file, GVariant *entry);

/* Checks a file with the relay's key and prints each fault, and the last entry. Returns an
 * exit status: EX_OK; EX_DATAERR for a record that is not whole; EX_NOINPUT when a file cannot
 * be read. */
int audit_file_verify(const Session *session, const char *path, const char *key_path);
