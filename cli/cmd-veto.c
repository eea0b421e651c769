#include <sysexits.h>

#include "cli/command.h"

static int
veto(const Session *session, const char *id)
{
    GVariantDict arguments;

    g_variant_dict_init(&arguments, NULL);
    g_variant_dict_insert(&arguments, "id", "s", id);
    return command_decide(session, "veto", &arguments);
}

/* Each by itself: one that cannot be vetoed any more keeps no other from it. */
int
cmd_veto(const Session *session, char **words)
{
    int worst = EX_OK;

    for (; *words != NULL; words++) {
        int status = veto(session, *words);
        worst = worst == EX_OK ? status : worst;
    }
    return worst;
}
