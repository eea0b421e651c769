#include "cli/command.h"

int
cmd_veto(const Session *session, char **words)
{
    GVariantDict arguments;

    g_variant_dict_init(&arguments, NULL);
    g_variant_dict_insert(&arguments, "id", "s", words[0]);
    return command_decide(session, "veto", &arguments);
}
