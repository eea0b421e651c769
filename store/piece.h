/* piece.h - an item's bytes, in pieces of bounded size
 *
 * Each piece has its SHA-256 beside it, so that damage shows before anybody reads the bytes.
 * That they are the ones approved is the action digest's to say. Errors: ERROR_TEMP;
 * ERROR_INTEGRITY. */
#pragma once

#include "store/db.h"

/* Stores the bytes of fd from its start, without moving its position. ERROR_INTEGRITY when
 * they are not exactly size. */
gboolean piece_store(Db *db, const char *item, int fd, guint64 size, GError **error);

/* Writes them to fd. ERROR_INTEGRITY when they are not all there, or not as they were stored;
 * what was written until then is to be thrown away. */
gboolean piece_copy(Db *db, const char *item, int fd, guint64 size, GError **error);
