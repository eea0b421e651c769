#include "lib/address.h"

#include <arpa/inet.h>
#include <idn2.h>
#include <string.h>

#define LABEL_MAX 63 /* RFC 1035, 2.3.4 */

gboolean
address_is_atom(char c)
{
    return g_ascii_isalnum(c) || (c & 0x80) != 0 ||
           (c != 0 && strchr("!#$%&'*+-/=?^_`{|}~", c));
}

static gboolean
has_control(const char *text)
{
    for (const char *p = text; *p != 0; p = g_utf8_next_char(p)) {
        gunichar c = g_utf8_get_char(p);
        if (c < 0x20 || (c >= 0x7f && c < 0xa0))
            return TRUE;
    }
    return FALSE;
}

/* TRUE when every label is letters, digits, hyphens or underscores, and none is too long. */
static gboolean
is_host_name(const char *name)
{
    gsize label = 0;

    if (strlen(name) > ADDRESS_DOMAIN_MAX)
        return FALSE;
    for (const char *p = name; *p != 0; p++) {
        gboolean last = p[1] == 0 || p[1] == '.';
        if (*p == '.') {
            label = 0;
            continue;
        }
        if (!g_ascii_isalnum(*p) && *p != '_' && (*p != '-' || label == 0 || last))
            return FALSE;
        if (++label > LABEL_MAX)
            return FALSE;
        if (p[1] == '.' && (p[2] == '.' || p[2] == 0))
            return FALSE;
    }
    return name[0] != 0 && name[0] != '.';
}

char *
address_domain_normalise(const char *written)
{
    g_autofree char *name = NULL;

    if (g_str_is_ascii(written)) {
        name = g_ascii_strdown(written, -1);
    } else {
        char *converted = NULL;
        if (!g_utf8_validate(written, -1, NULL) ||
            idn2_to_ascii_8z(written, &converted, IDN2_NONTRANSITIONAL) != IDN2_OK)
            return NULL;
        name = g_ascii_strdown(converted, -1);
        idn2_free(converted);
    }

    if (g_str_has_suffix(name, "."))
        name[strlen(name) - 1] = 0;
    /* Checked after the mapping, which turns a full-width @ into a plain one. */
    return is_host_name(name) ? g_steal_pointer(&name) : NULL;
}

/* "[192.0.2.1]" or "[IPv6:2001:db8::1]" (RFC 5321, 4.1.3), else NULL. It names a host and no
 * domain, so it stands in addresses alone and never in a configuration. */
static char *
normalise_literal(const char *written)
{
    struct in6_addr address;
    gsize length = strlen(written);

    if (length < 2 || written[0] != '[' || written[length - 1] != ']')
        return NULL;
    g_autofree char *inner = g_ascii_strdown(written + 1, (gssize)length - 2);
    gboolean good = g_str_has_prefix(inner, "ipv6:")
                        ? inet_pton(AF_INET6, inner + strlen("ipv6:"), &address) == 1
                        : inet_pton(AF_INET, inner, &address) == 1;
    return good ? g_strdup_printf("[%s]", inner) : NULL;
}

/* The local part as other hosts read it: quotes and escapes removed. *rest_out is the last @
 * outside quotes, NULL when there is none. */
static AddressProblem
read_local(const char *written, GString *local, const char **rest_out)
{
    const char *at = NULL;
    gboolean quoted = FALSE;
    gsize local_length = 0;

    for (const char *p = written; *p != 0; p++) {
        if (*p == '"') {
            quoted = !quoted;
            continue;
        }
        if (quoted && *p == '\\' && p[1] != 0)
            p++;
        else if (!quoted && *p == '@') {
            at = p;
            local_length = local->len;
        } else if (!quoted && at == NULL && !address_is_atom(*p) && *p != '.')
            return ADDRESS_CONTROL;
        g_string_append_c(local, *p);
    }
    if (quoted)
        return ADDRESS_CONTROL;
    if (at != NULL)
        g_string_truncate(local, local_length);
    *rest_out = at;
    return ADDRESS_OK;
}

