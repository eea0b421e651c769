#include <stdio.h>
#include <sysexits.h>

#include "cli/command.h"
#include "cli/terminal.h"
#include "lib/secret.h"

static int
complain(const char *message, int status)
{
    fprintf(stderr, "exeat: %s\n", message);
    return status;
}

static int
ask_line(const Session *session, const char *user, const char *password)
{
    GVariantDict arguments;
    int status;

    g_variant_dict_init(&arguments, NULL);
    g_variant_dict_insert(&arguments, "user", "s", user);
    g_variant_dict_insert(&arguments, "password", "s", password);
    g_autoptr(GVariant) answer =
        request_ask(session, "passwd", g_variant_dict_end(&arguments), &status);
    if (answer == NULL)
        return status;
    if (session->json)
        return command_print_json(answer);
    puts(answer_text(answer, "line"));
    return EX_OK;
}

/* The line goes to standard output: who may write the file is not for us to decide. */
int
cmd_passwd(const Session *session, char **words)
{
    char *password = terminal_ask_password("New password: ");
    char *again = password != NULL ? terminal_ask_password("Once more: ") : NULL;
    int status;

    if (again == NULL)
        status = complain("a password can only be typed at a terminal", EX_NOPERM);
    else if (!g_str_equal(password, again))
        status = complain("these are two passwords", EX_DATAERR);
    else if (!g_utf8_validate(password, -1, NULL))
        status = complain("this password is no UTF-8", EX_DATAERR);
    else
        status = ask_line(session, words[0], password);
    secret_forget(password);
    secret_forget(again);
    return status;
}
