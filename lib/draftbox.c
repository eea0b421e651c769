#include "lib/draftbox.h"

#include "lib/error.h"
#include "lib/imap.h"
#include "lib/trusted.h"

/* The parser's sentence, and not what stands in the file: that may have a password in it. */
gboolean
draftbox_read_address(const SettingPlace *place, const char *text, gpointer member,
                      GError **error)
{
    g_autoptr(GError) trouble = NULL;
    g_autoptr(ImapUrl) url = *text != '\0' ? imap_url_parse(text, &trouble) : NULL;

    if (url == NULL && trouble != NULL) {
        g_set_error(error, EXEAT_ERROR, ERROR_CONFIG, "%s:%u: %s", place->file->path,
                    place->line, trouble->message);
        return FALSE;
    }
    *(char **)member = g_strdup(text);
    return TRUE;
}

gboolean
draftbox_check(DraftBox *box, const char *folder, const KeyFile *file, const KeyGroup *group,
               GError **error)
{
    if (*box->address == '\0')
        return keygroup_forbid_parts(file, group, "drafts", error);
    if (secret_count(&box->secret) != 1)
        return keyfile_fail(error, file, keygroup_line(group, "drafts")->line, "drafts",
                            SECRET_EXPECTED("drafts"));
    setting_place_file(&box->ca_file, folder);
    secret_place(&box->secret, folder);
    return TRUE;
}

gboolean
draftbox_check_files(const DraftBox *box, GError **error)
{
    return trusted_check(box->ca_file, error) && secret_check_files(&box->secret, error);
}

void
draftbox_clear(DraftBox *box)
{
    g_free(box->address);
    g_free(box->ca_file);
    secret_clear(&box->secret);
    g_free(box->sent);
}
