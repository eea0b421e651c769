#include "lib/secret.h"

#include <string.h>

#include "lib/trusted.h"

guint
secret_count(const Secret *secret)
{
    return (*secret->password_file != '\0') + (*secret->token_file != '\0') +
           (secret->token_command[0] != NULL);
}

gboolean
secret_is_token(const Secret *secret)
{
    return *secret->token_file != '\0' || secret->token_command[0] != NULL;
}

void
secret_place(Secret *secret, const char *folder)
{
    setting_place_file(&secret->password_file, folder);
    setting_place_file(&secret->token_file, folder);
}

gboolean
secret_check_files(const Secret *secret, GError **error)
{
    return trusted_check_secret(secret->password_file, error) &&
           trusted_check_secret(secret->token_file, error);
}

void
secret_clear(Secret *secret)
{
    g_free(secret->password_file);
    g_free(secret->token_file);
    g_strfreev(secret->token_command);
}

void
secret_forget(char *text)
{
    if (text != NULL)
        explicit_bzero(text, strlen(text));
    g_free(text);
}
