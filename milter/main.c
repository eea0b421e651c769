/* exeat-milter(8): collects what an agent submits, asks the relay, obeys. */
#include <sysexits.h>

#include <glib.h>

#include "lib/daemon.h"
#include "lib/error.h"
#include "lib/log.h"
#include "lib/mail.h"
#include "lib/spool.h"
#include "milter/gate.h"
#include "milter/session.h"

/* Gate and configuration are never freed: libmilter returns while threads of its own still use
 * them, and all end with the process. */
static gboolean
serve(const char *config_path, GError **error)
{
    static Config *config;
    static Gate *gate;

    config = config_read(config_path, FALSE, error);
    /* Else every large message would get a 451, and only those. */
    if (config == NULL || !spool_check(config->spool, error))
        return FALSE;
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
