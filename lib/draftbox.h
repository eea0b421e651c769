/* draftbox.h - the mailbox in which a person sees what waits
 *
 * A part of exeat.conf: keys of an account that begin with drafts. The files are looked at
 * when the configuration is read and read when they are needed. */
#pragma once

#include <stddef.h>

#include "lib/secret.h"

/* Texts are "" when there is none, paths absolute once checked. */
typedef struct {
    char *address; /* as imap_url_parse takes it; "": the account has no such mailbox */
    char *ca_file; /* "": the system's */
    Secret secret;
    char *sent; /* the folder of what was sent; "": what the server says */
} DraftBox;

/* Rows of a table of settings for a DraftBox that is a member of the struct. */
#define DRAFTBOX_SETTINGS(type, member)                                                       \
    {"drafts", draftbox_read_address, offsetof(type, member.address), ""},                    \
        {"drafts-ca", setting_file, offsetof(type, member.ca_file), ""},                      \
        SECRET_SETTINGS("drafts", type, member.secret),                                       \
    {                                                                                         \
        "drafts-sent", setting_file, offsetof(type, member.sent), ""                          \
    }

gboolean draftbox_read_address(const SettingPlace *, const char *, gpointer, GError **);

/* What the keys of a group say together; makes paths absolute, below folder. ERROR_CONFIG. */
gboolean draftbox_check(DraftBox *box, const char *folder, const KeyFile *file,
                        const KeyGroup *group, GError **error);

/* Reads the files once, as trusted.h wants them, to tell a mistake early. */
gboolean draftbox_check_files(const DraftBox *box, GError **error);

/* Frees the texts. */
void draftbox_clear(DraftBox *box);
