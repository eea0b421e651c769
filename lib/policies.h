/* policies.h - policies from files
 *
 * A policy, the policies it includes and the lists it names must be trusted files
 * (trusted.h): whoever can write one of them decides what may leave. Errors: ERROR_CONFIG,
 * ERROR_TEMP, POLICY_ERROR. */
#pragma once

#include "policy/rules.h"

/* Reads a policy that may be used: parsed and checked (policy/check.h). floor: NULL, or the
 * policy it cannot loosen, which gets a reference. Returns a new reference. */
Policy *policies_read(const char *path, Policy *floor, GError **error);

/* Reads without the checks, for a command that makes them one by one. */
Policy *policies_parse(const char *path, GError **error);

/* Adds the names of a policy's file and of all that it includes and names, up to the first
 * that cannot be read or understood. names: of strings that the array frees. */
void policies_list(const char *path, GPtrArray *names);

/* The same as policies_parse, and keeps each text that was read under its path (both strings
 * are the table's), so that somebody who cannot open the files reads the same policy from
 * them: policies_parse_texts opens none. */
Policy *policies_parse_keeping(const char *path, GHashTable *texts, GError **error);
Policy *policies_parse_texts(const char *path, GHashTable *texts, GError **error);
