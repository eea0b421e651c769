#include "milter/gate.h"

#include "lib/claims.h"
#include "lib/error.h"
#include "lib/vardict.h"
#include "lib/wire.h"

/* Longer than the relay's own worst case, shorter than any mail server waits. */
enum { CONNECT_MS = 2000, ANSWER_MS = 30000, IDLE_MOST = 32 };

struct _Gate {
    char *socket;
    GMutex lock;
    GQueue idle; /* of Wire *, the latest first */
};

Gate *
gate_new(const char *relay_socket)
{
    Gate *gate = g_new0(Gate, 1);

    gate->socket = g_strdup(relay_socket);
    g_mutex_init(&gate->lock);
    g_queue_init(&gate->idle);
    return gate;
}

void
answer_free(Answer *answer)
{
    if (answer == NULL)
        return;
    g_free(answer->item);
    g_free(answer->status);
    g_free(answer->text);
    g_free(answer);
}

/* An idle connection that still stands, or a new one. */
static Wire *
take_wire(Gate *gate, GError **error)
{
    for (;;) {
        g_mutex_lock(&gate->lock);
        g_autoptr(Wire) wire = g_queue_pop_head(&gate->idle);
        g_mutex_unlock(&gate->lock);

        if (wire == NULL)
            return wire_connect(gate->socket, CONNECT_MS, error);
        if (wire_idle(wire))
            return g_steal_pointer(&wire);
    }
}

static void
give_back(Gate *gate, Wire *wire)
{
    g_mutex_lock(&gate->lock);
    if (gate->idle.length < IDLE_MOST)
        g_queue_push_head(&gate->idle, g_steal_pointer(&wire));
    g_mutex_unlock(&gate->lock);
    if (wire != NULL)
        wire_free(wire);
}

/* One request and its answer: a{sv}, a new reference. */
static GVariant *
ask(Gate *gate, const char *verb, GVariant *arguments, int fd, GError **error)
{
    g_autoptr(GVariant) request = g_variant_ref_sink(arguments);
    g_autoptr(Wire) wire = take_wire(gate, error);
    g_autofree char *answer = NULL;
    g_autoptr(GVariant) details = NULL;

    if (wire == NULL || !wire_send(wire, verb, request, fd, ANSWER_MS, error) ||
        !wire_receive(wire, WIRE_LIMIT_PEOPLE, ANSWER_MS, &answer, &details, NULL, error))
        return NULL;
    if (answer == NULL) {
        g_set_error(error, EXEAT_ERROR, ERROR_TEMP, "the relay closed the connection");
        return NULL;
    }
    give_back(gate, g_steal_pointer(&wire));
    if (g_str_equal(answer, "ok"))
        return g_steal_pointer(&details);

    const char *message = "no reason given";
    g_variant_lookup(details, "message", "&s", &message);
    g_set_error(error, EXEAT_ERROR, ERROR_TEMP, "the relay answers: %s", message);
    return NULL;
}

static gboolean
read_action(const char *word, AnswerAction *action_out)
{
    if (g_strcmp0(word, "pass") == 0)
        *action_out = ANSWER_PASS;
    else if (g_strcmp0(word, "keep") == 0)
        *action_out = ANSWER_KEEP;
    else if (g_strcmp0(word, "later") == 0)
        *action_out = ANSWER_TRY_LATER;
    else if (g_strcmp0(word, "refuse") == 0)
        *action_out = ANSWER_REFUSE;
    else
        return FALSE;
    return TRUE;
}

static Answer *
read_answer(GVariant *details, GError **error)
{
    const char *word = NULL, *item = "", *text = "", *status = ANSWER_STATUS;
    gboolean automatic = FALSE;
    AnswerAction action;
    const struct {
        const char *key;
        const char **text;
    } texts[] = {{"action", &word}, {"item", &item}, {"status", &status}, {"text", &text}};

    for (gsize i = 0; i < g_variant_n_children(details); i++) {
        const char *key;
        g_autoptr(GVariant) value = vardict_member(details, i, &key);

        for (gsize j = 0; j < G_N_ELEMENTS(texts); j++)
            if (g_str_equal(key, texts[j].key))
                vardict_get_text(value, texts[j].text);
        if (g_str_equal(key, "automatic"))
            automatic = g_variant_is_of_type(value, G_VARIANT_TYPE_BOOLEAN) &&
                        g_variant_get_boolean(value);
    }
    if (!read_action(word, &action)) {
        g_set_error(error, EXEAT_ERROR, ERROR_PROTOCOL,
                    "the relay's answer has no known action");
        return NULL;
    }
    Answer *answer = g_new0(Answer, 1);
    answer->action = action;
    answer->item = g_strdup(item);
    answer->status = g_strdup(status);
    answer->text = g_strdup(text);
    answer->automatic = automatic;
    return answer;
}

Answer *
gate_submit(Gate *gate, const Submission *submission, GError **error)
{
    GVariantBuilder arguments;

    g_variant_builder_init(&arguments, G_VARIANT_TYPE_VARDICT);
    vardict_add_text(&arguments, "login", submission->login);
    vardict_add_text(&arguments, "queue-id", submission->queue_id);
    vardict_add_text(&arguments, "key", submission->key);
    vardict_add(&arguments, "envelope", envelope_to_variant(submission->envelope));
    vardict_add(&arguments, "extract", extract_to_variant(submission->extract));
    if (submission->claims != NULL && g_hash_table_size(submission->claims) > 0)
        vardict_add(&arguments, "claims", claims_to_variant(submission->claims));

    g_autoptr(GVariant) details =
        ask(gate, "submit", g_variant_builder_end(&arguments), submission->fd, error);
    return details ? read_answer(details, error) : NULL;
}

Answer *
gate_redeem(Gate *gate, const char *ticket, const char *queue_id, const Envelope *envelope,
            int fd, GError **error)
{
    GVariantBuilder arguments;

    g_variant_builder_init(&arguments, G_VARIANT_TYPE_VARDICT);
    vardict_add(&arguments, "ticket", g_variant_new_string(ticket));
    vardict_add_text(&arguments, "queue-id", queue_id);
    vardict_add(&arguments, "envelope", envelope_to_variant(envelope));

    g_autoptr(GVariant) details =
        ask(gate, "redeem", g_variant_builder_end(&arguments), fd, error);
    return details ? read_answer(details, error) : NULL;
}

gboolean
gate_observe(Gate *gate, const char *login, const char *item, const Envelope *envelope,
             const Extract *extract, GError **error)
{
    GVariantBuilder arguments;

    g_variant_builder_init(&arguments, G_VARIANT_TYPE_VARDICT);
    vardict_add_text(&arguments, "login", login ? login : "");
    vardict_add_text(&arguments, "item", item ? item : "");
    vardict_add(&arguments, "envelope", envelope_to_variant(envelope));
    vardict_add(&arguments, "extract", extract_to_variant(extract));

    g_autoptr(GVariant) details =
        ask(gate, "observe", g_variant_builder_end(&arguments), -1, error);
    return details != NULL;
}
