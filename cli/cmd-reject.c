#include <string.h>

#include "cli/command.h"

#define REASON_LIMIT 1000 /* bytes; the agent gets it in a delivery status notification */

int
cmd_reject(const Session *session, char **words)
{
    g_autofree char *reason = g_strstrip(g_strjoinv(" ", words + 1));
    GVariantDict arguments;

    if (*reason == '\0' || strlen(reason) > REASON_LIMIT || strpbrk(reason, "\r\n") != NULL)
        return command_misused(reason,
                               "a reason for the agent: one line of at most 1000 bytes");
    g_variant_dict_init(&arguments, NULL);
    g_variant_dict_insert(&arguments, "id", "s", words[0]);
    g_variant_dict_insert(&arguments, "reason", "s", reason);
    return command_decide(session, "reject", &arguments);
}
