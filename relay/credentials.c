#include "relay/credentials.h"

#include <string.h>

#include "lib/error.h"
#include "lib/trusted.h"
#include "relay/program.h"

static GMutex lock;
static GHashTable *tokens; /* command and user to what it printed */

/* The first line; takes text. NULL when it is empty, or no token although it should be one:
 * that has only printable characters (RFC 6750, 2.1). */
static char *
first_line(char *text, gboolean token, const char *source, GError **error)
{
    char *line = g_strndup(text, strcspn(text, "\r\n"));
    gboolean good = *line != '\0';

    for (const char *c = line; token && *c != '\0'; c++)
        good = good && g_ascii_isgraph(*c);
    secret_forget(text);
    if (good)
        return line;
    secret_forget(line);
    g_set_error(error, EXEAT_ERROR, ERROR_TEMP, "%s: expected %s in the first line", source,
                token ? "a token" : "a password");
    return NULL;
}

static char *
read_file(const char *path, gboolean token, GError **error)
{
    char *text = trusted_read_secret(path, error);

    return text != NULL ? first_line(text, token, path, error) : NULL;
}

static char *
find_token(const char *name)
{
    g_mutex_lock(&lock);
    char *token = tokens != NULL ? g_strdup(g_hash_table_lookup(tokens, name)) : NULL;
    g_mutex_unlock(&lock);
    return token;
}

static void
keep_token(const char *name, const char *token)
{
    g_mutex_lock(&lock);
    if (tokens == NULL)
        tokens = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
                                       (GDestroyNotify)secret_forget);
    g_hash_table_replace(tokens, g_strdup(name), g_strdup(token));
    g_mutex_unlock(&lock);
}

static char *
run_command(char **command, const char *user, gboolean fresh, GError **error)
{
    g_autofree char *words = g_strjoinv(" ", command);
    g_autofree char *name = g_strconcat(user, " ", words, NULL);
    char *token = fresh ? NULL : find_token(name);

    if (token != NULL)
        return token;
    char *text = program_ask(command, error);
    token = text != NULL ? first_line(text, TRUE, command[0], error) : NULL;
    if (token != NULL)
        keep_token(name, token);
    return token;
}

char *
credentials_fetch(const Secret *secret, const char *user, gboolean fresh, GError **error)
{
    if (*secret->password_file != '\0')
        return read_file(secret->password_file, FALSE, error);
    if (*secret->token_file != '\0')
        return read_file(secret->token_file, TRUE, error);
    return run_command(secret->token_command, user, fresh, error);
}
