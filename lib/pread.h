/* pread.h - bytes at a place in a file, as many as there are */
#pragma once

#include <glib.h>

/* For a size that is not known. */
#define PREAD_UNKNOWN G_MAXUINT64

/* Fills the buffer from an offset on, as far as the file goes; the file position stays. size:
 * what the file has, as far as the caller knows: when a read that asked for more ends there,
 * nothing is asked for again. How many bytes there were; -1: errno says why not. */
gssize pread_most(int fd, void *buffer, gsize room, guint64 offset, guint64 size);
