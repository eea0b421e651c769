#include "lib/envelope.h"

#include <stdlib.h>
#include <string.h>

#include "lib/error.h"

static void
recipient_free(gpointer data)
{
    EnvelopeRecipient *recipient = data;

    g_free(recipient->address);
    g_free(recipient->resolved);
    g_strfreev(recipient->parameters);
    g_free(recipient);
}

Envelope *
envelope_new(void)
{
    Envelope *envelope = g_new0(Envelope, 1);

    envelope->sender = g_strdup("");
    envelope->parameters = g_new0(char *, 1);
    envelope->recipients = g_ptr_array_new_with_free_func(recipient_free);
    return envelope;
}

void
envelope_free(Envelope *envelope)
{
    if (envelope == NULL)
        return;
    g_free(envelope->sender);
    g_strfreev(envelope->parameters);
    g_ptr_array_unref(envelope->recipients);
    g_free(envelope);
}

Envelope *
envelope_part(const Envelope *envelope, const gboolean *wanted)
{
    Envelope *part = g_new0(Envelope, 1);

    part->sender = g_strdup(envelope->sender);
    part->parameters = g_strdupv(envelope->parameters);
    part->recipients = g_ptr_array_new_with_free_func(recipient_free);
    for (guint i = 0; i < envelope->recipients->len; i++) {
        const EnvelopeRecipient *recipient = envelope->recipients->pdata[i];
        if (!wanted[i])
            continue;
        EnvelopeRecipient *copy = g_new0(EnvelopeRecipient, 1);
        copy->address = g_strdup(recipient->address);
        copy->resolved = g_strdup(recipient->resolved);
        copy->parameters = g_strdupv(recipient->parameters);
        g_ptr_array_add(part->recipients, copy);
    }
    return part;
}

/* A path loses its brackets and nothing else. Mail that did not come by SMTP has none. */
static char *
strip_brackets(const char *path)
{
    gsize length = strlen(path);

    if (length >= 2 && path[0] == '<' && path[length - 1] == '>')
        return g_strndup(path + 1, length - 2);
    return g_strdup(path);
}

/* SIZE and AUTH are said anew on every hop. */
static gboolean
is_hop_parameter(const char *parameter)
{
    return g_ascii_strncasecmp(parameter, "SIZE=", 5) == 0 ||
           g_ascii_strncasecmp(parameter, "AUTH=", 5) == 0;
}

