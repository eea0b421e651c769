/* current.h - the configuration as it stands
 *
 * Read again when the file was replaced or changed; a mistake in it is logged, and what was
 * read before stays in force. */
#pragma once

#include "lib/config.h"

/* Reads it; once, before any thread asks. path: borrowed, to the end. Returns a reference,
 * NULL on error: config_read's. */
Config *current_begin(const char *path, GError **error);

/* A reference to it. Any thread. */
Config *current_config(void);
