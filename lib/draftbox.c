#include "lib/draftbox.h"

#include "lib/error.h"
#include "lib/imap.h"
#include "lib/trusted.h"

static gboolean
is_set(const char *text)
{
    return *text != '\0';
}

/* The parser's sentence, and not what stands in the file: that may have a password in it. */
gboolean
draftbox_read_address(const SettingPlace *place, const char *text, gpointer member,
                      GError **error)
{
    g_autoptr(GError) trouble = NULL;
    g_autoptr(ImapUrl) url = is_set(text) ? imap_url_parse(text, &trouble) : NULL;

    if (url == NULL && trouble != NULL) {
        g_set_error(error, EXEAT_ERROR, ERROR_CONFIG, "%s:%u: %s", place->file->path,
                    place->line, trouble->message);
        return FALSE;
    }
    *(char **)member = g_strdup(text);
    return TRUE;
}

static void
make_absolute(char **path, const char *folder)
{
    g_autofree char *written = *path;

    *path =
        is_set(written) ? g_canonicalize_filename(written, folder) : g_steal_pointer(&written);
}

/* An account without a mailbox has none of the other keys either. */
static gboolean
check_absence(const KeyFile *file, const KeyGroup *group, GError **error)
{
    for (guint i = 0; i < group->lines->len; i++) {
        const KeyLine *line = group->lines->pdata[i];

        if (g_str_has_prefix(line->key, "drafts-"))
            return keyfile_fail(error, file, line->line, line->key,
                                "the key “drafts” in this group, too");
    }
    return TRUE;
}

gboolean
draftbox_check(DraftBox *box, const char *folder, const KeyFile *file, const KeyGroup *group,
               GError **error)
{
    guint secrets =
        is_set(box->password_file) + is_set(box->token_file) + (box->token_command[0] != NULL);

    if (!is_set(box->address))
        return check_absence(file, group, error);
    if (secrets != 1)
        return keyfile_fail(error, file, keygroup_line(group, "drafts")->line, "drafts",
                            "one of “drafts-password-file”, “drafts-token-file” and "
                            "“drafts-token-command” in this group, too");
    make_absolute(&box->ca_file, folder);
    make_absolute(&box->password_file, folder);
    make_absolute(&box->token_file, folder);
    return TRUE;
}

static gboolean
check_file(const char *path, char *(*read)(const char *, GError **), GError **error)
{
    if (!is_set(path))
        return TRUE;
    g_autofree char *text = read(path, error);
    return text != NULL;
}

gboolean
draftbox_check_files(const DraftBox *box, GError **error)
{
    return check_file(box->ca_file, trusted_read, error) &&
           check_file(box->password_file, trusted_read_secret, error) &&
           check_file(box->token_file, trusted_read_secret, error);
}

void
draftbox_clear(DraftBox *box)
{
    g_free(box->address);
    g_free(box->ca_file);
    g_free(box->password_file);
    g_free(box->token_file);
    g_strfreev(box->token_command);
    g_free(box->sent);
}
