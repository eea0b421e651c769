#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include <glib/gstdio.h>

#include "cli/command.h"
#include "lib/escape.h"

#define FILE_NAME "letter.txt"

/* What the approver left of it. */
typedef struct {
    char **to;
    char **blind;
    char *subject;
    char *text;
} Draft;

static void
draft_clear(Draft *draft)
{
    g_strfreev(draft->to);
    g_strfreev(draft->blind);
    g_free(draft->subject);
    g_free(draft->text);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Draft, draft_clear)

static int
complain(const char *message, int status)
{
    g_autofree char *safe = escape_line(message);

    fprintf(stderr, "exeat: %s\n", safe);
    return status;
}

/* The letter as it is edited. */
static char *
write_form(GVariant *letter)
{
    g_auto(GStrv) to = answer_list(letter, "to"), blind = answer_list(letter, "blind");
    g_autofree char *to_text = g_strjoinv(", ", to), *blind_text = g_strjoinv(", ", blind);

    return g_strdup_printf("To: %s\nBcc: %s\nSubject: %s\n\n%s", to_text, blind_text,
                           answer_text(letter, "subject"), answer_text(letter, "text"));
}

static char **
split_addresses(const char *text)
{
    g_auto(GStrv) entries = g_strsplit(text, ",", -1);
    g_autoptr(GStrvBuilder) builder = g_strv_builder_new();

    for (char **entry = entries; *entry != NULL; entry++)
        if (*g_strstrip(*entry) != '\0')
            g_strv_builder_add(builder, *entry);
    return g_strv_builder_end(builder);
}

/* What follows "Name:" in the line, which must begin with it. NULL otherwise. */
static char *
field_of(const char *line, const char *name)
{
    gsize length = strlen(name);

    if (line == NULL || !g_str_has_prefix(line, name) || line[length] != ':')
        return NULL;
    return g_strstrip(g_strdup(line + length + 1));
}

/* FALSE when the form has lost its shape: three fields, an empty line, the text. */
static gboolean
read_form(const char *form, Draft *draft)
{
    g_auto(GStrv) lines = g_strsplit(form, "\n", 5);
    gboolean whole = g_strv_length(lines) == 5;
    g_autofree char *to = whole ? field_of(lines[0], "To") : NULL;
    g_autofree char *blind = whole ? field_of(lines[1], "Bcc") : NULL;

    draft->subject = whole ? field_of(lines[2], "Subject") : NULL;
    if (to == NULL || blind == NULL || draft->subject == NULL || *lines[3] != '\0')
        return FALSE;
    draft->to = split_addresses(to);
    draft->blind = split_addresses(blind);
    draft->text = g_strdup(lines[4]);
    return TRUE;
}

/* Runs the user's editor on the file. No shell reads its name. */
static gboolean
run_editor(const char *path, GError **error)
{
    const char *visual = g_getenv("VISUAL"), *other = g_getenv("EDITOR");
    const char *editor = visual != NULL ? visual : other != NULL ? other : "vi";
    g_auto(GStrv) words = NULL;
    g_autoptr(GPtrArray) arguments = g_ptr_array_new();
    int status;

    if (!g_shell_parse_argv(editor, NULL, &words, error))
        return FALSE;
    for (char **word = words; *word != NULL; word++)
        g_ptr_array_add(arguments, *word);
    g_ptr_array_add(arguments, (gpointer)path);
    g_ptr_array_add(arguments, NULL);
    return g_spawn_sync(NULL, (char **)arguments->pdata, NULL,
                        G_SPAWN_SEARCH_PATH | G_SPAWN_CHILD_INHERITS_STDIN, NULL, NULL, NULL,
                        NULL, &status, error) &&
           g_spawn_check_wait_status(status, error);
}

