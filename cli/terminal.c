#include "cli/terminal.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

/* Bytes of a password, more than any server takes. */
enum { PASSWORD_LIMIT = 1024 };

/* A line without echo, which is off before the prompt asks for it. Signals are off meanwhile:
 * one of them would leave the terminal mute. */
static char *
read_line_mute(int terminal, const char *prompt)
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
    dprintf(terminal, "%s", prompt);
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

char *
terminal_ask_password(const char *prompt)
{
    int terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);

    if (terminal < 0)
        return NULL;
    char *password = read_line_mute(terminal, prompt);
    close(terminal);
    return password;
}
