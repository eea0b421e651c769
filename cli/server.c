#include "cli/server.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "lib/error.h"
#include "lib/escape.h"
#include "lib/mailbox-imap.h"
#include "lib/trusted.h"

#define VARIABLE "EXEAT_IMAP_PASSWORD"

/* Bytes of a password, more than any server takes. */
enum { PASSWORD_LIMIT = 1024 };

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

/* A line without echo. Signals are off meanwhile: one of them would leave the terminal mute.
 */
static char *
read_line_mute(int terminal)
{
    char line[PASSWORD_LIMIT];
    struct termios before, mute;

    if (tcgetattr(terminal, &before) != 0)
        return NULL;
    mute = before;
    mute.c_lflag &= ~(tcflag_t)(ECHO | ISIG);
    mute.c_lflag |= ICANON;
    if (tcsetattr(terminal, TCSAFLUSH, &mute) != 0)
        return NULL;
    ssize_t length = read(terminal, line, sizeof line);
    tcsetattr(terminal, TCSAFLUSH, &before);
    dprintf(terminal, "\n");
    /* A line that did not fit has no end, and Ctrl-C is a letter here. */
    char *password = NULL;
    if (length > 0 && line[length - 1] == '\n' && memchr(line, '\003', (gsize)length) == NULL)
        password = g_strndup(line, (gsize)length - 1);
    explicit_bzero(line, sizeof line);
    return password;
}

static char *
read_from_terminal(const ImapUrl *url)
{
    int terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
    g_autofree char *user = escape_line(url->user);

    if (terminal < 0)
        return NULL;
    dprintf(terminal, "Password of %s at %s: ", user, url->host);
    char *password = read_line_mute(terminal);
    close(terminal);
    return password;
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
    explicit_bzero(password, strlen(password));
    g_free(password);
    return mailbox;
}
