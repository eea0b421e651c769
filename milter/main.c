/* exeat-milter(8): collects what an agent submits, asks the relay, obeys. */
#include <sysexits.h>

#include <glib.h>

#include "lib/daemon.h"
#include "lib/error.h"
#include "lib/log.h"
#include "lib/mail.h"
#include "lib/spool.h"
#include "milter/current.h"
#include "milter/gate.h"
#include "milter/session.h"

/* Only large messages need it, so the others need not wait until it can be used. */
static void
look_at_spool(const Config *config)
{
    g_autoptr(GError) error = NULL;

    if (!spool_check(config->spool, &error))
        log_warning("every large message gets a 451: %s", error->message);
}

/* Gate and configuration are never freed: libmilter returns while threads of its own still use
 * them, and all end with the process. */
static gboolean
serve(const char *config_path, GError **error)
{
    static Config *config;
    static Gate *gate;

    config = current_begin(config_path, error);
    if (config == NULL)
        return FALSE;
    look_at_spool(config);
    mail_start();
    gate = gate_new(config->relay_socket);
    return session_serve(config_path, config, gate, error);
}

int
main(int argc, char **argv)
{
    g_autoptr(GError) error = NULL;
    const char *config_path;
    int status;

    if (!daemon_start("exeat-milter", "Judges what leaves from an agent's submission login.",
                      NULL, argc, argv, &config_path, &status))
        return status;
    if (serve(config_path, &error))
        return EX_OK;
    log_error("%s", error->message);
    return error->domain == EXEAT_ERROR && error->code == ERROR_CONFIG ? EX_CONFIG
                                                                       : EX_TEMPFAIL;
}
