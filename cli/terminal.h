/* terminal.h - what is asked of whoever sits at the terminal */
#pragma once

#include <glib.h>

/* A password, typed without echo after the prompt. NULL when there is no terminal or the line
 * was broken off. The caller frees it with secret_forget (lib/secret.h). */
char *terminal_ask_password(const char *prompt);
