#include "cli/command.h"

int
cmd_withdraw(const Session *session, char **words)
{
    g_autofree char *why = g_strstrip(g_strjoinv(" ", words + 1));
    GVariantDict arguments;

    g_variant_dict_init(&arguments, NULL);
    g_variant_dict_insert(&arguments, "id", "s", words[0]);
    g_variant_dict_insert(&arguments, "why", "s", *why != '\0' ? why : "withdrawn");
    return command_decide(session, "withdraw", &arguments);
}
