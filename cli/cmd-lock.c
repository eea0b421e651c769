#include <stdio.h>
#include <sysexits.h>

#include "cli/command.h"
#include "lib/escape.h"

static int
change(const Session *session, const char *verb, const char *id)
{
    GVariantDict arguments;
    int status;

    g_variant_dict_init(&arguments, NULL);
    g_variant_dict_insert(&arguments, "id", "s", id);
    g_autoptr(GVariant) answer =
        request_ask(session, verb, g_variant_dict_end(&arguments), &status);
    if (answer == NULL)
        return status;
    if (session->json)
        return command_print_json(answer);
    g_autofree char *safe = escape_line(id);
    printf("The conversation of %s is %s.\n", safe,
           answer_flag(answer, "locked", FALSE) ? "locked" : "not locked any more");
    return EX_OK;
}

int
cmd_lock(const Session *session, char **words)
{
    return change(session, "lock", words[0]);
}

int
cmd_unlock(const Session *session, char **words)
{
    return change(session, "unlock", words[0]);
}
