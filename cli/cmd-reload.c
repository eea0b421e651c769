#include <stdio.h>
#include <sysexits.h>

#include "cli/command.h"

int
cmd_reload(const Session *session, char **words G_GNUC_UNUSED)
{
    int status;
    g_autoptr(GVariant) answer = request_ask(session, "reload", NULL, &status);

    if (answer == NULL)
        return status;
    if (session->json)
        return command_print_json(answer);
    puts("exeat.conf and the policies are in force as they are now.");
    return EX_OK;
}
