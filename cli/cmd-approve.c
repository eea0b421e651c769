#include <string.h>

#include "cli/command.h"

#define DIGEST_LEAST 8 /* digits; fewer could be typed by mistake (XC21) */

int
command_approve(const Session *session, const char *verb, char **words)
{
    gsize digits = strspn(words[1], "0123456789abcdefABCDEF");
    GVariantDict arguments;

    if (digits < DIGEST_LEAST || words[1][digits] != '\0')
        return command_misused(words[1],
                               "at least the first 8 digits of the digest that “exeat show” "
                               "ends with");
    g_variant_dict_init(&arguments, NULL);
    g_variant_dict_insert(&arguments, "id", "s", words[0]);
    g_variant_dict_insert(&arguments, "digest", "s", words[1]);
    return command_decide(session, verb, &arguments);
}

int
cmd_approve(const Session *session, char **words)
{
    return command_approve(session, "approve", words);
}
