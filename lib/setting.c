#include "lib/setting.h"

#include <string.h>
#include <sys/un.h>

#include "lib/address.h"
#include "lib/network.h"
#include "lib/people.h"

#define SOCKET_LIMIT (sizeof((struct sockaddr_un *)0)->sun_path - 1)
#define COUNT_LIMIT  1000000
#define ONCE         "each entry once"

static gboolean
check_keys(const Setting *settings, const KeyFile *file, const KeyGroup *group, GError **error)
{
    g_autoptr(GPtrArray) known = g_ptr_array_new();

    for (; settings->key != NULL; settings++)
        g_ptr_array_add(known, (gpointer)settings->key);
    g_ptr_array_add(known, NULL);
    return keygroup_check(file, group, (const char *const *)known->pdata, error);
}

gboolean
setting_read_group(const Setting *settings, const KeyFile *file, const KeyGroup *group,
                   gpointer target, GError **error)
{
    if (!check_keys(settings, file, group, error))
        return FALSE;
    for (; settings->key != NULL; settings++) {
        const KeyLine *line = keygroup_line(group, settings->key);
        SettingPlace place = {file, line != NULL ? line->line : group->line};
        const char *text = line != NULL ? line->text : settings->otherwise;
        if (text == NULL)
            return keyfile_fail(error, file, group->line, group->name,
                                "the key “%s” in this group", settings->key);
        if (!settings->read(&place, text, (char *)target + settings->offset, error))
            return FALSE;
    }
    return TRUE;
}

static gboolean
fail(GError **error, const SettingPlace *place, const char *found, const char *expected)
{
    return keyfile_fail(error, place->file, place->line, found, "%s", expected);
}

static gboolean
keep(gpointer member, const char *text)
{
    *(char **)member = g_strdup(text);
    return TRUE;
}

gboolean
setting_folder(const SettingPlace *place, const char *text, gpointer member, GError **error)
{
    if (!g_path_is_absolute(text))
        return fail(error, place, text, "a path that starts with /");
    return keep(member, text);
}

gboolean
setting_file(const SettingPlace *place G_GNUC_UNUSED, const char *text, gpointer member,
             GError **error G_GNUC_UNUSED)
{
    return keep(member, text);
}

void
setting_place_file(char **path, const char *folder)
{
    g_autofree char *written = *path;

    *path = *written != '\0' ? g_canonicalize_filename(written, folder)
                             : g_steal_pointer(&written);
}

gboolean
setting_command(const SettingPlace *place, const char *text, gpointer member, GError **error)
{
    g_autoptr(GStrvBuilder) words = g_strv_builder_new();
    g_auto(GStrv) parts = g_strsplit_set(text, " \t", -1);

    for (guint i = 0; parts[i] != NULL; i++)
        if (*parts[i] != '\0')
            g_strv_builder_add(words, parts[i]);
    g_auto(GStrv) command = g_strv_builder_end(words);
    if (command[0] != NULL && !g_path_is_absolute(command[0]))
        return fail(error, place, text, "a program that starts with /, and its arguments");
    *(char ***)member = g_steal_pointer(&command);
    return TRUE;
}

static gboolean
is_socket_path(const char *path)
{
    return g_path_is_absolute(path) && strlen(path) <= SOCKET_LIMIT;
}

gboolean
setting_socket(const SettingPlace *place, const char *text, gpointer member, GError **error)
{
    if (!is_socket_path(text))
        return fail(error, place, text, "a path that starts with /, of at most 107 bytes");
    return keep(member, text);
}

static gboolean
is_port(const char *text, gsize length)
{
    g_autofree char *port = g_strndup(text, length);

    return g_ascii_string_to_unsigned(port, 10, 1, 65535, NULL, NULL);
}

gboolean
setting_milter_socket(const SettingPlace *place, const char *text, gpointer member,
                      GError **error)
{
    const char *port = strchr(text, ':');
    const char *host = strchr(text, '@');
    gboolean good = FALSE;

    if (g_str_has_prefix(text, "unix:"))
        good = is_socket_path(port + 1);
    else if (g_str_has_prefix(text, "inet:") || g_str_has_prefix(text, "inet6:"))
        good = host != NULL && host[1] != '\0' && is_port(port + 1, (gsize)(host - port - 1));
    if (!good)
        return fail(error, place, text,
                    "unix:/path of at most 107 bytes, inet:port@host or inet6:port@host");
    return keep(member, text);
}

