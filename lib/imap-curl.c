#include "lib/imap-curl.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "lib/error.h"

#define LIBRARY "libcurl.so.4"

static const struct {
    const char *name;
    gsize offset;
} functions[] = {
    {"curl_easy_init", offsetof(ImapCurl, init)},
    {"curl_easy_setopt", offsetof(ImapCurl, setopt)},
    {"curl_easy_perform", offsetof(ImapCurl, perform)},
    {"curl_easy_getinfo", offsetof(ImapCurl, getinfo)},
    {"curl_easy_send", offsetof(ImapCurl, send)},
    {"curl_easy_recv", offsetof(ImapCurl, recv)},
    {"curl_easy_cleanup", offsetof(ImapCurl, cleanup)},
    {"curl_easy_strerror", offsetof(ImapCurl, strerror)},
};

/* dlsym(3) gives a pointer to data, which C does not turn into one to a function. */
static gboolean
load(ImapCurl *curl)
{
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

    for (gsize i = 0; library != NULL && i < G_N_ELEMENTS(functions); i++) {
        void *found = dlsym(library, functions[i].name);

        if (found == NULL)
            return FALSE;
        memcpy((char *)curl + functions[i].offset, &found, sizeof found);
    }
    return library != NULL;
}

const ImapCurl *
imap_curl(GError **error)
{
    enum { LOADED = 1, MISSING };
    static ImapCurl curl;
    static gsize state;

    if (g_once_init_enter(&state))
        g_once_init_leave(&state, load(&curl) ? LOADED : MISSING);
    if (state == LOADED)
        return &curl;
    g_set_error(
        error, EXEAT_ERROR, ERROR_CONFIG,
        "%s cannot be loaded, and mailboxes are opened with it: install libcurl 7.85 or "
        "later",
        LIBRARY);
    return NULL;
}
