/* current.h - the configuration as it stands
 *
 * Read again when the file was replaced or changed; a mistake in it is logged, and what was
 * read before stays in force. */
#pragma once

#include "lib/config.h"

/* Once, before any thread asks. path: borrowed. */
void current_begin(const char *path, Config *config);

/* A reference to it. Any thread. */
Config *current_config(void);
