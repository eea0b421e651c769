#include "cli/server.h"

#include <string.h>

#include "cli/terminal.h"
#include "lib/error.h"
#include "lib/escape.h"
#include "lib/mailbox-imap.h"
#include "lib/secret.h"
#include "lib/trusted.h"

#define VARIABLE "EXEAT_IMAP_PASSWORD"

gboolean
server_is_address(const char *word)
{
    return g_str_has_prefix(word, "imaps://") || g_str_has_prefix(word, "imap://");
}

static char *
read_from_file(const char *path, GError **error)
{
    char *text = trusted_read_secret(path, error);

    if (text != NULL)
        text[strcspn(text, "\r\n")] = '\0';
    return text;
}

static char *
read_from_terminal(const ImapUrl *url)
{
    g_autofree char *user = escape_line(url->user);
    g_autofree char *prompt = g_strdup_printf("Password of %s at %s: ", user, url->host);

    return terminal_ask_password(prompt);
}

static char *
find_password(const ImapUrl *url, const char *file, GError **error)
{
    const char *variable = g_getenv(VARIABLE);

    if (file != NULL)
        return read_from_file(file, error);
    char *password = variable != NULL ? g_strdup(variable) : read_from_terminal(url);
    if (password == NULL)
        g_set_error(error, EXEAT_ERROR, ERROR_CONFIG,
                    "no password: give it with --password-file, in %s, or at a terminal",
                    VARIABLE);
    return password;
}

Mailbox *
server_open(const char *address, const char *password_file, const char *ca_file,
            GError **error)
{
    g_autoptr(ImapUrl) url = imap_url_parse(address, error);

    if (url == NULL)
        return NULL;
    char *password = find_password(url, password_file, error);
    if (password == NULL)
        return NULL;
    ImapServer server = {.url = url, .password = password, .ca_file = ca_file};
    Mailbox *mailbox = mailbox_open_imap(&server, error);
    secret_forget(password);
    return mailbox;
}
