#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "cli/command.h"
#include "lib/escape.h"

/* The answer in words: what is off or on now, and what has to be approved because of it. */
static void
print_halt(GVariant *answer)
{
    g_autofree char *account = escape_line(answer_text(answer, "account"));
    g_autofree char *halt = escape_line(answer_text(answer, "halt"));
    g_autofree char *meant = escape_line(answer_text(answer, "meant"));
    gint64 held = answer_number(answer, "held");

    printf("%s is %s.\n", *account != '\0' ? account : "Everything",
           *halt != '\0' ? halt : "on again");
    if (held > 0)
        printf("%" G_GINT64_FORMAT " item%s that had leave to go must be approved anew.\n",
               held, held == 1 ? "" : "s");
    if (*meant != '\0')
        printf("Not only %s: everything. For %s alone: exeat stop %s WHY, then exeat start\n",
               meant, meant, meant);
}

/* why: NULL for a verb that needs no reason. */
static int
ask(const Session *session, const char *verb, const char *account, const char *why)
{
    GVariantDict arguments;
    int status;

    g_variant_dict_init(&arguments, NULL);
    g_variant_dict_insert(&arguments, "account", "s", account);
    if (why != NULL)
        g_variant_dict_insert(&arguments, "why", "s", why);
    g_autoptr(GVariant) answer =
        request_ask(session, verb, g_variant_dict_end(&arguments), &status);
    if (answer == NULL)
        return status;
    if (session->json)
        return command_print_json(answer);
    print_halt(answer);
    return EX_OK;
}

/* One word is the reason: who is in a hurry must not stop too little. */
int
cmd_stop(const Session *session, char **words)
{
    gboolean everything = words[1] == NULL;
    g_autofree char *why = g_strstrip(g_strjoinv(" ", everything ? words : words + 1));

    return ask(session, "stop", everything ? "" : words[0], why);
}

int
cmd_start(const Session *session, char **words)
{
    return ask(session, "start", words[0] != NULL ? words[0] : "", NULL);
}

int
cmd_account(const Session *session, char **words)
{
    static const char *const needs_reason[] = {"suspend", "revoke", NULL};
    gboolean reason = g_strv_contains(needs_reason, words[0]);
    g_autofree char *why = g_strstrip(g_strjoinv(" ", words + 2));

    if (!reason && !g_str_equal(words[0], "resume"))
        return command_misused(words[0], "suspend, resume or revoke");
    if (reason != (*why != '\0'))
        return command_misused(why, reason ? "a reason" : "no reason");
    return ask(session, words[0], words[1], reason ? why : NULL);
}