gboolean
setting_next_hop(const SettingPlace *place, const char *text, gpointer member, GError **error)
{
    const char *host = text + strlen("inet:");
    const char *port = strrchr(text, ':');
    gboolean good = FALSE;

    if (g_str_has_prefix(text, "unix:"))
        good = is_socket_path(text + strlen("unix:"));
    else if (g_str_has_prefix(text, "inet:"))
        good = port > host && is_port(port + 1, strlen(port + 1));
    if (!good)
        return fail(error, place, text, "unix:/path of at most 107 bytes or inet:host:port");
    return keep(member, text);
}

/* The entries of a comma-separated text. A quote would let an entry hold a comma in the
 * admin's eyes and not in ours (XB29). */
static char **
split(const SettingPlace *place, const char *text, GError **error)
{
    g_auto(GStrv) entries = g_strsplit(text, ",", -1);

    if (strpbrk(text, "\"'") != NULL) {
        fail(error, place, text, "entries with commas between them and no quotes");
        return NULL;
    }
    for (char **entry = entries; *entry != NULL; entry++)
        if (*g_strstrip(*entry) == '\0') {
            fail(error, place, text, "no empty entry between the commas");
            return NULL;
        }
    return g_steal_pointer(&entries);
}

typedef char *(*Normalise)(const char *written);

/* Reads entries in their normal form, each once. */
static gboolean
read_entries(const SettingPlace *place, const char *text, char ***member, Normalise normalise,
             const char *expected, GError **error)
{
    g_auto(GStrv) written = split(place, text, error);

    if (written == NULL)
        return FALSE;
    g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (char **entry = written; *entry != NULL; entry++) {
        char *normal = normalise(*entry);
        if (normal == NULL)
            return fail(error, place, *entry, expected);
        g_strv_builder_add(builder, normal);
        if (!g_hash_table_add(seen, normal))
            return fail(error, place, *entry, ONCE);
    }
    *member = g_strv_builder_end(builder);
    return TRUE;
}

static char *
normal_address(const char *written)
{
    return address_normalise(written, NULL);
}

gboolean
setting_addresses(const SettingPlace *place, const char *text, gpointer member, GError **error)
{
    return read_entries(place, text, member, normal_address, "an address", error);
}

/* Where a notice is sent, without the extension that other addresses need (RFC 6531). */
static char *
mail_address(const char *written)
{
    g_autofree char *normal = g_str_is_ascii(written) ? normal_address(written) : NULL;

    return normal != NULL ? g_strdup(written) : NULL;
}

gboolean
setting_mail_address(const SettingPlace *place, const char *text, gpointer member,
                     GError **error)
{
    g_autofree char *address = *text != '\0' ? mail_address(text) : g_strdup("");

    if (address == NULL)
        return fail(error, place, text, "an address of ASCII characters");
    return keep(member, address);
}

gboolean
setting_mail_addresses(const SettingPlace *place, const char *text, gpointer member,
                       GError **error)
{
    return read_entries(place, text, member, mail_address, "an address of ASCII characters",
                        error);
}

/* Whole names only: no pattern, no suffix (XB29). */
static char *
normal_domain(const char *written)
{
    return *written == '.' || strpbrk(written, "*@ \t") != NULL
               ? NULL
               : address_domain_normalise(written);
}

gboolean
setting_domains(const SettingPlace *place, const char *text, gpointer member, GError **error)
{
    return read_entries(place, text, member, normal_domain,
                        "the exact name of a domain, without * or a leading dot", error);
}

char *
setting_fold_login(const char *login)
{
    return g_utf8_validate(login, -1, NULL) ? g_utf8_casefold(login, -1)
                                            : g_ascii_strdown(login, -1);
}

static char *
normal_login(const char *written)
{
    return strpbrk(written, " \t") != NULL ? NULL : setting_fold_login(written);
}

gboolean
setting_logins(const SettingPlace *place, const char *text, gpointer member, GError **error)
{
    return read_entries(place, text, member, normal_login, "a login without spaces", error);
}

