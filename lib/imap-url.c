#include "lib/imap.h"

#include <string.h>

#include "lib/error.h"

#define FORM "imaps://user@host/Folder"

static gboolean
fail(const char *what, GError **error)
{
    g_set_error(error, EXEAT_ERROR, ERROR_CONFIG, "found %s, expected %s", what, FORM);
    return FALSE;
}

/* Without control characters, whatever it was encoded as. NULL otherwise. */
static char *
decode(const char *text)
{
    g_autofree char *plain = g_uri_unescape_string(text, NULL);

    if (plain == NULL || !g_utf8_validate(plain, -1, NULL))
        return NULL;
    for (const char *at = plain; *at != '\0'; at = g_utf8_next_char(at))
        if (g_unichar_iscntrl(g_utf8_get_char(at)))
            return NULL;
    return g_steal_pointer(&plain);
}

static gboolean
take_user(ImapUrl *url, const char *text, GError **error)
{
    if (strchr(text, ':') != NULL)
        return fail("a password in the address", error);
    url->user = decode(text);
    return (url->user != NULL && *url->user != '\0') || fail("no user", error);
}

/* host, host:port, [address] or [address]:port. */
static gboolean
take_host(ImapUrl *url, const char *text, GError **error)
{
    const char *inner = *text == '[' ? strchr(text, ']') : text;
    const char *colon = inner != NULL ? strchr(inner, ':') : NULL;
    guint64 port = 0;

    if (colon != NULL &&
        !g_ascii_string_to_unsigned(colon + 1, 10, 1, G_MAXUINT16, &port, NULL))
        return fail("no port after the colon", error);
    url->host = colon != NULL ? g_strndup(text, (gsize)(colon - text)) : g_strdup(text);
    url->port = (guint)port;
    if (inner == NULL || *url->host == '\0' ||
        strspn(url->host, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS ".-_[]:") !=
            strlen(url->host))
        return fail("no host name", error);
    return TRUE;
}

static gboolean
take_folder(ImapUrl *url, const char *text, GError **error)
{
    if (*text == '\0')
        return TRUE;
    url->folder = decode(text);
    return url->folder != NULL || fail("a folder that is no text", error);
}

ImapUrl *
imap_url_parse(const char *text, GError **error)
{
    g_autoptr(ImapUrl) url = g_new0(ImapUrl, 1);

    url->starttls = g_str_has_prefix(text, "imap://");
    if (!url->starttls && !g_str_has_prefix(text, "imaps://")) {
        fail("another beginning", error);
        return NULL;
    }
    const char *rest = strstr(text, "//") + 2;
    const char *slash = strchr(rest, '/');
    g_autofree char *place =
        slash != NULL ? g_strndup(rest, (gsize)(slash - rest)) : g_strdup(rest);
    char *at = strrchr(place, '@');
    if (at == NULL) {
        fail("no user", error);
        return NULL;
    }
    *at = '\0';
    if (!take_user(url, place, error) || !take_host(url, at + 1, error) ||
        !take_folder(url, slash != NULL ? slash + 1 : "", error))
        return NULL;
    return g_steal_pointer(&url);
}

void
imap_url_free(ImapUrl *url)
{
    if (url == NULL)
        return;
    g_free(url->user);
    g_free(url->host);
    g_free(url->folder);
    g_free(url);
}