static gboolean
needs_quotes(const char *local)
{
    gboolean dot = TRUE;

    for (const char *p = local; *p != 0; p++) {
        if (*p != '.' && !address_is_atom(*p))
            return TRUE;
        if (*p == '.' && (dot || p[1] == 0))
            return TRUE;
        dot = *p == '.';
    }
    return FALSE;
}

static char *
join(const char *local, const char *domain)
{
    if (!needs_quotes(local))
        return g_strconcat(local, "@", domain, NULL);

    g_autoptr(GString) quoted = g_string_new("\"");
    for (const char *p = local; *p != 0; p++) {
        if (*p == '"' || *p == '\\')
            g_string_append_c(quoted, '\\');
        g_string_append_c(quoted, *p);
    }
    g_string_append_printf(quoted, "\"@%s", domain);
    return g_strdup(quoted->str);
}

/* Most addresses are letters, digits and few signs, with nothing to map, to quote or to take
 * out of quotes. NULL: it has to be looked at closer. */
static char *
normalise_plain(const char *written)
{
    gboolean dot = TRUE;
    const char *p = written;

    for (; g_ascii_isalnum(*p) || *p == '-' || *p == '_' || *p == '+' || (*p == '.' && !dot);
         p++)
        dot = *p == '.';
    return !dot && *p == '@' && is_host_name(p + 1) ? g_ascii_strdown(written, -1) : NULL;
}

/* Sets *normal_out only when the answer is ADDRESS_OK. */
static AddressProblem
normalise(const char *written, char **normal_out)
{
    g_autoptr(GString) local = g_string_new(NULL);
    const char *at = NULL;

    if (written[0] == 0)
        return ADDRESS_EMPTY;
    char *plain = normalise_plain(written);
    if (plain != NULL) {
        *normal_out = plain;
        return ADDRESS_OK;
    }
    if (!g_utf8_validate(written, -1, NULL) || has_control(written))
        return ADDRESS_CONTROL;
    if (written[0] == '@')
        return ADDRESS_SOURCE_ROUTE;
    AddressProblem problem = read_local(written, local, &at);
    if (problem != ADDRESS_OK)
        return problem;
    /* Wide and small forms, too: who maps them to ASCII finds a route (XB11). */
    g_autofree char *mapped = g_utf8_normalize(local->str, -1, G_NORMALIZE_NFKC);
    if (mapped == NULL || strpbrk(mapped, "@%!") != NULL)
        return ADDRESS_ROUTED;
    if (at == NULL || at[1] == 0)
        return ADDRESS_NO_DOMAIN;
    if (local->len == 0)
        return ADDRESS_EMPTY;

    g_autofree char *domain =
        at[1] == '[' ? normalise_literal(at + 1) : address_domain_normalise(at + 1);
    if (domain == NULL)
        return ADDRESS_BAD_DOMAIN;
    g_autofree char *lower = g_ascii_strdown(local->str, -1);
    *normal_out = join(lower, domain);
    return ADDRESS_OK;
}

char *
address_normalise(const char *written, AddressProblem *problem_out)
{
    g_autofree char *bare = NULL;
    char *normal = NULL;
    gsize length = strlen(written);

    if (length >= 2 && written[0] == '<' && written[length - 1] == '>')
        bare = g_strndup(written + 1, length - 2);
    AddressProblem problem = normalise(bare != NULL ? bare : written, &normal);
    if (problem_out != NULL)
        *problem_out = problem;
    return normal;
}

const char *
address_problem_text(AddressProblem problem)
{
    switch (problem) {
    case ADDRESS_OK:
        return "nothing wrong";
    case ADDRESS_EMPTY:
        return "an empty address";
    case ADDRESS_SOURCE_ROUTE:
        return "a source route";
    case ADDRESS_ROUTED:
        return "a routing character in the local part";
    case ADDRESS_CONTROL:
        return "a character that may not stand there";
    case ADDRESS_NO_DOMAIN:
        return "no domain";
    case ADDRESS_BAD_DOMAIN:
        return "a domain that is no host name";
    }
    return "an unknown problem";
}

const char *
address_domain(const char *normal)
{
    const char *at = strrchr(normal, '@');

    return at != NULL ? at + 1 : "";
}
