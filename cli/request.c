#include "cli/request.h"

#include <stdio.h>
#include <sysexits.h>
#include <unistd.h>

#include "cli/terminal.h"
#include "lib/escape.h"
#include "lib/secret.h"

enum { CONNECT_MS = 5000, ASK_MS = 30000 };

const char *
session_option(const Session *session, const char *name)
{
    return session->options != NULL ? g_hash_table_lookup(session->options, name) : NULL;
}

gboolean
session_has(const Session *session, const char *name)
{
    return session_option(session, name) != NULL;
}

static int
status_of(const char *code)
{
    static const struct {
        const char *code;
        int status;
    } CODES[] = {{"usage", EX_USAGE},       {"not-found", EX_NOINPUT}, {"denied", EX_NOPERM},
                 {"conflict", EX_DATAERR},  {"config", EX_CONFIG},     {"password", EX_NOPERM},
                 {"temporary", EX_TEMPFAIL}};

    for (gsize i = 0; i < G_N_ELEMENTS(CODES); i++)
        if (g_str_equal(code, CODES[i].code))
            return CODES[i].status;
    return EX_TEMPFAIL;
}

static GVariant *
give_up(const char *message, int status, int *status_out)
{
    g_autofree char *safe = escape_line(message);

    fprintf(stderr, "exeat: %s\n", safe);
    *status_out = status;
    return NULL;
}

static GVariant *
no_answer(const char *message, int *status_out)
{
    g_autofree char *text = g_strconcat("no answer from exeat-relay: ", message, NULL);

    return give_up(text, EX_TEMPFAIL, status_out);
}

Wire *
request_send(const Session *session, Wire *earlier, const char *verb, GVariant *arguments,
             int *status_out)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(Wire) wire = earlier;

    if (wire == NULL || !wire_idle(wire)) {
        wire_free(wire);
        wire = wire_connect(session->socket, CONNECT_MS, &error);
    }
    if (wire == NULL || !wire_send(wire, verb, arguments, -1, ASK_MS, &error)) {
        no_answer(error->message, status_out);
        return NULL;
    }
    *status_out = EX_OK;
    return g_steal_pointer(&wire);
}

/* fd_out: as wire_receive takes it. *password_out becomes TRUE when the relay wants a password
 * to be given; NULL when there is no more to give. */
static GVariant *
take_answer(Wire *wire, int *fd_out, gboolean *password_out, int *status_out)
{
    g_autoptr(GVariant) answer = NULL;
    g_autoptr(GError) error = NULL;
    g_autofree char *reply = NULL;

    if (!wire_receive(wire, WIRE_LIMIT_MILTER, ASK_MS, &reply, &answer, fd_out, &error))
        return no_answer(error->message, status_out);
    if (reply == NULL)
        return no_answer("it closed the connection", status_out);
    const char *code = answer_text(answer, "code");
    if (g_str_equal(reply, "error") && g_str_equal(code, "password") && password_out != NULL) {
        *password_out = TRUE;
        return NULL;
    }
    if (g_str_equal(reply, "error"))
        return give_up(answer_text(answer, "message"), status_of(code), status_out);
    if (!g_str_equal(reply, "ok"))
        return no_answer("it speaks another protocol", status_out);
    *status_out = EX_OK;
    return g_steal_pointer(&answer);
}

GVariant *
request_answer(Wire *wire, int *status_out)
{
    return take_answer(wire, NULL, NULL, status_out);
}

/* The same question with the password of whoever sits at the terminal; NULL: nobody does. */
static GVariant *
with_password(GVariant *arguments)
{
    char *password = terminal_ask_password("Your password as approver: ");
    GVariantDict dict;

    if (password == NULL || !g_utf8_validate(password, -1, NULL)) {
        secret_forget(password);
        return NULL;
    }
    g_variant_dict_init(&dict, arguments);
    g_variant_dict_insert(&dict, "password", "s", password);
    secret_forget(password);
    return g_variant_ref_sink(g_variant_dict_end(&dict));
}

/* fd_out: as wire_receive takes it. */
static GVariant *
ask(const Session *session, const char *verb, GVariant *arguments, int *fd_out,
    int *status_out)
{
    g_autoptr(GVariant) owned = arguments != NULL ? g_variant_ref_sink(arguments) : NULL;
    g_autoptr(Wire) wire = request_send(session, NULL, verb, owned, status_out);
    gboolean password = FALSE;
    GVariant *answer = wire != NULL ? take_answer(wire, fd_out, &password, status_out) : NULL;

    if (!password)
        return answer;
    g_autoptr(GVariant) again = with_password(owned);
    if (again == NULL)
        return give_up("this takes your password, typed at a terminal", EX_NOPERM, status_out);
    g_autoptr(Wire) second = request_send(session, NULL, verb, again, status_out);
    return second != NULL ? take_answer(second, fd_out, NULL, status_out) : NULL;
}

GVariant *
request_ask(const Session *session, const char *verb, GVariant *arguments, int *status_out)
{
    return ask(session, verb, arguments, NULL, status_out);
}

GVariant *
request_ask_bytes(const Session *session, const char *verb, GVariant *arguments, int *fd_out,
                  int *status_out)
{
    int fd = -1;
    GVariant *answer = ask(session, verb, arguments, &fd, status_out);

    if (answer != NULL && fd < 0) {
        g_variant_unref(answer);
        return no_answer("it sent no bytes", status_out);
    }
    if (answer == NULL && fd >= 0)
        close(fd);
    else
        *fd_out = fd;
    return answer;
}

const char *
answer_text(GVariant *answer, const char *key)
{
    const char *text;

    return g_variant_lookup(answer, key, "&s", &text) ? text : "";
}

gint64
answer_number(GVariant *answer, const char *key)
{
    gint64 number;
    guint64 size;
    guint32 small;

    if (g_variant_lookup(answer, key, "x", &number))
        return number;
    if (g_variant_lookup(answer, key, "t", &size))
        return (gint64)MIN(size, (guint64)G_MAXINT64);
    return g_variant_lookup(answer, key, "u", &small) ? small : 0;
}

gboolean
answer_flag(GVariant *answer, const char *key, gboolean otherwise)
{
    gboolean flag;

    return g_variant_lookup(answer, key, "b", &flag) ? flag : otherwise;
}

char **
answer_list(GVariant *answer, const char *key)
{
    char **list;

    return g_variant_lookup(answer, key, "^as", &list) ? list : g_new0(char *, 1);
}

GVariant *
answer_array(GVariant *answer, const char *key, const char *type)
{
    const GVariantType *wanted = G_VARIANT_TYPE(type);
    GVariant *array = g_variant_lookup_value(answer, key, wanted);

    return array != NULL ? array
                         : g_variant_ref_sink(
                               g_variant_new_array(g_variant_type_element(wanted), NULL, 0));
}
