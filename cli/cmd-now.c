#include "cli/command.h"

int
cmd_now(const Session *session, char **words)
{
    return command_approve(session, "now", words);
}
