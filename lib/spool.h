/* spool.h - a message being collected: memory first, an unlinked file past a limit
 *
 * Append-only, then sealed and handed over as a descriptor. Errors: ERROR_TEMP. */
#pragma once

#include <glib.h>

typedef struct _Spool Spool;

/* limit: bytes kept in memory. folder: where the unlinked file goes. */
Spool *spool_new(gsize limit, const char *folder);
void spool_free(Spool *spool);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Spool, spool_free)

/* Whether the unlinked file can be made. */
gboolean spool_check(const char *folder, GError **error);

gboolean spool_append(Spool *spool, const void *bytes, gsize length, GError **error);

/* Bytes appended so far. */
guint64 spool_size(const Spool *spool);

/* A descriptor with all bytes, at offset 0, open until spool_free; no append may follow. A
 * sealed memfd, or the unlinked file. Nothing seals the file: who receives it reads it once
 * and judges the copy. -1 on failure. */
int spool_descriptor(Spool *spool, GError **error);