static int
compare_strings(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void
sort_parameters(char **parameters)
{
    qsort(parameters, g_strv_length(parameters), sizeof *parameters, compare_strings);
}

static char **
parameters_of_words(const char *const *words)
{
    g_autoptr(GStrvBuilder) builder = g_strv_builder_new();

    for (const char *const *word = words; *word != NULL; word++)
        if (!is_hop_parameter(*word))
            g_strv_builder_add(builder, *word);

    char **parameters = g_strv_builder_end(builder);
    sort_parameters(parameters);
    return parameters;
}

void
envelope_set_sender(Envelope *envelope, const char *const *words)
{
    g_assert(words[0] != NULL);
    g_free(envelope->sender);
    g_strfreev(envelope->parameters);
    envelope->sender = strip_brackets(words[0]);
    envelope->parameters = parameters_of_words(words + 1);
}

void
envelope_add_recipient(Envelope *envelope, const char *const *words, const char *resolved)
{
    g_assert(words[0] != NULL);
    EnvelopeRecipient *recipient = g_new0(EnvelopeRecipient, 1);

    recipient->address = strip_brackets(words[0]);
    recipient->resolved = g_strdup(resolved);
    recipient->parameters = parameters_of_words(words + 1);
    g_ptr_array_add(envelope->recipients, recipient);
}

static gboolean
is_clean(const char *text)
{
    while (*text != '\0' && !g_ascii_iscntrl(*text))
        text++;
    return *text == '\0';
}

static gboolean
are_clean(char *const *texts)
{
    while (*texts != NULL && is_clean(*texts))
        texts++;
    return *texts == NULL;
}

gboolean
envelope_is_clean(const Envelope *envelope)
{
    gboolean clean = is_clean(envelope->sender) && are_clean(envelope->parameters);

    for (guint i = 0; i < envelope->recipients->len; i++) {
        const EnvelopeRecipient *recipient = g_ptr_array_index(envelope->recipients, i);
        const char *resolved = recipient->resolved != NULL ? recipient->resolved : "";
        clean = clean && is_clean(recipient->address) && is_clean(resolved) &&
                are_clean(recipient->parameters);
    }
    return clean;
}

static GVariant *
parameters_to_variant(char **parameters)
{
    return g_variant_new_bytestring_array((const char *const *)parameters, -1);
}

static GVariant *
recipient_to_variant(const EnvelopeRecipient *recipient)
{
    const char *resolved = recipient->resolved != NULL ? recipient->resolved : "";
    GVariant *members[] = {g_variant_new_bytestring(recipient->address),
                           g_variant_new_bytestring(resolved),
                           parameters_to_variant(recipient->parameters)};

    return g_variant_new_tuple(members, G_N_ELEMENTS(members));
}

GVariant *
envelope_to_variant(const Envelope *envelope)
{
    GVariantBuilder recipients;

    g_variant_builder_init(&recipients, G_VARIANT_TYPE("a(ayayaay)"));
    for (guint i = 0; i < envelope->recipients->len; i++)
        g_variant_builder_add_value(&recipients,
                                    recipient_to_variant(envelope->recipients->pdata[i]));
    GVariant *members[] = {g_variant_new_bytestring(envelope->sender),
                           parameters_to_variant(envelope->parameters),
                           g_variant_builder_end(&recipients)};
    return g_variant_new_tuple(members, G_N_ELEMENTS(members));
}

/* The bytestring at an index of a container, or NULL when it is not one whole string free of
 * control bytes: GVariant itself would let a NUL end it early, for one reader of several. */
static char *
take_string(GVariant *container, gsize index, GError **error)
{
    g_autoptr(GVariant) child = g_variant_get_child_value(container, index);
    const char *text = g_variant_get_bytestring(child);

    if (g_variant_get_size(child) == strlen(text) + 1 && is_clean(text))
        return g_strdup(text);
    g_set_error(error, EXEAT_ERROR, ERROR_PROTOCOL,
                "control byte or broken string in an envelope");
    return NULL;
}

static char **
take_parameters(GVariant *container, gsize index, GError **error)
{
    g_autoptr(GVariant) array = g_variant_get_child_value(container, index);
    g_autoptr(GStrvBuilder) builder = g_strv_builder_new();

    for (gsize i = 0; i < g_variant_n_children(array); i++) {
        g_autofree char *parameter = take_string(array, i, error);
        if (parameter == NULL)
            return NULL;
        g_strv_builder_add(builder, parameter);
    }
    char **parameters = g_strv_builder_end(builder);
    sort_parameters(parameters);
    return parameters;
}

static gboolean
take_recipient(Envelope *envelope, GVariant *variant, GError **error)
{
    g_autofree char *address = take_string(variant, 0, error);
    if (address == NULL)
        return FALSE;
    g_autofree char *resolved = take_string(variant, 1, error);
    if (resolved == NULL)
        return FALSE;
    char **parameters = take_parameters(variant, 2, error);
    if (parameters == NULL)
        return FALSE;

    EnvelopeRecipient *recipient = g_new0(EnvelopeRecipient, 1);
    recipient->address = g_steal_pointer(&address);
    recipient->resolved = resolved[0] != '\0' ? g_steal_pointer(&resolved) : NULL;
    recipient->parameters = parameters;
    g_ptr_array_add(envelope->recipients, recipient);
    return TRUE;
}

Envelope *
envelope_from_variant(GVariant *variant, GError **error)
{
    if (!g_variant_is_of_type(variant, G_VARIANT_TYPE("(ayaaya(ayayaay))"))) {
        g_set_error(error, EXEAT_ERROR, ERROR_PROTOCOL, "an envelope of type %s",
                    g_variant_get_type_string(variant));
        return NULL;
    }

    g_autofree char *sender = take_string(variant, 0, error);
    if (sender == NULL)
        return NULL;
    char **parameters = take_parameters(variant, 1, error);
    if (parameters == NULL)
        return NULL;

    g_autoptr(Envelope) envelope = envelope_new();
    g_autoptr(GVariant) recipients = g_variant_get_child_value(variant, 2);
    g_free(envelope->sender);
    g_strfreev(envelope->parameters);
    envelope->sender = g_steal_pointer(&sender);
    envelope->parameters = parameters;
    for (gsize i = 0; i < g_variant_n_children(recipients); i++) {
        g_autoptr(GVariant) recipient = g_variant_get_child_value(recipients, i);
        if (!take_recipient(envelope, recipient, error))
            return NULL;
    }
    return g_steal_pointer(&envelope);
}
