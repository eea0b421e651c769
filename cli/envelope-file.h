/* envelope-file.h - an exported envelope, read back from its JSON */
#pragma once

#include "lib/envelope.h"

typedef struct {
    char *account;
    char *digest; /* what the relay computed */
    Envelope *envelope;
} EnvelopeFile;

void envelope_file_clear(EnvelopeFile *file);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(EnvelopeFile, envelope_file_clear)

/* Reads into a zeroed file. ERROR_CONFIG when it is not as exeat export writes it. */
gboolean envelope_file_read(const char *path, EnvelopeFile *file, GError **error);
