/* setting.h - the values of a key file, by kind
 *
 * A group of a file is described by a table of settings: key, reader, place in a struct, and
 * what holds when the key is missing. Every reader checks all it can, so that a mistake is
 * told when the file is read and not when a message comes. Errors: ERROR_CONFIG, or ERROR_TEMP
 * when the user database cannot be asked. */
#pragma once

#include "lib/keyfile.h"

typedef struct {
    const KeyFile *file;
    guint line;
} SettingPlace;

/* Reads text into a member of a struct, which holds nothing yet. */
typedef gboolean (*SettingReader)(const SettingPlace *place, const char *text, gpointer member,
                                  GError **error);

typedef struct {
    const char *key;
    SettingReader read;
    gsize offset;          /* of the member */
    const char *otherwise; /* when the key is missing; NULL: it must be there */
} Setting;

/* Reads all settings of a group (table ended by a NULL key) into target; refuses keys that are
 * not in the table. */
gboolean setting_read_group(const Setting *settings, const KeyFile *file,
                            const KeyGroup *group, gpointer target, GError **error);

/* char *: */
gboolean setting_folder(const SettingPlace *, const char *, gpointer,
                        GError **); /* absolute */
gboolean setting_file(const SettingPlace *, const char *, gpointer, GError **);
gboolean setting_socket(const SettingPlace *, const char *, gpointer, GError **);
gboolean setting_milter_socket(const SettingPlace *, const char *, gpointer, GError **);
gboolean setting_next_hop(const SettingPlace *, const char *, gpointer, GError **);

/* char *, an address of ASCII as it is written, since another host may mind its case; "" when
 * there is none: */
gboolean setting_mail_address(const SettingPlace *, const char *, gpointer, GError **);

/* char **, comma-separated in the file, each entry once; otherwise "" gives an empty list: */
gboolean setting_alias_files(const SettingPlace *, const char *, gpointer, GError **);
gboolean setting_addresses(const SettingPlace *, const char *, gpointer, GError **);
gboolean setting_mail_addresses(const SettingPlace *, const char *, gpointer, GError **);
gboolean setting_domains(const SettingPlace *, const char *, gpointer, GError **);
gboolean setting_logins(const SettingPlace *, const char *, gpointer, GError **);
gboolean setting_networks(const SettingPlace *, const char *, gpointer, GError **);

/* char **, separated by blanks; no shell: */
gboolean setting_command(const SettingPlace *, const char *, gpointer, GError **);

gboolean setting_people(const SettingPlace *, const char *, gpointer, GError **); /* People */
gboolean setting_user(const SettingPlace *, const char *, gpointer, GError **);   /* uid_t */
gboolean setting_switch(const SettingPlace *, const char *, gpointer,
                        GError **); /* gboolean */
gboolean setting_duration(const SettingPlace *, const char *, gpointer,
                          GError **);                                            /* gint64 */
gboolean setting_size(const SettingPlace *, const char *, gpointer, GError **);  /* guint64 */
gboolean setting_count(const SettingPlace *, const char *, gpointer, GError **); /* guint */

/* Makes what setting_file read absolute, below folder; "" stays. */
void setting_place_file(char **path, const char *folder);

/* A login as it is compared: without regard to case (case H5), in no locale. The caller frees.
 */
char *setting_fold_login(const char *login);
