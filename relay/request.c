#include "relay/request.h"

#include <string.h>
#include <unistd.h>

#include "lib/error.h"
#include "policy/rules.h"

GQuark
request_error_quark(void)
{
    return g_quark_from_static_string("exeat-request-error");
}

const char *
request_text(const Request *request, const char *name, GError **error)
{
    const char *text;

    if (g_variant_lookup(request->arguments, name, "&s", &text))
        return text;
    g_set_error(error, REQUEST_ERROR, REQUEST_USAGE, "the request has no %s", name);
    return NULL;
}

const char *
request_line(const Request *request, const char *name, GError **error)
{
    const char *text = request_text(request, name, error);

    if (text == NULL)
        return NULL;
    gboolean good = *text != '\0' && strlen(text) <= REQUEST_LINE_MOST;
    for (const char *c = text; *c != '\0'; c++)
        good = good && !g_ascii_iscntrl(*c);
    if (good)
        return text;
    g_set_error(error, REQUEST_ERROR, REQUEST_USAGE,
                "the %s must be one line of at most %d bytes", name, REQUEST_LINE_MOST);
    return NULL;
}

void
request_clear(Request *request)
{
    config_unref(request->config);
    g_variant_unref(request->arguments);
    if (request->fd >= 0)
        close(request->fd);
    if (request->reply_fd >= 0)
        close(request->reply_fd);
    g_free(request->who);
    g_free(request->said);
    g_strfreev(request->accounts);
    g_strfreev(request->served);
    item_free(request->item);
    item_free(request->sent);
    g_clear_pointer(&request->reply, g_variant_unref);
}

static const char *
error_code(const GError *error)
{
    static const char *const codes[] = {"usage", "not-found", "denied", "conflict",
                                        "password"};

    if (error->domain == REQUEST_ERROR)
        return codes[error->code];
    return error->domain == POLICY_ERROR || g_error_matches(error, EXEAT_ERROR, ERROR_CONFIG)
               ? "config"
               : "temporary";
}

GVariant *
request_error_view(const GError *error)
{
    GVariantDict dict;

    g_variant_dict_init(&dict, NULL);
    g_variant_dict_insert(&dict, "code", "s", error_code(error));
    g_variant_dict_insert(&dict, "message", "s", error->message);
    return g_variant_dict_end(&dict);
}
