/* secret.h - what proves to a server who we are: a password or a token
 *
 * A part of exeat.conf: three keys, each with the name of the server before it. The files are
 * looked at when the configuration is read and read when they are needed. */
#pragma once

#include <stddef.h>

#include "lib/setting.h"

/* Texts are "" when there is none, paths absolute once secret_place was called. */
typedef struct {
    char *password_file;
    char *token_file;
    char **token_command; /* program and arguments; empty for none */
} Secret;

/* Rows of a table of settings for a Secret that is a member of the struct. */
#define SECRET_SETTINGS(name, type, member)                                                   \
    {name "-password-file", setting_file, offsetof(type, member.password_file), ""},          \
        {name "-token-file", setting_file, offsetof(type, member.token_file), ""},            \
    {                                                                                         \
        name "-token-command", setting_command, offsetof(type, member.token_command), ""      \
    }

/* For messages: what a group needs that has not just one of them. */
#define SECRET_EXPECTED(name)                                                                 \
    "one of “" name "-password-file”, “" name "-token-file” and “" name                       \
    "-token-command” in this group, too"

/* How many of the three are given. */
guint secret_count(const Secret *secret);

/* Whether a token is given, or a command that prints one. */
gboolean secret_is_token(const Secret *secret);

/* Makes paths absolute, below folder. */
void secret_place(Secret *secret, const char *folder);

/* Reads the files once, as trusted.h wants secrets, to tell a mistake early. */
gboolean secret_check_files(const Secret *secret, GError **error);

/* Frees the texts. */
void secret_clear(Secret *secret);

/* Wipes and frees a password or a token; NULL is fine. */
void secret_forget(char *text);
