/* sum.h - SHA-256, by whoever is fastest at it
 *
 * GLib computes it in plain C, which takes longer than all else that is done with a message.
 * A program that has something better says so at its start. Any thread. */
#pragma once

#include <glib.h>

#define SUM_BYTES 32

typedef struct _Sum Sum;

/* What computes: begin gives a state, which end takes back. */
typedef struct {
    gpointer (*begin)(void);
    void (*add)(gpointer state, const void *bytes, gsize length);
    void (*end)(gpointer state, guint8 sum_out[SUM_BYTES]);
} SumEngine;

/* From here on; before any other thread is there. The engine stays the caller's. */
void sum_use(const SumEngine *engine);

Sum *sum_new(void);
void sum_add(Sum *sum, const void *bytes, gsize length);

/* Ends it: the sum in hexadecimal. The caller frees. */
char *sum_end(Sum *sum);

/* The same as bytes. */
void sum_end_bytes(Sum *sum, guint8 bytes_out[SUM_BYTES]);

/* The same as sum_end, of bytes that are all there. */
char *sum_of(const void *bytes, gsize length);

/* Gives up one that was not ended. */
void sum_free(Sum *sum);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Sum, sum_free)
