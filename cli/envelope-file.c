#include "cli/envelope-file.h"

#include <jansson.h>

#include "lib/error.h"

void
envelope_file_clear(EnvelopeFile *file)
{
    g_free(file->account);
    g_free(file->digest);
    g_clear_pointer(&file->envelope, envelope_free);
}

/* The words of MAIL or RCPT: the path and its parameters. NULL: they are no texts. */
static GPtrArray *
words_of(json_t *address, json_t *parameters)
{
    g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);
    size_t i;
    json_t *parameter;

    if (!json_is_string(address) || !json_is_array(parameters))
        return NULL;
    g_ptr_array_add(words, g_strdup_printf("<%s>", json_string_value(address)));
    json_array_foreach(parameters, i, parameter)
    {
        if (!json_is_string(parameter))
            return NULL;
        g_ptr_array_add(words, g_strdup(json_string_value(parameter)));
    }
    g_ptr_array_add(words, NULL);
    return g_steal_pointer(&words);
}

static gboolean
read_envelope(json_t *root, Envelope *envelope)
{
    json_t *recipients = json_object_get(root, "recipients"), *recipient;
    g_autoptr(GPtrArray) sender =
        words_of(json_object_get(root, "sender"), json_object_get(root, "sender_parameters"));
    size_t i;

    if (sender == NULL || !json_is_array(recipients))
        return FALSE;
    envelope_set_sender(envelope, (const char *const *)sender->pdata);
    json_array_foreach(recipients, i, recipient)
    {
        g_autoptr(GPtrArray) words = words_of(json_object_get(recipient, "address"),
                                              json_object_get(recipient, "parameters"));

        if (words == NULL)
            return FALSE;
        envelope_add_recipient(envelope, (const char *const *)words->pdata, NULL);
    }
    return TRUE;
}

gboolean
envelope_file_read(const char *path, EnvelopeFile *file, GError **error)
{
    json_error_t problem = {.text = "expected an envelope of exeat export"};
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &problem);
    json_t *account = json_object_get(root, "account");
    json_t *digest = json_object_get(root, "digest");

    file->envelope = envelope_new();
    gboolean read = json_is_string(account) && json_is_string(digest) &&
                    read_envelope(root, file->envelope);
    file->account = g_strdup(json_string_value(account));
    file->digest = g_strdup(json_string_value(digest));
    json_decref(root);
    if (!read)
        g_set_error(error, EXEAT_ERROR, ERROR_CONFIG, "%s: %s", path,
                    root != NULL ? "expected an envelope as exeat export writes it"
                                 : problem.text);
    return read;
}
