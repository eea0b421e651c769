/* confinement.h - the milter shuts itself in before it meets a stranger's byte
 *
 * What it needs from then on: its configuration, the user database and the like to read; the
 * folders of its socket and of large messages to write; the relay's socket. What the kernel
 * cannot do is told in the log, and the milter goes on without. */
#pragma once

#include "lib/config.h"

/* Before there are threads. config_path: as it will be read again. */
void confinement_begin(const Config *config, const char *config_path);
