#include <string.h>
#include <sysexits.h>

#include "cli/command.h"

#define REASON_LIMIT 1000 /* bytes; the agent gets it in a delivery status notification */

static int
reject(const Session *session, const char *id, const char *reason)
{
    GVariantDict arguments;

    g_variant_dict_init(&arguments, NULL);
    g_variant_dict_insert(&arguments, "id", "s", id);
    g_variant_dict_insert(&arguments, "reason", "s", reason);
    return command_decide(session, "reject", &arguments);
}

/* Each by itself: one that is decided already keeps no other from it. But with an empty one,
 * as in "reject A, B no", the words are not what was meant, and nothing is decided. */
int
cmd_reject(const Session *session, char **words)
{
    g_autofree char *reason = g_strstrip(g_strjoinv(" ", words + 1));
    g_auto(GStrv) ids = g_strsplit(words[0], ",", -1);
    int worst = EX_OK;

    for (guint i = 0; ids[i] != NULL; i++)
        if (*g_strstrip(ids[i]) == '\0')
            return command_misused(words[0], "ids with a comma between two of them");
    if (*reason == '\0' || strlen(reason) > REASON_LIMIT || strpbrk(reason, "\r\n") != NULL)
        return command_misused(reason,
                               "a reason for the agent: one line of at most 1000 bytes");
    for (guint i = 0; ids[i] != NULL; i++) {
        int status = reject(session, ids[i], reason);
        worst = worst == EX_OK ? status : worst;
    }
    return worst;
}
