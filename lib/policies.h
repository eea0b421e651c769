/* policies.h - policies from files
 *
 * A policy, the policies it includes and the lists it names must be trusted files
 * (trusted.h): whoever can write one of them decides what may leave. Errors: ERROR_CONFIG,
 * ERROR_TEMP, POLICY_ERROR. */
#pragma once

#include "policy/rules.h"

/* Reads a policy that may be used: parsed and checked (policy/check.h). file: relative to
 * folder, or absolute. floor: NULL, or the policy it cannot loosen, which gets a reference.
 * Returns a new reference. */
Policy *policies_read(const char *folder, const char *file, Policy *floor, GError **error);

/* Reads without the checks, for a command that makes them one by one. */
Policy *policies_parse(const char *path, GError **error);

/* The same, and keeps each text that was read under its path (both strings are the table's),
 * so that somebody who cannot open the files reads the same policy from them:
 * policies_parse_texts opens none. */
Policy *policies_parse_keeping(const char *path, GHashTable *texts, GError **error);
Policy *policies_parse_texts(const char *path, GHashTable *texts, GError **error);