/* Lets the user edit text in a file of a private folder, and reads it back. */
static char *
edit_text(const char *path, const char *text, GError **error)
{
    g_autofree char *edited = NULL;

    if (!g_file_set_contents_full(path, text, -1, G_FILE_SET_CONTENTS_NONE, 0600, error) ||
        !run_editor(path, error) || !g_file_get_contents(path, &edited, NULL, error))
        return NULL;
    if (g_utf8_validate(edited, -1, NULL))
        return g_steal_pointer(&edited);
    g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL, "%s: this is no UTF-8", path);
    return NULL;
}

static int
send_draft(const Session *session, const char *id, const char *digest, const Draft *draft)
{
    GVariantDict arguments;
    int status;

    g_variant_dict_init(&arguments, NULL);
    g_variant_dict_insert(&arguments, "id", "s", id);
    g_variant_dict_insert(&arguments, "digest", "s", digest);
    g_variant_dict_insert(&arguments, "subject", "s", draft->subject);
    g_variant_dict_insert(&arguments, "text", "s", draft->text);
    g_variant_dict_insert(&arguments, "to", "^as", draft->to);
    g_variant_dict_insert(&arguments, "blind", "^as", draft->blind);
    g_autoptr(GVariant) answer =
        request_ask(session, "edit", g_variant_dict_end(&arguments), &status);
    if (answer == NULL)
        return status;
    if (session->json)
        return command_print_json(answer);
    g_autofree char *fresh = escape_line(answer_text(answer, "id"));
    g_autofree char *state = escape_line(answer_text(answer, "state"));
    g_autofree char *old = escape_line(id);
    printf("%s: %s, in place of %s\n\nexeat show %s\n", fresh, state, old, fresh);
    return EX_OK;
}

/* Whether the file holds anything but the form, as far as can be seen. */
static gboolean
is_changed(const char *path, const char *form)
{
    g_autofree char *text = NULL;
    gsize length;

    if (!g_file_get_contents(path, &text, &length, NULL))
        return g_file_test(path, G_FILE_TEST_EXISTS);
    return length != strlen(form) || memcmp(text, form, length) != 0;
}

static int
edit_letter(const Session *session, const char *id, GVariant *letter, const char *form,
            const char *path)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *edited = edit_text(path, form, &error);
    g_auto(Draft) draft = {0};

    if (edited == NULL)
        return complain(error->message, EX_DATAERR);
    if (g_str_equal(edited, form)) {
        puts("Nothing was changed.");
        return EX_OK;
    }
    if (!read_form(edited, &draft))
        return complain("the letter must begin with the lines To, Bcc and Subject, in this "
                        "order, and an empty line",
                        EX_DATAERR);
    return send_draft(session, id, answer_text(letter, "digest"), &draft);
}

/* Editors leave copies beside what they change. */
static void
remove_folder(const char *folder)
{
    g_autoptr(GDir) files = g_dir_open(folder, 0, NULL);
    const char *name;

    while (files != NULL && (name = g_dir_read_name(files)) != NULL) {
        g_autofree char *path = g_build_filename(folder, name, NULL);
        g_unlink(path);
    }
    g_rmdir(folder);
}

int
cmd_edit(const Session *session, char **words)
{
    g_autoptr(GError) error = NULL;
    GVariantDict arguments;
    int status;

    g_variant_dict_init(&arguments, NULL);
    g_variant_dict_insert(&arguments, "id", "s", words[0]);
    g_autoptr(GVariant) letter =
        request_ask(session, "letter", g_variant_dict_end(&arguments), &status);
    if (letter == NULL)
        return status;
    g_autofree char *folder = g_dir_make_tmp("exeat-XXXXXX", &error);
    if (folder == NULL)
        return complain(error->message, EX_CANTCREAT);
    g_autofree char *path = g_build_filename(folder, FILE_NAME, NULL);
    g_autofree char *form = write_form(letter);
    status = edit_letter(session, words[0], letter, form, path);
    /* What was written must not be lost because the editor failed or the relay said no. */
    if (status != EX_OK && is_changed(path, form)) {
        fprintf(stderr, "exeat: your text is still in %s\n", path);
        return status;
    }
    remove_folder(folder);
    return status;
}