static char *
normal_network(const char *written)
{
    return network_is_valid(written) ? g_strdup(written) : NULL;
}

gboolean
setting_networks(const SettingPlace *place, const char *text, gpointer member, GError **error)
{
    return read_entries(place, text, member, normal_network,
                        "an address or a network such as 192.0.2.0/24 or 2001:db8::/32",
                        error);
}

static char *
normal_alias_file(const char *written)
{
    return g_str_has_prefix(written, "virtual:/") || g_str_has_prefix(written, "aliases:/")
               ? g_strdup(written)
               : NULL;
}

gboolean
setting_alias_files(const SettingPlace *place, const char *text, gpointer member,
                    GError **error)
{
    return read_entries(place, text, member, normal_alias_file,
                        "virtual:/path or aliases:/path", error);
}

gboolean
setting_people(const SettingPlace *place, const char *text, gpointer member, GError **error)
{
    People *people = member;
    g_auto(GStrv) written = split(place, text, error);

    if (written == NULL)
        return FALSE;
    for (char **entry = written; *entry != NULL; entry++) {
        PeopleFound found;
        if (!people_add(people, *entry, &found, error))
            return FALSE;
        if (found == PEOPLE_UNKNOWN)
            return fail(error, place, *entry, "a user or @group of this machine");
        if (found == PEOPLE_TWICE)
            return fail(error, place, *entry, ONCE);
    }
    return TRUE;
}

gboolean
setting_user(const SettingPlace *place, const char *text, gpointer member, GError **error)
{
    gboolean known;

    if (!people_find_user(text, member, &known, error))
        return FALSE;
    return known || fail(error, place, text, "a user of this machine");
}

gboolean
setting_switch(const SettingPlace *place, const char *text, gpointer member, GError **error)
{
    gboolean on = g_str_equal(text, "yes");

    if (!on && !g_str_equal(text, "no"))
        return fail(error, place, text, "yes or no");
    *(gboolean *)member = on;
    return TRUE;
}

/* A number of at most nine digits, so that no unit makes it overflow, and what follows it. */
static gboolean
parse_amount(const char *text, gint64 *number_out, const char **unit_out)
{
    gsize digits = strspn(text, "0123456789");

    if (digits == 0 || digits > 9)
        return FALSE;
    *number_out = g_ascii_strtoll(text, NULL, 10);
    *unit_out = text + digits;
    return *number_out > 0;
}

gboolean
setting_duration(const SettingPlace *place, const char *text, gpointer member, GError **error)
{
    static const struct {
        const char *unit;
        gint64 seconds;
    } UNITS[] = {{"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};
    gint64 number;
    const char *unit = "";

    for (gsize i = 0; parse_amount(text, &number, &unit) && i < G_N_ELEMENTS(UNITS); i++)
        if (g_str_equal(unit, UNITS[i].unit)) {
            *(gint64 *)member = number * UNITS[i].seconds;
            return TRUE;
        }
    return fail(error, place, text, "a time such as 90s, 15m, 6h or 14d");
}

gboolean
setting_size(const SettingPlace *place, const char *text, gpointer member, GError **error)
{
    static const struct {
        const char *unit;
        guint64 bytes;
    } UNITS[] = {{"", 1}, {"K", 1 << 10}, {"M", 1 << 20}, {"G", 1 << 30}};
    gint64 number;
    const char *unit = "";

    for (gsize i = 0; parse_amount(text, &number, &unit) && i < G_N_ELEMENTS(UNITS); i++)
        if (g_str_equal(unit, UNITS[i].unit)) {
            *(guint64 *)member = (guint64)number * UNITS[i].bytes;
            return TRUE;
        }
    return fail(error, place, text, "a size in bytes, or such as 100K, 50M or 1G");
}

gboolean
setting_count(const SettingPlace *place, const char *text, gpointer member, GError **error)
{
    guint64 number;

    if (!g_ascii_string_to_unsigned(text, 10, 1, COUNT_LIMIT, &number, NULL))
        return fail(error, place, text, "a number from 1 to 1000000");
    *(guint *)member = (guint)number;
    return TRUE;
}
