/* exeat-milter(8): collects what an agent submits, asks the relay, obeys. */
#include <config.h>

#include <stdlib.h>
#include <sysexits.h>

#include <glib.h>

#include "lib/daemon.h"
#include "lib/error.h"
#include "lib/log.h"
#include "lib/mail.h"
#include "milter/gate.h"
#include "milter/session.h"

static char *config_path = (char *)SYSCONFDIR "/exeat/exeat.conf";
static gboolean to_syslog, show_version;

static const GOptionEntry options[] = {
    {"config", 'c', 0, G_OPTION_ARG_FILENAME, &config_path, "Read this configuration", "FILE"},
    {"syslog", 's', 0, G_OPTION_ARG_NONE, &to_syslog, "Log to syslog, facility mail", NULL},
    {"version", 'V', 0, G_OPTION_ARG_NONE, &show_version, "Print the version and end", NULL},
    G_OPTION_ENTRY_NULL};

static gboolean
serve(GError **error)
{
    g_autoptr(Config) config = config_read(config_path, FALSE, error);

    if (config == NULL)
        return FALSE;
    mail_start();
    Gate *gate = gate_new(config->relay_socket);
    gboolean served = session_serve(config_path, config, gate, error);
    gate_free(gate);
    return served;
}

int
main(int argc, char **argv)
{
    g_autoptr(GOptionContext) context = g_option_context_new(NULL);
    g_autoptr(GError) error = NULL;

    g_option_context_add_main_entries(context, options, NULL);
    g_option_context_set_summary(context,
                                 "Judges what leaves from an agent's submission login.");
    if (!g_option_context_parse(context, &argc, &argv, &error) || argc > 1) {
        g_printerr("exeat-milter: %s\n", error ? error->message : "no arguments are expected");
        return EX_USAGE;
    }
    if (show_version) {
        g_print("exeat-milter %s\n", PACKAGE_VERSION);
        return EX_OK;
    }
    daemon_begin();
    log_open("exeat-milter", to_syslog);
    if (serve(&error))
        return EX_OK;
    log_error("%s", error->message);
    return error->domain == EXEAT_ERROR && error->code == ERROR_CONFIG ? EX_CONFIG
                                                                       : EX_TEMPFAIL;
}
