/* fuzz.h - what libFuzzer's targets share
 *
 * A target is a file with one LLVMFuzzerTestOneInput; its seeds lie in seeds/, its words in a
 * .dict of the same name. A complaint of GLib's ends it like a failed assertion. */
#pragma once

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <glib.h>
#include <glib/gstdio.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const guint8 *data, gsize size);

static inline void
fuzz_complain(const char *domain, GLogLevelFlags level, const char *message, gpointer data)
{
    (void)domain, (void)level, (void)data;
    g_printerr("%s\n", message);
    abort();
}

static inline void
fuzz_begin(void)
{
    g_log_set_default_handler(fuzz_complain, NULL);
}

/* An input as UTF-8 without NUL. The caller frees. */
static inline char *
fuzz_text(const guint8 *data, gsize size)
{
    g_autofree char *text = g_strndup((const char *)data, size);

    return g_utf8_make_valid(text, -1);
}

/* A descriptor with the input, at its start. The caller closes it. */
static inline int
fuzz_memory(const guint8 *data, gsize size)
{
    int fd = memfd_create("input", MFD_CLOEXEC);

    g_assert(fd >= 0);
    g_assert(pwrite(fd, data, size, 0) == (ssize_t)size);
    return fd;
}

/* A file in the folder of this run, which run makes and removes. The caller frees. */
static inline char *
fuzz_path(const char *name)
{
    return g_build_filename(g_get_tmp_dir(), name, NULL);
}

/* Writes the input there. */
static inline void
fuzz_write(const char *path, const void *data, gsize size)
{
    g_unlink(path);
    FILE *file = fopen(path, "we");

    g_assert(file != NULL);
    g_assert(fwrite(data, 1, size, file) == size);
    g_assert(fclose(file) == 0);
}

/* TRUE when all strings are text, which is what the rest of the program takes them for. */
static inline gboolean
fuzz_are_texts(char *const *strings)
{
    for (; *strings != NULL; strings++)
        if (!g_utf8_validate(*strings, -1, NULL))
            return FALSE;
    return TRUE;
}
