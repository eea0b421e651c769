#include <config.h>

#include "milter/confinement.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/log.h"
#include "lib/sandbox.h"

static char *
folder_of(const char *path)
{
    g_autofree char *real = realpath(path, NULL);

    return g_path_get_dirname(real != NULL ? real : path);
}

static void
confine_files(const Config *config, const char *config_path)
{
    const char *socket = strchr(config->milter_socket, '/');
    g_autofree char *own = g_path_get_dirname(config_path);
    g_autofree char *real = folder_of(config_path);
    g_autofree char *door = g_path_get_dirname(socket != NULL ? socket : "/nowhere/s");
    const SandboxPlace places[] = {
        {own, SANDBOX_READ},
        {real, SANDBOX_READ},
        {config->spool, SANDBOX_WRITE},
        {door, SANDBOX_WRITE},
        /* Users and groups of the configuration, character sets of messages. */
        {"/etc", SANDBOX_READ},
        {"/usr", SANDBOX_READ},
        {"/lib", SANDBOX_READ},
        {"/lib64", SANDBOX_READ},
        {"/var/lib/sss", SANDBOX_READ},
        {"/dev/urandom", SANDBOX_READ},
        {"/dev/null", SANDBOX_WRITE},
    };

    if (!sandbox_confine(places, G_N_ELEMENTS(places)))
        log_warning("not shut in its folders: Landlock: %s", g_strerror(errno));
}

void
confinement_begin(const Config *config, const char *config_path)
{
#ifdef SANITIZED
    (void)config, (void)config_path, (void)confine_files;
    log_info("built with a sanitizer, and so not confined");
#else
    confine_files(config, config_path);
    if (!sandbox_forbid_calls())
        log_warning("not kept from starting programs: seccomp: %s", g_strerror(errno));
#endif
}
