#include "cli/command.h"

int
cmd_resolve(const Session *session, char **words)
{
    GVariantDict arguments;

    g_variant_dict_init(&arguments, NULL);
    g_variant_dict_insert(&arguments, "id", "s", words[0]);
    g_variant_dict_insert(&arguments, "state", "s", words[1]);
    return command_decide(session, "resolve", &arguments);
}
